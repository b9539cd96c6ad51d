#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/law.h"
#include "compute/core/text.h"
#include "compute/integrators/time_step_levels.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/kernel_card.h"
#include "compute/kernels/tree_facet.h"
#include "compute/scenes/scene.h"
#include "compute/sim/command_row.h"
#include "compute/sim/results.h"
#include "compute/snapshots/columns.h"

namespace orrery {

template <>
struct EnumWords<LawId> {
  static std::vector<std::pair<LawId, std::string_view>> all();
};

template <>
struct EnumWords<Digits> {
  static constexpr std::array<std::pair<Digits, std::string_view>, 2> all() {
    return {{{Digits::single, "float"}, {Digits::compensated, "compensated"}}};
  }
};

/// Names of the columns of a text table; "-" skips a column.
template <>
struct EnumWords<BodyColumn> {
  static std::array<std::pair<BodyColumn, std::string_view>, column_count + 1> all() {
    std::array<std::pair<BodyColumn, std::string_view>, column_count + 1> words;
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = {static_cast<BodyColumn>(i), column_name(static_cast<BodyColumn>(i))};
    }
    return words;
  }
};

/// The physics of a run: how bodies move.
struct Physics {
  std::string integrator_id;
  Law law;
  float time_step = 0;                   ///< see SetTimeStep
  float eta = StepCriterion::usual_eta;  ///< see SetEta
  Digits digits = Digits::single;        ///< see SetDigits
  friend bool operator==(const Physics&, const Physics&) = default;
};

/// Everything that determines a run: scene, physics, kernel and settings.
struct RunSetup {
  SceneRequest scene;  ///< as in Status::scene: with the count filled in, even for a file
  Physics physics;
  std::string kernel_id;
  int kernel_revision = 0;    ///< see KernelInfo::revision; 0: the kernel that currently has the id
  Settings::Values settings;  ///< settings that are not listed have their initial values
};

/// These throw UsageError that lists the known ids if `id` is not one of them.
void check_integrator(const std::string& id);
void check_law(const std::string& id);

struct SelectIntegrator {
  std::string id;
};

struct SelectLaw {
  std::string id;
};

/// `slider`, here and below: the values that a slider spans. Users can type all other values of `range`.
struct SetTimeStep {
  float time_step;

  static constexpr Range<float> range{0, std::numeric_limits<float>::infinity(), "in units of time", true};
  static constexpr Range<float> slider{1e-5f, 0.1f};
};

/// Sets eta, the accuracy of block time steps. With leapfrog-blocks and in colours by time-step class, a step is at
/// most sqrt(2 eta L / |a|), see StepCriterion. With hermite4-blocks, eta enters Aarseth's criterion from each body's
/// next step on.
struct SetEta {
  float eta;

  static constexpr Range<float> range{0, 1, "", /*open=*/true};
  static constexpr Range<float> slider{1e-5f, 0.1f};
};

/// Sets whether positions and velocities have low words. The bodies keep their state; `single` drops the low words.
struct SetDigits {
  Digits digits;
};

struct SetSoftening {
  float softening;

  static constexpr Range<float> range{Law::least_gravity_softening, Law::max_softening, "in units of length"};
  static constexpr Range<float> slider{1e-4f, 1};
};

struct SetRepulsion {
  float repulsion;

  static constexpr Range<float> range{0, Law::max_repulsion, "in units of length squared"};
  static constexpr Range<float> slider{0, 1};
};

struct SetDrag {
  float drag;

  static constexpr Range<float> range{0, Law::max_drag, "in units of mass per time"};
  static constexpr Range<float> slider{0, 0.01f};
};

/// The id that selects the fastest kernel and settings on this machine that meet SetAccuracy. The choice is repeated if
/// the law, the number of bodies, the equality of their masses, the scene or the accuracy changes. SetTunable or
/// another SelectKernel ends the automatic choice.
inline constexpr const char* auto_kernel = "auto";

/// The accuracy of a new simulation, see SetAccuracy.
inline constexpr double default_accuracy = 5e-4;

/// Selects a kernel. Settings that are not given keep their last values. `auto_kernel` takes no settings.
struct SelectKernel {
  std::string id;
  Settings::Values settings = {};
};

struct SetTunable {
  std::string name, value;
};

/// Sets the accuracy that `auto_kernel` must meet, now and in later selections.
struct SetAccuracy {
  double median_error;  ///< largest allowed median of |da|/|a| against fp64; 0: full fp32 accuracy by direct summation

  static constexpr Range<double> range{0, 1, "", true};
};

/// Throws UsageError that lists the known ids if `id` is not one of them. Accepts an empty id.
void check_scene(const std::string& id);

struct SetStepsPerFrame {
  int steps;

  static constexpr Range<int> range{1, 1000};
};

struct SetPaused {
  bool paused = true;
};

/// Pauses, then runs one step.
struct StepOnce {};

/// Returns to the first state of the current scene. The physics stay.
struct Restart {};

/// Returns to the first state of the current scene and to its own physics, Status::scene_physics. Kernel, settings and
/// steps per frame stay.
struct Reset {};

/// Loads a scene with its own dt and softening.
struct LoadScene {
  SceneRequest request;

  static constexpr Range<std::uint64_t> seeds{0, std::numeric_limits<std::uint64_t>::max()};
  static constexpr Range<std::int64_t> states{0, std::numeric_limits<std::int32_t>::max()};
  static constexpr Range<double> hubbles = hubble_range;
};

/// Restores `run`. If that fails, changes nothing. Another scene starts from its first state; the bodies of the current
/// scene keep their state.
struct ReturnToRun {
  RunSetup run;
};

/// Undoes the last ReturnToRun: restores scene, physics, kernel, settings, step and bodies. If a body was not finite or
/// memory was short for a copy, the bodies start from the scene's first state.
struct UndoReturn {};

/// Compares the kernel's accelerations of sample bodies with an fp64 direct sum at the same positions, in the next
/// batch of steps. While paused, uses the current positions. Result: Status::force_probe.
struct ProbeForces {
  int sample;    ///< number of bodies; all bodies if there are fewer
  int turn = 0;  ///< index of the sample; samples of consecutive turns have different bodies, until all were sampled
  int body = ComparedBodies::nobody;  ///< one more body to compare; ForceProbe::error does not include it

  static constexpr Range<int> range{1, 4096, "bodies"}, turns{0, 1 << 30}, bodies{0, std::numeric_limits<int>::max()};
};

/// Reads the magnitude of each body's acceleration, in the next batch of steps. While paused, uses the current
/// positions. Result: Status::accelerations.
struct ReadAccelerations {};

/// Reads which rank or device evaluates each body, after the next batch of steps. While paused, reads it for the last
/// evaluation, or makes one. Result: Status::domains.
struct ReadDomains {};

/// Sums energy, momentum and angular momentum in fp64, after the next batch of steps. Result: Status::conserved.
struct MeasureConserved {};

/// Reads the cells of a tree kernel's last tree, after the next batch of steps. While paused, reads the tree of the
/// last step, unless kernel, law or bodies have changed since. Result: Status::tree_cells.
struct ReadTreeCells {
  int most = range.most;                 ///< maximum number of cells; larger cells come first
  int level = CellRequest::every_level;  ///< reads only the cells of this level
  int walk_of = CellRequest::nobody;     ///< also reads the tree walk of this body, if the kernel can report it

  static constexpr Range<int> range{1, 1 << 20, "cells"}, levels{0, 31};
  static constexpr Range<int> bodies{0, std::numeric_limits<int>::max()};
};

/// Keeps a copy of the current state, in the memory of its backend, for RestoreCheckpoint. Does nothing if the state is
/// not finite or memory is short: Status::checkpoint_step then stays the same.
struct KeepCheckpoint {};

/// Returns to the latest checkpoint. Restart, Reset and another scene delete it.
struct RestoreCheckpoint {};

/// Every command of the simulation, in the order of simulation_commands.
struct SimulationCommands {
  using Variant = std::variant<SelectKernel, SetTunable, SetAccuracy, SelectIntegrator, SelectLaw, SetTimeStep, SetEta,
                               SetDigits, SetSoftening, SetRepulsion, SetDrag, SetStepsPerFrame, SetPaused, StepOnce,
                               Restart, Reset, LoadScene, ReturnToRun, UndoReturn, ProbeForces, ReadAccelerations,
                               ReadDomains, MeasureConserved, ReadTreeCells, KeepCheckpoint, RestoreCheckpoint>;
};

extern template struct OneOf<SimulationCommands>;

using Command = OneOf<SimulationCommands>;

/// The choice of `auto`, and the reason.
struct AutoChoice {
  std::string name;  ///< "auto: cuda-tiled bodies-per-thread=4"
  std::string how;   ///< the measurements and their date; a few lines
};

/// The kernel that replaces the current one once it is compiled.
struct KernelInSight {
  KernelPtr kernel;
  Settings settings;
};

/// Everything that panels, recorder and tests can read about a simulation, as a plain value. See Simulation::status().
/// Measurements are the latest with the current kernel, settings, law and scene. Restart, Reset, RestoreCheckpoint or
/// another scene clears `non_finite`.
struct Status : Measured {
  std::string kernel_id;
  KernelPtr kernel;  ///< descriptor of the running kernel
  Backend backend = Backend::cpu;
  Settings settings;
  std::string chosen;                        ///< values of automatic settings, such as "split 8"
  std::optional<AutoChoice> auto_choice;     ///< empty if the user chose the kernel
  std::optional<KernelInSight> preparing{};  ///< kernel that is compiled while steps run, see Choosing::beside
  bool choosing = false;                     ///< a kernel is being chosen, and no steps run: see Choosing::beside
  double accuracy = default_accuracy;        ///< see SetAccuracy
  std::string integrator_id;
  bool block_steps = false;  ///< see IntegratorInfo
  Law law;
  float time_step = 0;
  float eta = StepCriterion::usual_eta;
  Digits digits = Digits::single;  ///< see SetDigits
  int steps_per_frame = 1;
  bool paused = false;
  bool busy = false;   ///< a batch is in flight (a CPU kernel's may take many frames)
  SceneRequest scene;  ///< as requested, with count and seed filled in
  std::string scene_name;
  std::optional<Units> units;  ///< units of the bodies, if the scene's file has them
  Physics scene_physics;       ///< physics of the scene itself, see Reset
  int count = 0;
  float mean_mass = 0;
  std::int64_t step = 0;             ///< whole steps since the scene's first state; includes steps enqueued on the GPU
  double sim_time = 0;               ///< in units of G = 1; starts at the time of the scene's file, or at 0
  double interactions_per_step = 0;  ///< for a tree or block steps, the mean of the latest batch; 0: not yet known
  StepTiming timing;                 ///< timing of the latest batch that is known
  std::optional<KernelCard> card;    ///< card of the current kernel; none on the CPU
  std::optional<std::int64_t> checkpoint_step;  ///< the step of the latest checkpoint; empty if there is none
  std::optional<std::int64_t> undo_step;  ///< the step that UndoReturn restores; empty if there is nothing to undo
  std::string last_error;                 ///< the latest refusal or failure, one line; empty when all is well
};

}  // namespace orrery
