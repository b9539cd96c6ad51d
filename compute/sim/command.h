#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compute/core/force_law.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/kernel_card.h"
#include "compute/kernels/tree_facet.h"
#include "compute/scenes/scene.h"
#include "compute/sim/engine/results.h"

namespace orrery {

/// What SelectKernel takes in place of a kernel's id: of those that are as accurate as SetAccuracy asks for, the
/// fastest one here for the present law and bodies (how many, and whether their masses are equal), with the settings
/// that make it so. It is chosen anew whenever these change or another scene is loaded; SetTunable and another
/// SelectKernel end that.
inline constexpr const char* auto_kernel = "auto";
/// The accuracy of a fresh simulation, see SetAccuracy.
inline constexpr double default_accuracy = 5e-4;

/// With the settings this kernel had last when it was named, except for the values given here. `auto_kernel` takes
/// none.
struct SelectKernel {
  std::string id;
  Settings::Values settings = {};
};
struct SetTunable {
  std::string name, value;
};
/// What `auto_kernel` is to keep to, now and whenever it is selected.
struct SetAccuracy {
  double median_error;  ///< of |da|/|a| against fp64: > 0 and < 1; 0: full fp32 accuracy, so direct sums alone
};
struct SelectIntegrator {
  std::string id;
};
struct SelectLaw {
  std::string id;
};
struct SetTimeStep {
  float time_step;  ///< finite, > 0
};
struct SetSoftening {
  float softening;  ///< as Law allows
};
struct SetRepulsion {
  float repulsion;  ///< as Law allows
};
struct SetDrag {
  float drag;  ///< as Law allows
};
struct SetStepsPerFrame {
  int steps;  ///< 1 to 1000
};
struct SetPaused {
  bool paused;
};
/// Pauses, then runs one step.
struct StepOnce {};
/// Back to the first state of the present scene, under the present physics.
struct Restart {};
/// Back to the first state of the present scene, under the scene's own physics: Status::scene_physics. Kernel, settings
/// and steps per frame stay.
struct Reset {};
/// With the scene's own dt and softening.
struct LoadScene {
  SceneRequest request;
};

/// How bodies move.
struct Physics {
  std::string integrator_id;
  Law law;
  float time_step = 0;  ///< finite, > 0
  friend bool operator==(const Physics&, const Physics&) = default;
};
/// Everything that decides what a run computes, and how.
struct RunSetup {
  SceneRequest scene;  ///< as Status::scene: with its count, also of a file
  Physics physics;
  std::string kernel_id;
  Settings::Values settings;  ///< what is not named has the kernel's initial value
};
/// Takes all of `run` over at once, or none of it. Bodies of another scene start from their first state; those of the
/// present scene go on from where they are.
struct ReturnToRun {
  RunSetup run;
};
/// Undoes the last ReturnToRun: scene, physics, kernel, settings, step and bodies are again what they were before it.
/// The bodies start from their first state if memory did not hold a copy, or if one was not finite.
struct UndoReturn {};

/// With the next batch of steps, holds the kernel's accelerations of fixed sample bodies against an fp64 direct sum at
/// the same positions: Status::force_probe.
struct ProbeForces {
  int sample;  ///< bodies, 1 to 4096; all of them where there are fewer
};
/// After the next batch of steps, sums up energy, momentum and angular momentum in fp64: Status::conserved.
struct MeasureConserved {};
/// After the next batch of steps of a tree kernel, reads the cells of its last tree: Status::tree_cells. While paused,
/// those of the last step are read, unless kernel, law or bodies are others since.
struct ReadTreeCells {
  int most = max_tree_cells;  ///< the larger ones first, at most so many; 1 to max_tree_cells

  static constexpr int max_tree_cells = 1 << 20;
};
/// Keeps a copy of the present state, in the memory of its backend, for RestoreGoodState. Ignored where it is not
/// finite, and where memory does not suffice: Status::good_step then stays what it was.
struct KeepGoodState {};
/// Back to the state that was kept last. Restart, Reset and another scene forget it.
struct RestoreGoodState {};

/// Everything a user, a key, a script or a test can ask of a simulation. Simulation::apply is the only writer.
using Command =
    std::variant<SelectKernel, SetTunable, SetAccuracy, SelectIntegrator, SelectLaw, SetTimeStep, SetSoftening,
                 SetRepulsion, SetDrag, SetStepsPerFrame, SetPaused, StepOnce, Restart, Reset, LoadScene, ReturnToRun,
                 UndoReturn, ProbeForces, MeasureConserved, ReadTreeCells, KeepGoodState, RestoreGoodState>;

/// That the present kernel and its settings were chosen by the program, and why.
struct AutoChoice {
  std::string name;  ///< "auto: cuda-tiled bodies-per-thread=4"
  std::string how;   ///< where it comes from and what was measured, a few lines
};

/// Everything that panels, recorder and tests may look at: a plain value, copied once a frame.
struct Status {
  std::string kernel_id;
  KernelPtr kernel;  ///< the descriptor that runs, of that id
  Backend backend = Backend::cpu;
  Settings settings;
  std::string chosen;                     ///< what `auto` settings chose, such as "split 8"
  std::optional<AutoChoice> auto_choice;  ///< none: somebody asked for this very kernel
  bool choosing = false;                  ///< another kernel stands in, and no steps run: see Choosing::beside
  double accuracy = default_accuracy;     ///< see SetAccuracy
  std::string integrator_id;
  Law law;
  float time_step = 0;
  int steps_per_frame = 1;
  bool paused = false;
  bool busy = false;   ///< a batch is under way (a CPU kernel's may take many frames)
  SceneRequest scene;  ///< as asked for, with count and seed filled in
  std::string scene_name;
  Physics scene_physics;  ///< the scene's own, see Reset
  int count = 0;
  std::int64_t step = 0;  ///< whole steps since the scene's first state; on the GPU also those that are enqueued
  double sim_time = 0;    ///< in units of G = 1
  double interactions_per_step = 0;             ///< of a tree as in the latest batch; 0: not known yet
  StepTiming timing;                            ///< the latest known
  std::optional<KernelCard> card;               ///< of the present kernel; none on the CPU
  std::optional<TreeReport> tree;               ///< the latest of the present kernel, if it is a tree
  std::shared_ptr<const TreeCells> tree_cells;  ///< the latest that were read, by the present kernel; may be null
  std::optional<ForceProbe> force_probe;        ///< the latest of the present kernel, settings, law and scene
  std::optional<ConservedProbe> conserved;      ///< the latest since the present scene's first state
  std::optional<Fault> fault;  ///< why the run stopped; until Restart, Reset, RestoreGoodState or another scene
  std::optional<std::int64_t> good_step;  ///< the step whose state RestoreGoodState brings back; none: nothing kept
  std::optional<std::int64_t> undo_step;  ///< the step that UndoReturn brings back; none: there is nothing to undo
  std::string last_error;                 ///< the latest refusal or failure, one line; empty when all is well
};

}  // namespace orrery
