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

/// One run of KernelChooser::choose() on a separate thread.
class ChoiceInFlight {
 public:
  /// `chooser` must outlive this object.
  ChoiceInFlight(KernelChooser& chooser, const KernelDemand& demand, Bodies bodies, const Law& law)
      : chooser_{chooser}, demand_{demand}, bodies_{std::move(bodies)}, law_{law} {}
  ChoiceInFlight(const ChoiceInFlight&) = delete;
  ChoiceInFlight& operator=(const ChoiceInFlight&) = delete;

  /// Starts the thread. Does nothing if called again or after cancel(). If the thread cannot start, result() throws.
  void start() {
    if (std::exchange(started_, true)) return;
    thread_ = start_promised(promise_, [this](const std::stop_token& stop) {
      return chooser_.choose(demand_, {bodies_, law_}, stop);
    });
  }
  bool ended() const { return is_ready(result_); }
  /// Requests a stop, without waiting. If the thread runs, it ends soon afterwards. If start() was not called, it
  /// does nothing from now on.
  void cancel() {
    thread_.request_stop();
    if (!std::exchange(started_, true)) promise_.set_exception(std::make_exception_ptr(Cancelled{}));
  }
  /// Returns the chosen kernel; none if cancelled. Rethrows what the chooser threw. Call once ended() returns true.
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
  std::jthread thread_;  // last: the thread uses the members above
};

/// A kernel that is made, with its settings, on a separate thread.
class KernelInPreparation {
 public:
  /// The kernel is for `count` bodies. `backends` must outlive this object.
  KernelInPreparation(const Backends& backends, KernelPtr kernel, Settings settings, int count)
      : backends_{backends}, kernel_{std::move(kernel)}, settings_{std::move(settings)}, count_{count} {}
  KernelInPreparation(const KernelInPreparation&) = delete;
  KernelInPreparation& operator=(const KernelInPreparation&) = delete;

  const KernelPtr& kernel() const { return kernel_; }
  const Settings& settings() const { return settings_; }

  /// Starts the thread. Does nothing if called again. If the thread cannot start, result() throws.
  void start() {
    if (std::exchange(started_, true)) return;
    thread_ = start_promised(promise_, [this](const std::stop_token& /*stop*/) { return make(); });
  }
  bool ended() const { return is_ready(made_); }
  /// Discards the result. ended() becomes true immediately if nothing was started, otherwise when the kernel is made.
  void abandon() {
    abandoned_ = true;
    if (!std::exchange(started_, true)) promise_.set_value(nullptr);
  }
  /// Returns the kernel; null if abandoned. Rethrows what making it threw. Call once, when ended() returns true.
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
  std::jthread thread_;  // last: the thread uses the members above
};

/// Kinds of measurements that an engine has in flight.
struct Measuring {
  bool forces = false, conserved = false, cells = false, accelerations = false;
};

/// A simulation's requested measurements, their latest results, and the reason why the run stopped.
class DiagnosticsState {
 public:
  void ask(const ProbeForces& command) { probe_wanted_ = command; }
  void ask(const ReadAccelerations&) { accelerations_wanted_ = true; }
  void ask(const ReadDomains&) { domains_wanted_ = true; }
  void ask(const MeasureConserved&) { conserved_wanted_ = true; }
  void ask(const ReadTreeCells& command) { cells_wanted_ = {command.most, command.level, command.walk_of}; }
  /// Adds the requested measurements to a batch, except kinds that an engine still has in flight.
  void add_to(BatchRequest& request, const Measuring& in_flight);
  /// Returns whether a requested measurement needs no step. Reading cells needs none once a tree has been reported.
  bool wants_no_step() const {
    return probe_wanted_.sample > 0 || accelerations_wanted_ || domains_wanted_ ||
           (cells_wanted_.most > 0 && measured_.tree);
  }

  void take_in(const BatchResult& result);
  /// Records that the non-finite `body` stopped the run. line() then describes it.
  void stop(const NonFinite& body, const std::string& kernel_id);

  /// Discards all results that depend on the kernel or the law. Call after either was replaced.
  void forget_forces();
  /// Discards the tree report. Call when the kernel no longer has that tree.
  void forget_tree() { measured_.tree.reset(); }
  /// Discards the time-step levels. Call after the integrator, the time step or the forces have changed.
  void forget_levels() { measured_.levels.reset(); }
  /// Discards all measurements. Call after the bodies were replaced.
  void restart();
  /// Discards the non-finite body, probes of later steps, and results that belong to the replaced bodies. Call after
  /// the state of `step` was restored.
  void return_to(std::int64_t step);

  const Measured& measured() const { return measured_; }
  const std::optional<NonFinite>& non_finite() const { return measured_.non_finite; }
  /// Returns why the run stopped, one line; empty if it did not.
  const std::string& line() const { return line_; }

 private:
  ProbeForces probe_wanted_{};  // sample 0: none
  bool conserved_wanted_ = false, accelerations_wanted_ = false, domains_wanted_ = false;
  CellRequest cells_wanted_;
  Measured measured_;
  std::string line_;
};

/// Whether apply() waits until `auto_kernel` has chosen, and until a kernel that is compiled at run time
/// (KernelInfo::compiles) is ready.
enum class Choosing {
  at_once,  ///< apply() waits
  /// apply() returns first, and a later collect() adopts the kernel. While `auto_kernel` measures, no steps run, but
  /// the window is drawn. While a kernel is compiled, the previous one continues; see Status::preparing.
  beside,
};

/// A kernel that was made while steps ran.
struct PreparedKernel {
  KernelPtr kernel;
  Settings settings;
  std::exception_ptr failure;  ///< error that prevents its use; null: none
};

/// Loss of the device that a run's kernel uses, see Simulation::loss().
struct DeviceLoss {
  std::string cause;       ///< one line
  KernelPtr kernel;        ///< the kernel that ran
  bool automatic = false;  ///< `auto` chose the kernel
  KernelPtr good;          ///< kernel to continue with: `kernel`, or the last one before a kernel file; null: none
  Settings good_settings;  ///< settings of `good`
  bool ran = false;        ///< the run was not paused
  /// The kernel does not end. Every call that uses the device blocks forever, even a destructor. Simulation has
  /// therefore released its engine without destroying it.
  bool hangs = false;
};

/// A system of bodies, and the kernel and integrator that move it. Not thread-safe: one thread owns it. Long steps run
/// on other threads or on a device.
class Simulation {
 public:
  /// Loads the scene with its own dt and softening. Selects leapfrog, gravity and `kernel` (null: the default one).
  /// `storage`: memory for the positions and velocities of CUDA kernels (see DeviceStorage); null: allocated. `chooser`
  /// chooses the kernel for `auto_kernel`, see `choosing`; null: the default kernel. `backends`, `storage` and
  /// `chooser` must outlive this object. Throws as apply().
  Simulation(const Backends& backends, const SceneRequest& request, KernelPtr kernel = nullptr,
             DeviceStorage* storage = nullptr, KernelChooser* chooser = nullptr, Choosing choosing = Choosing::at_once);

  /// Carries out one command immediately. If the command needs the state, cancels a step in flight on the CPU and keeps
  /// the last whole step. Throws UsageError if the command cannot be met, and then changes nothing; std::runtime_error
  /// if a device fails. After a non-finite body (Status::non_finite), the simulation stays paused.
  void apply(const Command& command);

  /// Starts this frame's steps: steps_per_frame; one after StepOnce; none while paused or while a kernel is chosen.
  /// Returns the number of started steps: 0 also while the engine is busy, and after a non-finite body. The batch's
  /// StepTiming gets `tag`. Never throws: handles a failure as collect() does. If a new kernel fails before its first
  /// step has ended, the previous kernel continues.
  int advance_frame(std::int64_t tag);
  /// Runs exactly `steps` steps as one batch, paused or not, and waits for them. For benchmarks, tests and offscreen
  /// runs. Throws std::runtime_error with the text of Status::last_error if a body is not finite.
  StepTiming run(int steps);
  /// Starts one batch of exactly `steps` steps, paused or not, and returns immediately. For sweeps. Call only when
  /// idle(). Throws as run() after a non-finite body.
  void start(int steps, std::int64_t tag);
  /// Returns the batches that ended since the last call, oldest first. A failure or a non-finite body pauses the
  /// simulation and sets Status::last_error. After the loss of a device, a CPU kernel can continue from the latest copy
  /// in host memory: what snapshot() or snapshot_view() returned last, or the run's first state. With Choosing::beside,
  /// also adopts a kernel that is ready.
  std::vector<StepTiming> collect();
  /// Blocks until every requested step has run. If `stop` is requested first, cancels a step in flight on the CPU.
  void wait(const std::stop_token& stop = {});

  /// Returns the status, always in the same object. A call after a command, a start of steps or collect() updates that
  /// object, so references into it see new values.
  const Status& status() const;
  /// Returns whether no batch is in flight, as of the last collect(). copy_drawn() requires this.
  bool idle() const { return in_flight_.empty(); }
  /// Returns whether kernels are being measured (see Choosing::beside), so that no steps run. This includes a choice
  /// that a command has cancelled but that has not ended yet.
  bool measuring() const { return choice_.in_flight || !cancelled_.empty(); }
  /// Returns the kernel of Status::preparing after it was adopted or has failed. Returns each such kernel once.
  std::optional<PreparedKernel> take_prepared() { return std::exchange(prepared_, std::nullopt); }
  /// Returns the exact current state. Cancels a step in flight, as apply() does.
  Bodies bodies();
  /// Returns what a Hermite integrator stores besides bodies(); empty if it would restart from bodies().
  HermiteState hermite_state();
  /// Returns bodies() with the current time and softening, and with the properties from the scene's file.
  Snapshot snapshot();
  /// Returns the same snapshot as a view for writing. Copies the bodies only if they are in device memory. Valid until
  /// the next call that changes the state.
  SnapshotView snapshot_view();
  /// Returns the parts of the scene; set_bodies() does not change them.
  const Parts& parts() const { return scene_->parts; }
  /// Returns what was assumed about the bodies of the scene's file, one line each.
  const std::vector<std::string>& scene_notes() const { return scene_->notes; }
  /// See Scene::smallest_orbit.
  double smallest_orbit() const { return scene_->smallest_orbit; }
  /// Replaces the bodies and keeps everything else. The step restarts at 0, the time at `time`. The properties from the
  /// scene's file stay if the number of bodies does. For tests and measurements.
  void set_bodies(const Bodies& bodies, double time = 0);
  /// Continues `run` from `state`, the state after `step` steps. `hermite`: the matching state of a Hermite integrator.
  /// If it throws, nothing changes. Restart then returns to the first state of the scene, or to `state` if the scene's
  /// file has changed. Throws as apply(), and std::runtime_error if a generated scene has another number of bodies.
  void resume(const RunSetup& run, const Snapshot& state, std::int64_t step, const HermiteState& hermite = {});
  /// Copies the drawn arrays, see Engine::copy_drawn(). Call only when idle().
  void copy_drawn(std::span<Vec4> positions, std::span<Vec4> velocities);
  /// Returns accelerations by the current kernel at the current positions, one per body. If there are `targets`, only
  /// their entries are valid. Throws UsageError for targets if the kernel takes none.
  std::vector<Vec4> accelerations(std::span<const int> targets = {});

  /// Returns the loss of the current kernel's device, see collect(); none while the device works.
  const std::optional<DeviceLoss>& loss() const { return loss_; }

  /// Detects hanging kernels from now on, among those that are compiled at run time (KernelInfo::compiles). A kernel
  /// hangs if no batch in flight ends within `least` and within 20 times its expected time. collect() and every
  /// function that waits then report the loss of the device. For a window.
  void watch_steps(std::chrono::milliseconds least) { least_limit_ = least; }
  /// Checks for a hang, see watch_steps(), and returns whether the kernel hangs. Call while the owner waits elsewhere.
  bool look_for_hang();
  /// Takes over the `loss` of another simulation, which shares the device and whose kernel hangs.
  void share_loss(const DeviceLoss& loss);

  /// Sets Status::last_error; an empty text clears it. The next command that succeeds clears it, too.
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
    std::optional<AutoChoice> automatic{};        // what `auto` chose; none: the kernel is not automatic
    std::shared_ptr<ChoiceInFlight> in_flight{};  // measurement for `automatic`; until it ends, `kernel` is temporary
    double accuracy = default_accuracy;
    bool is_default = false;  // the kernel is the default, which depends on the integrator

    void name_kernel() {  // records that the user chose the current kernel
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
    std::optional<Bodies> bodies{};  // none: the scene's first state
    StepTime at;                     // step and time of the bodies
  };
  struct HostCopy {  // latest copy in host memory; survives the loss of a device
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

  /// Applies `change` to a copy of the current choice, and adopts the copy.
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
  std::vector<std::shared_ptr<ChoiceInFlight>> cancelled_;  // those that have not ended yet
  std::shared_ptr<ForceKernel> kernel_;
  std::shared_ptr<KernelInPreparation> preparing_;             // null: none
  std::vector<std::shared_ptr<KernelInPreparation>> dropped_;  // those that have not ended yet
  std::optional<PreparedKernel> prepared_;
  std::vector<std::future<void>> retiring_;  // destructions on other threads; the destructor waits for them
  std::optional<KernelCard> card_;           // card of kernel_ under the current law and count
  std::map<std::string, Settings::Values, std::less<>> remembered_settings_;  // by kernel id
  std::shared_ptr<const Scene> scene_;  // first state of the scene, for Restart and Reset
  SceneRequest request_;
  int count_ = 0;
  MassRange masses_;
  float mean_mass_ = 0;
  int steps_per_frame_ = 1;
  bool paused_ = false;
  bool step_once_ = false;
  StepTime done_;  // step and time after the last whole step
  std::deque<InFlight> in_flight_;
  std::optional<std::chrono::milliseconds> least_limit_;  // see watch_steps()
  std::chrono::steady_clock::time_point progress_;        // when a batch last ended, or the first in flight started
  std::vector<StepTiming> collected_;
  StepTiming timing_;
  DiagnosticsState diagnostics_;
  std::optional<Departure> departure_;
  std::optional<HostCopy> host_copy_;  // none: the scene's first state is the latest copy
  std::optional<Proven> proven_;
  std::optional<Proven> proven_before_;  // the last proven kernel other than `proven_`
  std::optional<DeviceLoss> loss_;
  bool is_proven_ = false;  // the current kernel is `proven_`
  bool failed_ = false;     // the current kernel failed before it was proven
  std::string last_error_;
  mutable Status status_;                           // as of the last status()
  mutable bool setup_changed_ = true;               // the setup has changed since the last status()
  mutable bool progress_changed_ = true;            // the progress may have changed since the last status()
  std::array<std::unique_ptr<Engine>, 2> engines_;  // by Backend; null until needed; last, so that steps end first
};

}  // namespace orrery
