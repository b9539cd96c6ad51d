#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/threads.h"
#include "compute/integrators/hermite.h"
#include "compute/integrators/time_step_levels.h"
#include "compute/integrators/update.h"
#include "compute/kernels/shared_facets.h"
#include "compute/sim/engine.h"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;

/// The state that a step changes. A step that is cancelled or fails leaves it unchanged.
struct CpuState {
  Bodies bodies;
  std::vector<Vec4> accelerations;      ///< one entry per body
  std::vector<Vec4> accelerations_low;  ///< one entry per body, or empty under Digits::single
  bool accelerations_current = false;   ///< see StepOps::accelerations_current()
  HermiteBodies hermite;                ///< empty unless the integrator needs jerks
};

/// The parts of the CPU engine that a step works with.
struct CpuStepParts {
  CpuState& state;
  const MassRange& masses;
  BodyLevels& levels;
  const StepPlan& plan;
  const std::atomic<bool>& cancelled;

  /// Returns the arguments of an evaluation of all bodies. `stop`: see ForceArgs::cancelled.
  ForceArgs force_args(const Epilogue& epilogue, const std::atomic<bool>* stop = nullptr) const {
    return {.bodies = state.bodies.positions.data(),
            .bodies_low = compensated() ? state.bodies.positions_low.data() : nullptr,
            .count = state.bodies.count(),
            .masses = masses,
            .law = plan.law,
            .epilogue = epilogue,
            .cancelled = stop};
  }
  /// Returns where the kernel stores the low words of accelerations; null if it stores none.
  Vec4* stored_low() const { return plan.reads_low_words && compensated() ? state.accelerations_low.data() : nullptr; }
  StateArrays arrays() const {
    return {.positions = state.bodies.positions.data(),
            .velocities = state.bodies.velocities.data(),
            .accelerations = state.accelerations.data(),
            .positions_low = compensated() ? state.bodies.positions_low.data() : nullptr,
            .velocities_low = compensated() ? state.bodies.velocities_low.data() : nullptr,
            .accelerations_low = stored_low()};
  }
  bool compensated() const { return state.bodies.digits() == Digits::compensated; }
};

/// The operations of Hermite integrators on the engine's arrays in host memory.
class CpuHermiteOps final : public HermiteOps {
 public:
  /// `timed`: runs an evaluation with the given number of interactions, and measures its time.
  CpuHermiteOps(const CpuStepParts& parts,
                std::function<void(double interactions, const std::function<void()>& evaluation)> timed)
      : parts_{parts}, timed_{std::move(timed)} {}

  int begin(float time_step, bool share_steps) override {
    HermiteBodies& bodies = hermite();
    if (!bodies.started()) bodies.start(parts_.arrays(), parts_.state.bodies.count());
    if (!bodies.pulls_current()) {
      bodies.predict_begin();
      evaluate_targets({});
      if (parts_.cancelled) return 0;
      bodies.take_first_pulls(parts_.plan.criterion(), parts_.plan.law.effective_drag());
    }
    return bodies.begin(time_step, share_steps);
  }
  void predict(const Substep& now) override { hermite().predict(now); }
  void evaluate(const Substep& now) override {
    const std::span<const int> active = hermite().active(now);
    const bool all = active.size() == parts_.state.bodies.positions.size();
    if (!active.empty()) evaluate_targets(all ? Targets{} : Targets{active.data(), static_cast<int>(active.size())});
  }
  /// Corrects the active bodies. After a cancellation, corrects none, and returns level 0, which ends the step.
  int correct(const Substep& now) override {
    return parts_.cancelled ? 0 : hermite().correct(now, parts_.plan.correction());
  }
  void end() override {
    hermite().write(parts_.arrays(), parts_.state.accelerations);
    parts_.state.accelerations_current = false;  // the stored accelerations are those at predicted positions
  }

 private:
  HermiteBodies& hermite() { return parts_.state.hermite; }
  void evaluate_targets(const Targets& targets) {
    const JerkArgs args{.bodies = hermite().predicted(),
                        .count = parts_.state.bodies.count(),
                        .targets = targets,
                        .law = parts_.plan.law,
                        .pulls = hermite().pulls(),
                        .cancelled = &parts_.cancelled};
    timed_(static_cast<double>(args.target_count()) * args.count,
           [&] { parts_.plan.kernel->jerks()->evaluate_jerks(args); });
  }

  const CpuStepParts parts_;
  std::function<void(double interactions, const std::function<void()>& evaluation)> timed_;
};

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// The integrator's operations on arrays in host memory, for one batch. The caller sets subnormals to be flushed.
class CpuStepOps final : public StepOps {
 public:
  /// Cost of the force evaluations of a batch.
  struct ForceWork {
    int evaluations = 0;
    double ms = 0;
    double interactions = 0;
  };

  /// If the batch probes forces, the first evaluation is compared. If it reads accelerations, every evaluation stores
  /// them.
  CpuStepOps(const CpuStepParts& parts, const BatchRequest& batch)
      : parts_{parts},
        targets_{targets_of(batch.probe, parts.state.bodies.count())},
        sample_{static_cast<std::size_t>(sample_size(batch.probe, parts.state.bodies.count()))},
        stores_{batch.accelerations},
        hermite_{parts, [this](double interactions, const auto& evaluation) { time(interactions, evaluation); }} {}
  CpuStepOps(const CpuStepOps&) = delete;
  CpuStepOps& operator=(const CpuStepOps&) = delete;

  void force(bool store, double kick_dt) override {
    const bool compares = this->compares();
    const bool kicks_in_double = kick_dt != 0 && parts_.compensated();
    store |= compares || stores_ || kicks_in_double;
    const bool kernel_kicks = kick_dt != 0 && !kicks_in_double;
    evaluate(parts_.force_args({.accelerations = store ? parts_.state.accelerations.data() : nullptr,
                                .velocities = kernel_kicks ? parts_.state.bodies.velocities.data() : nullptr,
                                .kick_dt = static_cast<float>(kick_dt),
                                .drag = parts_.plan.law.effective_drag(),
                                .accelerations_low = parts_.stored_low()},
                               &parts_.cancelled));
    if (kicks_in_double) update(kick_dt, 0);
    if (store) parts_.state.accelerations_current = true;
    if (compares) compare();
  }
  void kick_drift(double kick_dt, double drift_dt) override {
    update(kick_dt, drift_dt);
    parts_.state.accelerations_current = false;
  }
  bool accelerations_current() const override { return parts_.state.accelerations_current; }
  int assign_levels(float time_step) override {
    return parts_.levels.assign(parts_.plan.criterion(), time_step, parts_.state.accelerations);
  }
  void force_levels(const Substep& now) override {
    if (now.lowest_active() == 0) return force(/*store=*/true, 0);
    ForceArgs args = parts_.force_args(
        {.accelerations = parts_.state.accelerations.data(), .accelerations_low = parts_.stored_low()},
        &parts_.cancelled);
    const std::span<const int> active = parts_.levels.active(now);
    if (parts_.plan.takes_targets) args.targets = {active.data(), static_cast<int>(active.size())};
    evaluate(args);
  }
  void kick_drift_levels(const Substep& now) override {
    if (parts_.cancelled) return;
    const int body = parts_.levels.kick_drift(now, parts_.arrays(), parts_.plan.law.effective_drag());
    if (not_finite < 0) not_finite = body;
    if (now.number < now.last()) parts_.state.accelerations_current = false;
  }
  /// A comparison needs a separate evaluation, since the integrator evaluates at predicted positions.
  HermiteOps& hermite() override {
    if (compares()) force(/*store=*/true, 0);
    return hermite_;
  }

  std::int64_t step = 0;  ///< number of the current step
  ForceWork work;
  std::optional<ForceProbe> probe;
  int not_finite = -1;  ///< first non-finite body that a pass found; -1: none

 private:
  bool compares() const { return !targets_.empty() && !probe; }
  void update(double kick_dt, double drift_dt) {
    if (parts_.cancelled) return;
    const int body = orrery::kick_drift(parts_.arrays(), parts_.state.bodies.count(), kick_dt,
                                        parts_.plan.law.effective_drag(), drift_dt);
    if (not_finite < 0) not_finite = body;
  }

  void evaluate(ForceArgs args) {
    std::uint64_t by_tree = 0;
    args.evaluated = &by_tree;
    const bool is_tree = parts_.plan.kernel->tree() != nullptr;
    time(is_tree ? 0 : interactions_of(args), [&] { parts_.plan.kernel->evaluate(args); });
    work.interactions += static_cast<double>(by_tree);
  }
  void time(double interactions, const std::function<void()>& evaluation) {
    const auto begin = Clock::now();
    evaluation();
    work.ms += ms_since(begin);
    work.interactions += interactions;
    ++work.evaluations;
  }

  void compare() {
    const auto begin = Clock::now();
    const WithSubnormals for_sums_in_double{Subnormals::kept};
    const Bodies& all = parts_.state.bodies;
    const std::vector<Vec3d> reference =
        reference_accelerations(all.positions, targets_, parts_.plan.law, &parts_.cancelled, all.positions_low);
    const std::vector<Vec4> accelerations = entries(parts_.state.accelerations, targets_);
    BodyErrors bodies{targets_, target_errors(accelerations, reference), accelerations};
    probe = ForceProbe{.step = step,
                       .sample = static_cast<int>(sample_),
                       .error = target_error(std::span{accelerations}.first(sample_),
                                             std::span{targets_}.first(sample_), std::span{reference}.first(sample_)),
                       .ms = ms_since(begin),
                       .bodies = std::make_shared<const BodyErrors>(std::move(bodies))};
  }

  const CpuStepParts parts_;
  std::vector<int> targets_;
  std::size_t sample_;  // the first `sample_` targets are the sample
  bool stores_;
  CpuHermiteOps hermite_;
};

/// Access to the bodies of a CPU engine while the ranks of its kernel hold them and run its steps. The engine then has
/// no bodies of its own until fetch().
class CpuSpread {
 public:
  /// Returns whether the kernel's ranks can run the batch without the engine's own bodies.
  static bool suits(const StepPlan& plan, const BatchRequest& batch, const CpuState& state) {
    const IntegratorInfo& integrator = *plan.integrator;
    const bool steps_alone = batch.steps > 0 && batch.probe.sample == 0 && !batch.accelerations;
    return steps_alone && !integrator.block_steps && !integrator.needs_jerks &&
           state.bodies.digits() == Digits::single && spread_of(*plan.kernel) != nullptr;
  }

  /// Returns whether only the ranks have the current bodies.
  bool is_away() const { return away_; }
  /// Returns the number of bodies. Call after step().
  int count() const { return count_; }
  /// Runs one whole step on the ranks. Scatters the bodies first, unless the ranks hold them. Throws as SpreadFacet.
  SpreadResult step(const StepPlan& plan, const MassRange& masses, CpuState& state,
                    const std::atomic<bool>& cancelled) {
    if (!holder_) {
      spread_of(*plan.kernel)->spread(state.bodies, masses);
      holder_ = spread_of(*plan.kernel);
      count_ = state.bodies.count();
    }
    state = {};
    away_ = true;
    return holder_->step(
        {.integrator_id = plan.integrator->id, .time_step = plan.time_step, .law = plan.law, .cancelled = cancelled});
  }
  /// Copies the bodies to the engine. The ranks continue to hold them.
  void fetch(CpuState& state) {
    if (!away_) return;
    CpuState fresh;
    fresh.bodies = holder_->gather();
    fresh.accelerations.resize(fresh.bodies.positions.size());
    std::swap(state, fresh);
    away_ = false;
  }
  /// Returns the bodies, wherever they are. Valid until they change.
  std::unique_ptr<BodySource> source(const CpuState& state) const {
    if (away_) return holder_->source();
    return std::make_unique<HeldBodies>(state.bodies);
  }
  /// Ends the ranks' hold on the bodies; those that only they have are lost. Call before the engine's own bodies, the
  /// kernel or the law change.
  void forget() {
    holder_ = nullptr;
    away_ = false;
  }

 private:
  SpreadFacet* holder_ = nullptr;  // facet of the plan's kernel; null: the ranks do not hold these bodies
  bool away_ = false;
  int count_ = 0;
};

/// Flushes subnormals in forces and updates, as on a GPU, while the returned object exists. Without it, distant bodies
/// would slow down steps a hundredfold. The fp64 sums for comparisons do not flush.
WithSubnormals as_on_a_gpu() {
  return WithSubnormals{Subnormals::flushed};
}

/// The engine for bodies in host memory. One worker thread runs the batches, as a stream does for the CUDA engine. The
/// caller's thread accesses the bodies only while no batch is in flight.
class CpuEngine final : public Engine {
 public:
  CpuEngine() : worker_{start_thread([this](std::stop_token stop) { work(stop); })} {}
  ~CpuEngine() override {
    cancelled_ = true;
    worker_.request_stop();
  }

  void upload(const Bodies& bodies, const StepPlan& plan) override {
    CpuState fresh;
    fresh.bodies = bodies;
    fresh.accelerations.resize(bodies.positions.size());
    fresh.accelerations_low.resize(bodies.positions_low.size());
    std::swap(state_, fresh);  // from here on nothing can fail
    spread_.forget();
    masses_ = mass_range(state_.bodies.positions);
    set_plan(plan);
    plan_.kernel->bodies_replaced();
  }
  Bodies download() override {
    spread_.fetch(state_);
    return state_.bodies;
  }
  std::unique_ptr<BodySource> bodies_in_place() override { return spread_.source(state_); }
  void copy_drawn(std::span<Vec4> positions, std::span<Vec4> velocities) override {
    spread_.fetch(state_);
    std::copy_n(state_.bodies.positions.begin(), positions.size(), positions.begin());
    std::copy_n(state_.bodies.velocities.begin(), velocities.size(), velocities.begin());
  }
  HermiteState hermite_state() override { return state_.hermite.state(); }
  void go_on(const HermiteState& state) override {
    HermiteBodies fresh;
    fresh.go_on(state);
    std::swap(state_.hermite, fresh);
  }
  std::vector<Vec4> accelerations(std::span<const int> targets) override {
    spread_.fetch(state_);
    constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
    std::vector<Vec4> result(state_.bodies.positions.size(), Vec4{unknown, unknown, unknown, unknown});
    const WithSubnormals flushing = as_on_a_gpu();
    ForceArgs args = parts().force_args({.accelerations = result.data()});
    if (!targets.empty()) args.targets = {.indices = targets.data(), .count = static_cast<int>(targets.size())};
    plan_.kernel->evaluate(args);
    return result;
  }

  void set_plan(const StepPlan& plan) override {
    if (plan.kernel != plan_.kernel || plan.law != plan_.law) {
      spread_.fetch(state_);
      spread_.forget();
      state_.accelerations_current = false;
      state_.hermite.forget_pulls();
    }
    if (!plan.integrator->needs_jerks) state_.hermite = {};
    plan_ = plan;
  }

  bool ready() const override {
    const std::lock_guard lock{mutex_};
    return !asked_;
  }
  void advance(const BatchRequest& request) override {
    const std::lock_guard lock{mutex_};
    asked_ = request;
    changed_.notify_all();
  }
  std::vector<BatchResult> collect() override {
    const std::lock_guard lock{mutex_};
    if (finished_.empty() && failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return std::exchange(finished_, {});
  }
  void wait(const std::stop_token& stop) override {
    std::unique_lock lock{mutex_};
    if (changed_.wait(lock, stop, [this] { return !asked_; })) return;
    lock.unlock();
    cancel_and_wait();
  }
  void cancel_and_wait() override {
    cancelled_ = true;
    wait({});
    cancelled_ = false;
  }

  void keep(const StepTime& now) override {
    {
      const std::lock_guard lock{mutex_};
      keep_asked_ = asked_.has_value();
      if (keep_asked_) return;
    }
    keep_bodies(now);
  }
  std::optional<StepTime> checkpoint() override {
    const std::lock_guard lock{mutex_};
    return checkpoint_at_;
  }
  Bodies checkpoint_bodies() override { return checkpoint_; }
  void forget_checkpoint() override {
    const std::lock_guard lock{mutex_};
    checkpoint_at_.reset();
    checkpoint_ = {};
    keep_asked_ = false;
  }

 private:
  CpuStepParts parts() {
    return {.state = state_, .masses = masses_, .levels = levels_, .plan = plan_, .cancelled = cancelled_};
  }

  void work(std::stop_token stop) {
    std::unique_lock lock{mutex_};
    while (changed_.wait(lock, stop, [this] { return asked_.has_value(); })) {
      const BatchRequest batch = *asked_;
      lock.unlock();
      std::exception_ptr failure;
      const BatchResult result = run(batch, failure);
      lock.lock();
      while (std::exchange(keep_asked_, false)) {
        lock.unlock();
        keep_bodies(batch.begin.after(result.timing.steps, plan_.time_step));
        lock.lock();
      }
      if (failure) failure_ = failure;
      finished_.push_back(result);
      asked_.reset();
      changed_.notify_all();
    }
  }

  BatchResult run(const BatchRequest& batch, std::exception_ptr& failure) {
    BatchResult result;
    int steps = 0;
    double all_steps_ms = 0;
    CpuStepOps::ForceWork work;  // evaluations of whole steps
    try {
      const bool spreads = CpuSpread::suits(plan_, batch, state_);
      if (!spreads) spread_.fetch(state_);
      if (!spreads && batch.steps > 0) spread_.forget();
      CpuStepOps ops{parts(), batch};
      int body = spread_.is_away() ? -1 : first_not_finite(state_.bodies.positions, state_.bodies.velocities);
      while (body < 0 && steps < batch.steps) {
        ops.step = batch.begin.step + steps + 1;
        const std::optional<double> step_ms = spreads ? spread_step(ops) : whole_step(ops);
        if (!step_ms) break;
        ++steps;
        all_steps_ms += *step_ms;
        work = ops.work;
        if (TreeFacet* const tree = plan_.kernel->tree()) result.tree = tree->report();
        result.force_probe = ops.probe;
        if (plan_.integrator->block_steps)
          result.levels = state_.hermite.started() ? state_.hermite.counts() : levels_.counts();
        body = ops.not_finite;
        if (body < 0 && !spreads) body = first_not_finite(state_.bodies.positions, state_.bodies.velocities);
      }
      if (body < 0 && batch.steps == 0) result.force_probe = evaluate_alone(ops, batch);
      if (body >= 0) result.non_finite = NonFinite{.step = batch.begin.step + steps, .body = body};
      if (body >= 0 || batch.measure_conserved || batch.domains) spread_.fetch(state_);
      if (batch.tree_cells.most > 0 && steps == batch.steps) result.tree_cells = tree_cells(batch);
      if (batch.accelerations && body < 0 && steps == batch.steps) result.accelerations = magnitudes(batch);
      if (batch.domains && body < 0 && steps == batch.steps) result.domains = domains(batch);
      if (batch.measure_conserved && body < 0 && steps == batch.steps) result.conserved = measure(batch);
    } catch (...) {
      failure = std::current_exception();
    }
    const double evaluation_ms = work.evaluations > 0 ? work.ms / work.evaluations : 0;
    const double interactions = work.evaluations > 0 ? work.interactions / work.evaluations : 0;
    result.timing = batch_timing(batch.tag, steps, work.evaluations, all_steps_ms, evaluation_ms, interactions);
    return result;
  }

  /// Runs a batch without steps: evaluates the forces if a measurement needs them, and returns the comparison.
  std::optional<ForceProbe> evaluate_alone(CpuStepOps& ops, const BatchRequest& batch) {
    const bool needs_forces = batch.probe.sample > 0 || (batch.accelerations && !state_.accelerations_current) ||
                              (batch.domains && !domains(batch));
    if (!needs_forces) return std::nullopt;
    ops.step = batch.begin.step;
    const WithSubnormals flushing = as_on_a_gpu();
    ops.force(/*store=*/true, 0);
    if (!cancelled_) return ops.probe;
    state_.accelerations_current = false;
    return std::nullopt;
  }

  /// Returns the magnitudes of the accelerations; null if the evaluation was cancelled.
  std::shared_ptr<const Accelerations> magnitudes(const BatchRequest& batch) const {
    if (batch.steps == 0 && !state_.accelerations_current) return nullptr;
    Accelerations result{.step = batch.begin.step + batch.steps, .magnitudes = {}};
    result.magnitudes.reserve(state_.accelerations.size());
    for (const Vec4& a : state_.accelerations)
      result.magnitudes.push_back(std::sqrt(a.x * a.x + a.y * a.y + a.z * a.z));
    return std::make_shared<const Accelerations>(std::move(result));
  }

  std::shared_ptr<const Domains> domains(const BatchRequest& batch) const {
    return domains_of(*plan_.kernel, batch.begin.step + batch.steps, state_.bodies.count());
  }

  std::shared_ptr<const TreeCells> tree_cells(const BatchRequest& batch) const {
    plan_.kernel->tree()->pick_cells(batch.tree_cells, nullptr);
    return tree_cells_of(*plan_.kernel->tree(), batch.begin.step + batch.steps, batch.tree_cells);
  }

  std::optional<ConservedProbe> measure(const BatchRequest& batch) const {
    const auto begin = Clock::now();
    const StepTime now = batch.begin.after(batch.steps, plan_.time_step);
    const ConservedProbe probe{
        .step = now.step, .sim_time = now.sim_time, .sums = conserved_by_all(), .ms = ms_since(begin)};
    if (cancelled_) return std::nullopt;
    return probe;
  }

  /// Computes the conserved sums, on the ranks of the kernel if it has any.
  Conserved conserved_by_all() const {
    PotentialFacet* const ranks = potentials_of(*plan_.kernel);
    if (!ranks) return conserved(state_.bodies, plan_.law, &cancelled_);
    return conserved_with(state_.bodies, ranks->potentials(state_.bodies, plan_.law, &cancelled_));
  }

  /// Stores a checkpoint, unless a body is not finite. Call while nothing changes the bodies.
  void keep_bodies(const StepTime& now) {
    try {
      spread_.fetch(state_);
      if (first_not_finite(state_.bodies.positions, state_.bodies.velocities) >= 0) return;
      Bodies copy = state_.bodies;
      const std::lock_guard lock{mutex_};
      std::swap(checkpoint_, copy);
      checkpoint_at_ = now;
    } catch (const std::exception&) {  // no memory, or a rank is lost: the earlier checkpoint stays
    }
  }

  /// Runs one step on the ranks of the kernel. Returns as whole_step(), and throws as SpreadFacet::step().
  std::optional<double> spread_step(CpuStepOps& ops) {
    const WithSubnormals flushing = as_on_a_gpu();
    const auto begin = Clock::now();
    state_before_ = {};
    const SpreadResult stepped = spread_.step(plan_, masses_, state_, cancelled_);
    if (!stepped.complete) return std::nullopt;
    ops.not_finite = stepped.not_finite;
    ops.work.evaluations += stepped.evaluations;
    ops.work.ms += stepped.force_ms;
    ops.work.interactions +=
        plan_.kernel->tree() ? stepped.by_tree : stepped.evaluations * ForceKernel::interactions(spread_.count());
    return ms_since(begin);
  }

  /// Runs one step and returns its time in ms, without the time of a comparison. Returns nothing if the step is
  /// cancelled. Then, and if the step throws, the state stays as it was.
  std::optional<double> whole_step(CpuStepOps& ops) {
    const auto begin = Clock::now();
    state_before_ = state_;
    const auto undo = [&] { std::swap(state_, state_before_); };
    const bool probed_before = ops.probe.has_value();
    const WithSubnormals flushing = as_on_a_gpu();
    try {
      plan_.integrator->step(ops, plan_.time_step);
    } catch (...) {
      undo();
      throw;
    }
    const double ms = ms_since(begin);
    if (!cancelled_) return ops.probe && !probed_before ? ms - ops.probe->ms : ms;
    undo();
    return std::nullopt;
  }

  CpuState state_, state_before_;
  CpuSpread spread_;  // knows whether the bodies are in state_
  MassRange masses_;
  BodyLevels levels_;
  StepPlan plan_;
  std::atomic<bool> cancelled_ = false;

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable_any changed_;
  std::optional<BatchRequest> asked_;
  std::vector<BatchResult> finished_;
  std::exception_ptr failure_;
  bool keep_asked_ = false;  // store a checkpoint when the current batch has ended
  Bodies checkpoint_;
  std::optional<StepTime> checkpoint_at_;
  std::jthread worker_;  // last: the thread uses the members above
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine() {
  return std::make_unique<CpuEngine>();
}

}  // namespace orrery
