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

/// The columns of a text table by their names; "-" skips one.
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

/// Everything that decides what a run computes, and how.
struct RunSetup {
  SceneRequest scene;  ///< equals Status::scene: the count is filled in, also for a file
  Physics physics;
  std::string kernel_id;
  int kernel_revision = 0;    ///< see KernelInfo::revision; 0: the kernel that has the id now
  Settings::Values settings;  ///< a setting that is not named has its initial value
};

/// Throw UsageError that lists the known ids.
void check_integrator(const std::string& id);
void check_law(const std::string& id);

struct SelectIntegrator {
  std::string id;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SelectIntegrator>("integrator", "Selects an integrator.",
                                         Argument<&SelectIntegrator::id>{{.name = "id", .check = check_integrator}});
  }
};

struct SelectLaw {
  std::string id;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SelectLaw>("law", "Selects the force between two bodies.",
                                  Argument<&SelectLaw::id>{{.name = "id", .check = check_law}});
  }
};

/// `slider` is what a slider spans, here and below; other values of `range` are typed.
struct SetTimeStep {
  float time_step;

  static constexpr Range<float> range{0, std::numeric_limits<float>::infinity(), "in units of time", true};
  static constexpr Range<float> slider{1e-5f, 0.1f};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetTimeStep>("dt", "Sets the time step.",
                                    Argument<&SetTimeStep::time_step>{{.name = "value", .range = SetTimeStep::range}});
  }
};

/// With leapfrog-blocks, and in colours by time-step class, a body's step is at most sqrt(2 eta L / |a|), see
/// StepCriterion. With hermite4-blocks, it is that of Aarseth's criterion, from the end of the body's present step on.
struct SetEta {
  float eta;

  static constexpr Range<float> range{0, 1, "", /*open=*/true};
  static constexpr Range<float> slider{1e-5f, 0.1f};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetEta>("eta", "Sets the accuracy of block time steps.",
                               Argument<&SetEta::eta>{{.name = "value", .range = SetEta::range}});
  }
};

/// The digits of the bodies' positions and velocities. The bodies keep their state; `single` drops its low words.
struct SetDigits {
  Digits digits;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetDigits>("digits",
                                  "Sets whether positions and velocities are floats, or floats with low words, so "
                                  "that steps lose no digits.",
                                  Argument<&SetDigits::digits>{{.name = "digits"}});
  }
};

struct SetSoftening {
  float softening;

  static constexpr Range<float> range{Law::least_gravity_softening, Law::max_softening, "in units of length"};
  static constexpr Range<float> slider{1e-4f, 1};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetSoftening>(
        "softening", "Sets the softening length.",
        Argument<&SetSoftening::softening>{{.name = "value", .range = SetSoftening::range}});
  }
};

struct SetRepulsion {
  float repulsion;

  static constexpr Range<float> range{0, Law::max_repulsion, "in units of length squared"};
  static constexpr Range<float> slider{0, 1};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetRepulsion>(
        "repulsion", "Sets H of the law attract-repel.",
        Argument<&SetRepulsion::repulsion>{{.name = "value", .range = SetRepulsion::range}});
  }
};

struct SetDrag {
  float drag;

  static constexpr Range<float> range{0, Law::max_drag, "in units of mass per time"};
  static constexpr Range<float> slider{0, 0.01f};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetDrag>("drag", "Sets D of the law attract-repel.",
                                Argument<&SetDrag::drag>{{.name = "value", .range = SetDrag::range}});
  }
};

/// The id with which SelectKernel selects the fastest kernel and settings on this machine that meet SetAccuracy. Chosen
/// again if the law, the number of bodies, the equality of their masses, the scene or the accuracy changes. SetTunable
/// or another SelectKernel ends this.
inline constexpr const char* auto_kernel = "auto";

/// The accuracy of a fresh simulation, see SetAccuracy.
inline constexpr double default_accuracy = 5e-4;

/// A setting that is not given keeps the kernel's last value. `auto_kernel` takes no settings.
struct SelectKernel {
  std::string id;
  Settings::Values settings = {};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SelectKernel>(
        "kernel",
        "Selects a kernel, or version 2 of a kernel file with ID@2; auto selects the fastest that is accurate enough.",
        Argument<&SelectKernel::id>{{.name = "id"}},
        Argument<&SelectKernel::settings>{{.name = "settings", .optional = true}});
  }
};

struct SetTunable {
  std::string name, value;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetTunable>("set", "Changes a setting of the kernel.",
                                   Argument<&SetTunable::name>{{.name = "name"}},
                                   Argument<&SetTunable::value>{{.name = "value"}});
  }
};

/// The accuracy that `auto_kernel` must meet, now and whenever it is selected.
struct SetAccuracy {
  double
      median_error;  ///< the largest allowed median of |da|/|a| against fp64; 0: full fp32 accuracy, direct sums alone

  static constexpr Range<double> range{0, 1, "", true};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetAccuracy>(
        "accuracy", "Sets the median force error that auto allows; the p99 may be 5 times this. exact: full fp32.",
        Argument<&SetAccuracy::median_error>{{.name = "value", .range = SetAccuracy::range, .word = "exact"}});
  }
};

/// Throws UsageError that lists the known ids.
void check_scene(const std::string& id);

struct SetStepsPerFrame {
  int steps;

  static constexpr Range<int> range{1, 1000};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetStepsPerFrame>(
        "steps-per-frame", "Sets the number of steps per frame.",
        Argument<&SetStepsPerFrame::steps>{{.name = "steps", .range = SetStepsPerFrame::range}});
  }
};

struct SetPaused {
  bool paused = true;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetPaused>("pause", "Pauses the run; off: continues it.",
                                  Argument<&SetPaused::paused>{{.name = "paused", .optional = true}})
        .also("resume", "pause off");
  }
};

/// Pauses, then runs one step.
struct StepOnce {
  template <class = void>
  static constexpr auto describe() {
    return command_row<StepOnce>("step", "Pauses, then runs one step.");
  }
};

/// Returns to the first state of the present scene. The physics stay.
struct Restart {
  template <class = void>
  static constexpr auto describe() {
    return command_row<Restart>("restart", "Returns to the scene's first state.");
  }
};

/// Returns to the first state of the present scene and to its own physics, Status::scene_physics. Kernel, settings and
/// steps per frame stay.
struct Reset {
  template <class = void>
  static constexpr auto describe() {
    return command_row<Reset>("reset", "Returns to the scene's first state and its own physics.");
  }
};

/// Takes over the scene's own dt and softening.
struct LoadScene {
  SceneRequest request;

  static constexpr Range<std::uint64_t> seeds{0, std::numeric_limits<std::uint64_t>::max()};
  static constexpr Range<std::int64_t> states{0, std::numeric_limits<std::int32_t>::max()};
  static constexpr Range<double> hubbles = hubble_range;

  template <class = void>
  static constexpr auto describe() {
    return command_row<LoadScene>(
        "scene", "Loads a scene or a file of bodies, with its own dt and softening.",
        Argument<&LoadScene::request, &SceneRequest::scene>{{.name = "name", .optional = true, .check = check_scene}},
        Argument<&LoadScene::request, &SceneRequest::file>{{.name = "file", .optional = true, .form = Form::file}},
        Argument<&LoadScene::request, &SceneRequest::count>{
            {.name = "n", .optional = true, .range = body_counts, .form = Form::count}},
        Argument<&LoadScene::request, &SceneRequest::seed>{
            {.name = "seed", .optional = true, .range = LoadScene::seeds}},
        Argument<&LoadScene::request, &SceneRequest::hints, &SnapshotHints::units>{{.name = "units", .optional = true}},
        Argument<&LoadScene::request, &SceneRequest::hints, &SnapshotHints::columns>{
            {.name = "columns", .optional = true}},
        Argument<&LoadScene::request, &SceneRequest::hints, &SnapshotHints::state>{
            {.name = "state", .optional = true, .range = LoadScene::states}},
        Argument<&LoadScene::request, &SceneRequest::hints, &SnapshotHints::cosmological>{
            {.name = "cosmological", .optional = true}},
        Argument<&LoadScene::request, &SceneRequest::hints, &SnapshotHints::hubble>{
            {.name = "hubble", .optional = true, .range = LoadScene::hubbles}});
  }
};

/// Restores all of `run`, or nothing. Bodies of another scene start from their first state; those of the present
/// scene keep their state.
struct ReturnToRun {
  RunSetup run;

  template <class = void>
  static constexpr auto describe() {
    return command_row<ReturnToRun>(
        "return-to", "Returns to the given run: its scene, physics, kernel and settings.",
        Argument<&ReturnToRun::run, &RunSetup::kernel_id>{{.name = "kernel"}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::integrator_id>{
            {.name = "integrator", .check = check_integrator}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::time_step>{
            {.name = "dt", .range = SetTimeStep::range}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::eta>{
            {.name = "eta", .optional = true, .range = SetEta::range}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::digits>{{.name = "digits", .optional = true}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::law, &Law::id>{{.name = "law", .optional = true}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::law, &Law::softening>{
            {.name = "softening", .optional = true, .range = SetSoftening::range}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::law, &Law::repulsion>{
            {.name = "repulsion", .optional = true, .range = SetRepulsion::range}},
        Argument<&ReturnToRun::run, &RunSetup::physics, &Physics::law, &Law::drag>{
            {.name = "drag", .optional = true, .range = SetDrag::range}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::scene>{
            {.name = "scene", .optional = true, .check = check_scene}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::file>{
            {.name = "file", .optional = true, .form = Form::file}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::count>{
            {.name = "n", .optional = true, .range = body_counts, .form = Form::count}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::seed>{
            {.name = "seed", .optional = true, .range = LoadScene::seeds}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::hints, &SnapshotHints::units>{
            {.name = "units", .optional = true}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::hints, &SnapshotHints::columns>{
            {.name = "columns", .optional = true}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::hints, &SnapshotHints::state>{
            {.name = "state", .optional = true, .range = LoadScene::states}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::hints, &SnapshotHints::cosmological>{
            {.name = "cosmological", .optional = true}},
        Argument<&ReturnToRun::run, &RunSetup::scene, &SceneRequest::hints, &SnapshotHints::hubble>{
            {.name = "hubble", .optional = true, .range = LoadScene::hubbles}},
        Argument<&ReturnToRun::run, &RunSetup::settings>{{.name = "settings", .optional = true}});
  }
};

/// Undoes the last ReturnToRun: restores scene, physics, kernel, settings, step and bodies. The bodies start from their
/// first state if memory did not hold a copy, or if one was not finite.
struct UndoReturn {
  template <class = void>
  static constexpr auto describe() {
    return command_row<UndoReturn>("undo", "Undoes the last return to a run.");
  }
};

/// With the next batch of steps, compares the kernel's accelerations of sample bodies with an fp64 direct sum at the
/// same positions: Status::force_probe. While paused, at the present positions.
struct ProbeForces {
  int sample;    ///< all bodies if there are fewer
  int turn = 0;  ///< which sample: that of another turn has other bodies, until all have had their turn
  int body = ComparedBodies::nobody;  ///< is compared as well; ForceProbe::error is still that of the sample

  static constexpr Range<int> range{1, 4096, "bodies"}, turns{0, 1 << 30}, bodies{0, std::numeric_limits<int>::max()};

  template <class = void>
  static constexpr auto describe() {
    return command_row<ProbeForces>(
        "probe-forces", "Compares the forces of sample bodies with sums in double precision, once.",
        Argument<&ProbeForces::sample>{{.name = "sample", .range = ProbeForces::range}},
        Argument<&ProbeForces::turn>{{.name = "turn", .optional = true, .range = ProbeForces::turns}},
        Argument<&ProbeForces::body>{{.name = "body",
                                      .optional = true,
                                      .range = ProbeForces::bodies,
                                      .word = "none",
                                      .word_number = ComparedBodies::nobody}});
  }
};

/// With the next batch of steps, reads the magnitude of each body's acceleration: Status::accelerations. While paused,
/// at the present positions.
struct ReadAccelerations {
  template <class = void>
  static constexpr auto describe() {
    return command_row<ReadAccelerations>("read-accelerations",
                                          "Reads the magnitude of each body's acceleration, once.");
  }
};

/// After the next batch of steps, reads which rank or device evaluates each body: Status::domains. While paused, as in
/// the last evaluation, or in one for this.
struct ReadDomains {
  template <class = void>
  static constexpr auto describe() {
    return command_row<ReadDomains>("read-domains", "Reads which rank or device evaluates each body, once.");
  }
};

/// After the next batch of steps, sums up energy, momentum and angular momentum in fp64: Status::conserved.
struct MeasureConserved {
  template <class = void>
  static constexpr auto describe() {
    return command_row<MeasureConserved>("measure-conserved", "Measures energy, momentum and angular momentum, once.");
  }
};

/// After the next batch of steps of a tree kernel, reads the cells of its last tree: Status::tree_cells. While paused,
/// reads those of the last step, unless kernel, law or bodies have changed since.
struct ReadTreeCells {
  int most = range.most;                 ///< reads at most this many, the larger ones first
  int level = CellRequest::every_level;  ///< reads the cells of this level alone
  int walk_of = CellRequest::nobody;     ///< also reads what this body meets on its walk, if the kernel can tell

  static constexpr Range<int> range{1, 1 << 20, "cells"}, levels{0, 31};
  static constexpr Range<int> bodies{0, std::numeric_limits<int>::max()};

  template <class = void>
  static constexpr auto describe() {
    return command_row<ReadTreeCells>(
        "read-tree-cells", "Reads the cells of the latest tree, the larger ones first.",
        Argument<&ReadTreeCells::most>{{.name = "most", .optional = true, .range = ReadTreeCells::range}},
        Argument<&ReadTreeCells::level>{{.name = "level",
                                         .optional = true,
                                         .range = ReadTreeCells::levels,
                                         .word = "all",
                                         .word_number = CellRequest::every_level}},
        Argument<&ReadTreeCells::walk_of>{{.name = "walk",
                                           .optional = true,
                                           .range = ReadTreeCells::bodies,
                                           .word = "none",
                                           .word_number = CellRequest::nobody}});
  }
};

/// Keeps a copy of the present state, in the memory of its backend, for RestoreCheckpoint. If the state is
/// not finite or memory cannot hold it, the command is ignored and Status::checkpoint_step does not change.
struct KeepCheckpoint {
  template <class = void>
  static constexpr auto describe() {
    return command_row<KeepCheckpoint>("keep-checkpoint", "Keeps the present state as the checkpoint.");
  }
};

/// Returns to the latest checkpoint. Restart, Reset and another scene delete it.
struct RestoreCheckpoint {
  template <class = void>
  static constexpr auto describe() {
    return command_row<RestoreCheckpoint>("restore-checkpoint", "Returns to the latest checkpoint.");
  }
};

/// Every command of the simulation. What scripts, JSON and help need to know of one, its struct says in describe().
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
  std::string how;   ///< the measurements behind it, and their date; a few lines
};

/// The kernel that takes the place of the present one once it is compiled.
struct KernelInSight {
  KernelPtr kernel;
  Settings settings;
};

/// Everything that panels, recorder and tests may look at: a plain value. See Simulation::status().
struct Status {
  std::string kernel_id;
  KernelPtr kernel;  ///< the descriptor that runs, of that id
  Backend backend = Backend::cpu;
  Settings settings;
  std::string chosen;                        ///< what `auto` settings chose, such as "split 8"
  std::optional<AutoChoice> auto_choice;     ///< empty if the user chose the kernel
  std::optional<KernelInSight> preparing{};  ///< is being compiled, while steps run: see Choosing::beside
  bool choosing = false;                     ///< a kernel is being chosen, and no steps run: see Choosing::beside
  double accuracy = default_accuracy;        ///< see SetAccuracy
  std::string integrator_id;
  bool block_steps = false;  ///< of the integrator: see IntegratorInfo
  Law law;
  float time_step = 0;
  float eta = StepCriterion::usual_eta;
  Digits digits = Digits::single;  ///< of the bodies: see SetDigits
  int steps_per_frame = 1;
  bool paused = false;
  bool busy = false;   ///< a batch is in flight (a CPU kernel's may take many frames)
  SceneRequest scene;  ///< as asked for, with count and seed filled in
  std::string scene_name;
  std::optional<Units> units;  ///< of the bodies, if the scene's file has them
  Physics scene_physics;       ///< the scene's own, see Reset
  int count = 0;
  float mean_mass = 0;
  std::int64_t step = 0;  ///< whole steps since the scene's first state; on the GPU also those that are enqueued
  double sim_time = 0;    ///< in units of G = 1; starts at the time of the scene's file, or at 0
  double interactions_per_step = 0;             ///< of a tree or block steps as in the latest batch; 0: not known yet
  StepTiming timing;                            ///< the latest known
  std::optional<KernelCard> card;               ///< of the present kernel; none on the CPU
  std::optional<LevelCounts> levels;            ///< the bodies at each level in the latest step, if it had block steps
  std::optional<TreeReport> tree;               ///< the latest of the present kernel, if it is a tree
  std::vector<DeviceLoad> device_loads;         ///< of the present kernel, if several devices divide it and it is known
  std::shared_ptr<const TreeCells> tree_cells;  ///< the latest that were read, by the present kernel; may be null
  std::shared_ptr<const Accelerations>
      accelerations;                        ///< the latest that were read, of the present kernel; may be null
  std::shared_ptr<const Domains> domains;   ///< likewise
  std::optional<ForceProbe> force_probe;    ///< the latest of the present kernel, settings, law and scene
  std::optional<ConservedProbe> conserved;  ///< the latest since the present scene's first state
  std::optional<NonFinite>
      non_finite;  ///< why the run stopped; until Restart, Reset, RestoreCheckpoint or another scene
  std::optional<std::int64_t> checkpoint_step;  ///< the step of the latest checkpoint; empty if there is none
  std::optional<std::int64_t> undo_step;  ///< the step that UndoReturn restores; empty if there is nothing to undo
  std::string last_error;                 ///< the latest refusal or failure, one line; empty when all is well
};

}  // namespace orrery
