#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/threads.h"
#include "compute/sim/backends.h"
#include "compute/sim/command.h"
#include "compute/sim/engine.h"
#include "compute/sim/kernel_chooser.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

/// A choice that is made on its own thread.
class ChoiceInFlight {
 public:
  /// `chooser` must outlive this.
  ChoiceInFlight(KernelChooser& chooser, const KernelDemand& demand, Bodies bodies, const Law& law)
      : chooser_{chooser}, demand_{demand}, bodies_{std::move(bodies)}, law_{law} {}
  ChoiceInFlight(const ChoiceInFlight&) = delete;
  ChoiceInFlight& operator=(const ChoiceInFlight&) = delete;

  /// Does nothing the second time, or after cancel(). result() reports a thread that could not start.
  void start() {
    if (std::exchange(started_, true)) return;
    thread_ = start_promised(promise_, [this](const std::stop_token& stop) {
      return chooser_.choose(demand_, {bodies_, law_}, stop);
    });
  }
  bool ended() const { return is_ready(result_); }
  /// Returns at once. The choice ends soon after if it was started, and never starts if it was not.
  void cancel() {
    thread_.request_stop();
    if (!std::exchange(started_, true)) promise_.set_exception(std::make_exception_ptr(Cancelled{}));
  }
  /// Call when it has ended. None if it was cancelled. Throws what the chooser threw.
  std::optional<KernelChoice> result() const {
    try {
      return result_.get();
    } catch (const Cancelled&) {
      return std::nullopt;
    }
  }

 private:
  KernelChooser& chooser_;
  const KernelDemand demand_;
  Bodies bodies_;
  const Law law_;
  bool started_ = false;
  std::promise<KernelChoice> promise_;
  std::shared_future<KernelChoice> result_ = promise_.get_future().share();
  std::jthread thread_;  // last: it uses what is above
};

/// A kernel with its settings, made on a thread of its own.
class KernelInPreparation {
 public:
  /// Makes a kernel for `count` bodies. `backends` must outlive this.
  KernelInPreparation(const Backends& backends, KernelPtr kernel, Settings settings, int count)
      : backends_{backends}, kernel_{std::move(kernel)}, settings_{std::move(settings)}, count_{count} {}
  KernelInPreparation(const KernelInPreparation&) = delete;
  KernelInPreparation& operator=(const KernelInPreparation&) = delete;

  const KernelPtr& kernel() const { return kernel_; }
  const Settings& settings() const { return settings_; }

  /// Does nothing the second time. result() reports a thread that could not start.
  void start() {
    if (std::exchange(started_, true)) return;
    thread_ = start_promised(promise_, [this](const std::stop_token& /*stop*/) { return make(); });
  }
  bool ended() const { return is_ready(made_); }
  /// Nobody wants the result any more. One that is never started has ended; another one ends when the kernel is made.
  void abandon() {
    abandoned_ = true;
    if (!std::exchange(started_, true)) promise_.set_value(nullptr);
  }
  /// Call once, when it has ended. Throws what making the kernel threw.
  std::shared_ptr<ForceKernel> result() { return made_.get(); }

 private:
  std::shared_ptr<ForceKernel> make() const {
    std::shared_ptr<ForceKernel> kernel = backends_.make_kernel(*kernel_, settings_);
    kernel->prepare(count_);
    return abandoned_ ? nullptr : kernel;
  }

  const Backends& backends_;
  const KernelPtr kernel_;
  const Settings settings_;
  const int count_;
  bool started_ = false;
  std::atomic<bool> abandoned_ = false;
  std::promise<std::shared_ptr<ForceKernel>> promise_;
  std::future<std::shared_ptr<ForceKernel>> made_ = promise_.get_future();
  std::jthread thread_;  // last: it uses what is above
};

/// Which measurements an engine has in flight.
struct Measuring {
  bool forces = false, conserved = false, cells = false, accelerations = false;
};

/// Measurements: those that a simulation was asked for, the latest results, and why the run stopped.
class DiagnosticsState {
 public:
  void ask(const ProbeForces& command) { probe_wanted_ = command; }
  void ask(const ReadAccelerations&) { accelerations_wanted_ = true; }
  void ask(const ReadDomains&) { domains_wanted_ = true; }
  void ask(const MeasureConserved&) { conserved_wanted_ = true; }
  void ask(const ReadTreeCells& command) { cells_wanted_ = {command.most, command.level, command.walk_of}; }
  /// Adds the requested measurements to a batch, except those that an engine still has in flight.
  void add_to(BatchRequest& request, const Measuring& in_flight);
  /// Returns whether something is to be measured that needs no step. The last step's tree must be known to be read.
  bool wants_no_step() const {
    return probe_wanted_.sample > 0 || accelerations_wanted_ || domains_wanted_ ||
           (cells_wanted_.most > 0 && measured_.tree);
  }

  void take_in(const BatchResult& result);
  /// Notes that `body` stopped the run: line() describes it.
  void stop(const NonFinite& body, const std::string& kernel_id);

  /// Discards the probed forces and the tree. Call after the kernel or the law was replaced.
  void forget_forces();
  /// Discards the tree of a step that was cancelled.
  void forget_tree() { measured_.tree.reset(); }
  /// Discards the time-step levels. Call after the integrator, the time step or the forces have changed.
  void forget_levels() { measured_.levels.reset(); }
  /// Discards all measurements. Call after the bodies were replaced.
  void restart();
  /// Discards the non-finite body and all measurements after `step`. Call when the bodies are again those after `step`.
  void return_to(std::int64_t step);

  const Measured& measured() const { return measured_; }
  const std::optional<NonFinite>& non_finite() const { return measured_.non_finite; }
  /// Returns why the run stopped, one line; empty if it did not.
  const std::string& line() const { return line_; }

 private:
  ProbeForces probe_wanted_{};  // 0 bodies: none
  bool conserved_wanted_ = false, accelerations_wanted_ = false, domains_wanted_ = false;
  CellRequest cells_wanted_;
  Measured measured_;
  std::string line_;
};

/// The time at which the kernel of `auto_kernel` is known, and a kernel that is compiled first (KernelInfo::compiles)
/// is ready.
enum class Choosing {
  at_once,  ///< when apply() returns, which waits for it
  /// In a later collect(). While kernels are measured for `auto_kernel` no steps run, and the program draws as it will
  /// with the kernel. While one is compiled, the kernel before it continues: see Status::preparing.
  beside,
};

/// A kernel that was made while steps ran.
struct PreparedKernel {
  KernelPtr kernel;
  Settings settings;
  std::exception_ptr failure;  ///< why it does not run; null: it does
};

/// Loss of a run with its device, see Simulation::loss().
struct DeviceLoss {
  std::string cause;       ///< one line
  KernelPtr kernel;        ///< the kernel that ran
  bool automatic = false;  ///< chosen by `auto`
  KernelPtr good;          ///< last kernel that ran: for a kernel file, one before it; null: none
  Settings good_settings;  ///< settings of `good`
  bool ran = false;        ///< it was not paused
  /// The kernel does not end, and what calls the device waits for ever, also destructors: Simulation has left its
  /// engine to itself.
  bool hangs = false;
};

/// One system of bodies and the way it is stepped. Not thread-safe: one thread owns it, and long steps run elsewhere.
class Simulation {
 public:
  /// Loads the scene with its own dt and softening and selects `kernel` (null: the default one) and leapfrog under
  /// gravity. `storage` is where CUDA kernels keep positions and velocities (see DeviceStorage); null: in memory of
  /// their own. `chooser` chooses the kernel for `auto_kernel`, at the time `choosing`; null: the default kernel. All
  /// three must outlive this. Throws as apply().
  Simulation(const Backends& backends, const SceneRequest& request, KernelPtr kernel = nullptr,
             DeviceStorage* storage = nullptr, KernelChooser* chooser = nullptr, Choosing choosing = Choosing::at_once);

  /// Carries out one command at once. If the command needs the state, a step in flight on the CPU is cancelled; the
  /// last whole step is kept. Throws UsageError and changes nothing if the command cannot be met; std::runtime_error if
  /// a device fails. After a non-finite body (Status::non_finite) it stays paused.
  void apply(const Command& command);

  /// Asks for this frame's steps: steps_per_frame, one after StepOnce, none when paused or while a kernel is chosen.
  /// Returns how many were started: 0 also if the engine is still busy with earlier ones, and after a non-finite body.
  /// `tag` comes back in the batch's StepTiming. Never throws: a failure is handled as in collect(), and if a kernel
  /// has not run a step since it was selected, the one before it continues.
  int advance_frame(std::int64_t tag);
  /// Runs exactly `steps` steps, paused or not, and waits for them: one batch. For benchmarks, tests and offscreen
  /// runs. Throws std::runtime_error with the text of Status::last_error where a body is not finite.
  StepTiming run(int steps);
  /// Starts one batch of exactly `steps` steps, paused or not, and returns at once. Call only when idle(). For sweeps.
  /// Throws as run() after a non-finite body.
  void start(int steps, std::int64_t tag);
  /// Batches that ended since the last call, oldest first. A failure or a non-finite body pauses the simulation and
  /// sets Status::last_error. After the loss of a device, the simulation has the latest of the states that were copied
  /// to the host, for a CPU kernel: the one that snapshot() or snapshot_view() returned last, or the run's first state.
  /// Also applies the result of Choosing::beside.
  std::vector<StepTiming> collect();
  /// Blocks until every requested step has run, or until `stop` is requested. Then a step in flight on the CPU is
  /// cancelled.
  void wait(const std::stop_token& stop = {});

  /// Returns always the same object. The first call after a command, a start of steps or collect() brings it up to
  /// date: what was read from it before may change then.
  const Status& status() const;
  /// Returns whether no batch was in flight when collect() was last called, so that copy_drawn() may be.
  bool idle() const { return in_flight_.empty(); }
  /// Returns whether kernels are being measured, see Choosing::beside: no steps run. A choice that a command cancelled
  /// may still do so for a while.
  bool measuring() const { return choice_.in_flight || !cancelled_.empty(); }
  /// Returns the kernel of Status::preparing, once it has taken over or has failed; each is returned once.
  std::optional<PreparedKernel> take_prepared() { return std::exchange(prepared_, std::nullopt); }
  /// Returns the exact current state; cancels what is in flight as apply() does.
  Bodies bodies();
  /// Returns the state of a Hermite integrator besides bodies(); empty if it would start again from these.
  HermiteState hermite_state();
  /// Returns bodies() with the properties from the scene's file, the current time and the current softening.
  Snapshot snapshot();
  /// Returns the same for writing: the bodies stay where they are, unless a device has them. Valid until the next call
  /// that changes the state.
  SnapshotView snapshot_view();
  /// Returns the parts of the scene; set_bodies() does not change them.
  const Parts& parts() const { return scene_->parts; }
  /// Returns what was assumed about the bodies of the scene's file, one line each.
  const std::vector<std::string>& scene_notes() const { return scene_->notes; }
  /// See Scene::smallest_orbit.
  double smallest_orbit() const { return scene_->smallest_orbit; }
  /// Replaces the bodies, keeping everything else; the step restarts at 0, the time at `time`. If their number is the
  /// same, the properties from the scene's file stay. For tests and measurements.
  void set_bodies(const Bodies& bodies, double time = 0);
  /// Continues `run` from `state` after `step` steps, all or nothing, a Hermite integrator from `hermite`. Restart then
  /// goes back to the first state of the run's scene, or to `state` where that scene's file is not what it was. Throws
  /// as apply(), and std::runtime_error if a generated scene has another number of bodies than the state.
  void resume(const RunSetup& run, const Snapshot& state, std::int64_t step, const HermiteState& hermite = {});
  /// Copies what is drawn when idle(); see Engine::copy_drawn.
  void copy_drawn(std::span<Vec4> positions, std::span<Vec4> velocities);
  /// Returns accelerations by the current kernel at the current positions, one per body. `targets`, if there are any,
  /// are evaluated alone, and the others may be anything; throws UsageError if the kernel takes no targets.
  std::vector<Vec4> accelerations(std::span<const int> targets = {});

  /// Set once the device of the current kernel is lost, see collect().
  const std::optional<DeviceLoss>& loss() const { return loss_; }

  /// Watches kernels that compile (KernelInfo::compiles) from now on: if no batch in flight ends within `least`,
  /// nor within 20 times what the steps of one should take, the kernel hangs. That is a loss of its device, which
  /// collect() and everything that waits notice. For a window; a step that is only slow is a matter for others.
  void watch_steps(std::chrono::milliseconds least) { least_limit_ = least; }
  /// Returns whether the kernel hangs, as known or as found now. Call while the owner waits elsewhere.
  bool look_for_hang();
  /// Treats `loss` as its own loss. It happened to another simulation, which shares the device and whose kernel hangs.
  void share_loss(const DeviceLoss& loss);

  /// Sets Status::last_error, or clears it with an empty text. The next command that succeeds clears it, too.
  void report(std::string error) {
    last_error_ = std::move(error);
    progress_changed_ = true;
  }

 private:
  struct Choice {  // input of a StepPlan
    KernelPtr kernel;
    Settings settings;
    const IntegratorInfo* integrator;
    Law law;
    float time_step;
    float eta = StepCriterion::usual_eta;
    Digits digits = Digits::single;
    std::optional<AutoChoice> automatic{};        // choice of `auto` for law, bodies and accuracy
    std::shared_ptr<ChoiceInFlight> in_flight{};  // measures for `automatic`; until it ends, a temporary kernel runs
    double accuracy = default_accuracy;
    bool is_default = false;  // the kernel is the default, which depends on the integrator

    void name_kernel() {  // the user chose the current kernel
      automatic.reset();
      in_flight.reset();
      is_default = false;
    }
    void take(KernelPtr other) {
      kernel = std::move(other);
      settings = Settings{*kernel};
    }
  };
  struct Departure {  // the run that UndoReturn restores
    Choice choice;
    SceneRequest request;
    std::shared_ptr<const Scene> scene;
    std::optional<Bodies> bodies{};  // none: those of the scene's first state
    StepTime at;                     // step and time of the bodies
  };
  struct HostCopy {  // outlives a device
    Bodies bodies;
    StepTime at;
  };
  struct Proven {  // a kernel that has run a step with the current number of bodies
    KernelPtr kernel;
    Settings settings;
    std::optional<AutoChoice> automatic;
  };
  struct InFlight {  // a batch that the engine has not returned yet
    BatchRequest request;
    float time_step;
    StepTime end() const { return request.begin.after(request.steps, time_step); }
  };

  // One handler per command.
  void carry_out(const SelectKernel& c);
  void carry_out(const SetTunable& c);
  void carry_out(const SetAccuracy& c);
  void carry_out(const SelectIntegrator& c);
  void carry_out(const SelectLaw& c);
  void carry_out(const SetTimeStep& c) {
    adopt_with([&](Choice& next) { next.time_step = c.time_step; });
  }
  void carry_out(const SetEta& c) {
    adopt_with([&](Choice& next) { next.eta = c.eta; });
  }
  void carry_out(const SetDigits& c);
  void carry_out(const SetSoftening& c) {
    adopt_with([&](Choice& next) { next.law.softening = c.softening; });
  }
  void carry_out(const SetRepulsion& c) {
    adopt_with([&](Choice& next) { next.law.repulsion = c.repulsion; });
  }
  void carry_out(const SetDrag& c) {
    adopt_with([&](Choice& next) { next.law.drag = c.drag; });
  }
  void carry_out(const SetStepsPerFrame& c) { steps_per_frame_ = c.steps; }
  void carry_out(const SetPaused& c) { paused_ = c.paused || diagnostics_.non_finite(); }
  void carry_out(const StepOnce&);
  void carry_out(const Restart&);
  void carry_out(const Reset&);
  void carry_out(const LoadScene& c) { load(c.request); }
  void carry_out(const ReturnToRun& c);
  void carry_out(const UndoReturn&);
  template <class Measurement>
  requires requires(DiagnosticsState& state, const Measurement& c) { state.ask(c); }
  void carry_out(const Measurement& c) { diagnostics_.ask(c); }
  void carry_out(const KeepCheckpoint&);
  void carry_out(const RestoreCheckpoint&);

  /// Adopts the current choice with a change.
  template <class Change>
  void adopt_with(const Change& change) {
    Choice next = choice_;
    change(next);
    adopt(next);
  }
  void choose_kernel(Choice& choice, const KernelDemand& demand, Bodies bodies);
  void choose_kernel_again(Choice& choice);
  KernelPtr default_kernel(const Choice& choice) const;
  void suit_kernel(Choice& choice);
  void require_jerks(const Choice& choice) const;
  void take_over_choice();
  void replace_choice(const Choice& choice);
  void start_choice();
  KernelDemand demand_of(int count, const Choice& choice, const MassRange& masses) const;
  KernelDemand present_demand(const Choice& choice) const { return demand_of(count_, choice, masses_); }
  void replace_bodies(const Bodies& bodies, double time, Choice choice, bool other_system);
  void install(const Bodies& bodies, double time, const MassRange& masses, const Choice& choice);
  std::shared_ptr<ForceKernel> kernel_of(const Choice& choice, int count) const;
  void adopt(const Choice& choice, std::shared_ptr<ForceKernel> made = nullptr);
  std::pair<KernelPtr, Settings> wanted_kernel() const;
  void change_kernel(const Choice& choice);
  void drop_preparation();
  void start_preparation();
  void take_over_preparation();
  void retire(std::shared_ptr<void> retired);
  void remember_settings();
  Settings remembered_settings(const KernelInfo& kernel) const;
  void load(const SceneRequest& request);
  void begin(SceneRequest request, Scene scene, Choice choice);
  Physics scene_physics() const;
  static void take_physics(Choice& choice, const Physics& physics);
  Choice choice_of(const RunSetup& run) const;
  Departure departure();
  Engine& engine_for(Backend backend);
  Engine& engine() { return engine_for(choice_.kernel->backend); }
  static StepPlan plan_of(const Choice& choice, std::shared_ptr<ForceKernel> kernel, float mean_mass) {
    return {.kernel = std::move(kernel),
            .integrator = choice.integrator,
            .law = choice.law,
            .time_step = choice.time_step,
            .eta = choice.eta,
            .takes_targets = choice.kernel->takes_targets,
            .reads_low_words = choice.kernel->reads_low_words,
            .mean_mass = mean_mass};
  }
  StepPlan plan() const { return plan_of(choice_, kernel_, mean_mass_); }
  void upload(Engine& target, const Bodies& bodies, Digits digits, const StepPlan& plan);
  void forget_checkpoints(Backend used);
  double interactions_per_step() const;
  void describe_setup() const;
  void describe_progress() const;
  Bodies copied_bodies();
  void gather();
  void gather_or_report();
  /// Returns the steps of the batch that advance_frame() has to start, 0 if it only measures; none: no batch.
  std::optional<int> due_steps();
  void report_failure(const std::exception& failure);
  std::string after_loss(const BackendLost& lost, const std::string& cause, bool ran);
  std::string leave_device(bool hangs);
  bool watched() const { return least_limit_ && choice_.kernel->compiles && !in_flight_.empty(); }
  std::chrono::duration<double> step_limit() const;
  void require_progress() const;
  void wait_for_watched_steps();
  DeviceLoss loss_of(const std::string& cause, bool ran) const;
  void return_to_proven_kernel();
  void take_in(const BatchResult& result);
  StepTime after_all() const { return in_flight_.empty() ? done_ : in_flight_.back().end(); }
  Engine* engine_with_checkpoint() const;
  void cancel_and_wait();

  const Backends& backends_;
  DeviceStorage* storage_;
  KernelChooser* chooser_;
  Choosing choosing_;
  Choice choice_;
  std::vector<std::shared_ptr<ChoiceInFlight>> cancelled_;  // have not ended yet
  std::shared_ptr<ForceKernel> kernel_;
  std::shared_ptr<KernelInPreparation> preparing_;             // null: none
  std::vector<std::shared_ptr<KernelInPreparation>> dropped_;  // have not ended yet
  std::optional<PreparedKernel> prepared_;
  std::vector<std::future<void>> retiring_;  // the destructor waits for each
  std::optional<KernelCard> card_;           // card of kernel_ under the current law and count
  std::map<std::string, Settings::Values, std::less<>> remembered_settings_;  // index: kernel id
  std::shared_ptr<const Scene> scene_;  // first state of the scene, for Restart and Reset
  SceneRequest request_;
  int count_ = 0;
  MassRange masses_;
  float mean_mass_ = 0;
  int steps_per_frame_ = 1;
  bool paused_ = false;
  bool step_once_ = false;
  StepTime done_;  // after the whole steps that have ended
  std::deque<InFlight> in_flight_;
  std::optional<std::chrono::milliseconds> least_limit_;  // see watch_steps()
  std::chrono::steady_clock::time_point progress_;        // a batch ended, or the first of those in flight was started
  std::vector<StepTiming> collected_;
  StepTiming timing_;
  DiagnosticsState diagnostics_;
  std::optional<Departure> departure_;
  std::optional<HostCopy> host_copy_;  // none: the scene's first state is the latest
  std::optional<Proven> proven_;
  std::optional<Proven> proven_before_;  // the last one that is another kernel
  std::optional<DeviceLoss> loss_;
  bool is_proven_ = false;  // the current kernel is `proven_`
  bool failed_ = false;     // it failed before it was, while steps were to run
  std::string last_error_;
  mutable Status status_;                           // as of the last status()
  mutable bool setup_changed_ = true;               // since then
  mutable bool progress_changed_ = true;            // since then, perhaps
  std::array<std::unique_ptr<Engine>, 2> engines_;  // by Backend, made when first needed; last, so that steps end first
};

}  // namespace orrery
