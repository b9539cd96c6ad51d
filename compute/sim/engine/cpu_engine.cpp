#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "compute/core/subnormals.h"
#include "compute/core/threads.h"
#include "compute/kernels/shared_facets.h"
#include "compute/sim/engine/cpu_spread.h"
#include "compute/sim/engine/cpu_step_ops.h"
#include "compute/sim/engine/engine.h"

namespace orrery {
namespace {

/// Forces and updates flush subnormals, as they do on a GPU: far bodies would make steps a hundred times as long. The
/// sums in double precision that they are held against do not.
WithSubnormals as_on_a_gpu() {
  return WithSubnormals{Subnormals::flushed};
}

/// Bodies in host memory. One worker thread is to this engine what a stream is to the CUDA one: the caller's thread
/// touches the bodies only while no batch is in flight.
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
    CpuStepOps::ForceWork work;  // of whole steps
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

  /// For a batch without steps: evaluates the forces if a measurement needs them, and returns the comparison.
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

  /// Null if the evaluation was cancelled.
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

  /// Also by the ranks of the kernel, if it has some.
  Conserved conserved_by_all() const {
    PotentialFacet* const ranks = potentials_of(*plan_.kernel);
    if (!ranks) return conserved(state_.bodies, plan_.law, &cancelled_);
    return conserved_with(state_.bodies, ranks->potentials(state_.bodies, plan_.law, &cancelled_));
  }

  /// While nothing changes the bodies.
  void keep_bodies(const StepTime& now) {
    try {
      spread_.fetch(state_);
      if (first_not_finite(state_.bodies.positions, state_.bodies.velocities) >= 0) return;
      Bodies copy = state_.bodies;
      const std::lock_guard lock{mutex_};
      std::swap(checkpoint_, copy);
      checkpoint_at_ = now;
    } catch (const std::exception&) {  // no memory, or a rank is lost: what was kept before stays
    }
  }

  /// As whole_step(), by the ranks of the kernel.
  std::optional<double> spread_step(CpuStepOps& ops) {
    const WithSubnormals flushing = as_on_a_gpu();
    const auto begin = Clock::now();
    state_before_ = {};
    const SpreadStepped stepped = spread_.step(plan_, masses_, state_, cancelled_);
    if (!stepped.complete) return std::nullopt;
    ops.not_finite = stepped.not_finite;
    ops.work.evaluations += stepped.evaluations;
    ops.work.ms += stepped.force_ms;
    ops.work.interactions +=
        plan_.kernel->tree() ? stepped.by_tree : stepped.evaluations * ForceKernel::interactions(spread_.count());
    return ms_since(begin);
  }

  /// Runs one step and returns its time in ms, without a probe's; or leaves everything as it was: nothing is returned
  /// when the step was cancelled, and a step that failed throws.
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
  CpuSpread spread_;  // says whether the bodies are in state_
  MassRange masses_;
  BodyLevels levels_;
  StepPlan plan_;
  std::atomic<bool> cancelled_ = false;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  std::optional<BatchRequest> asked_;
  std::vector<BatchResult> finished_;
  std::exception_ptr failure_;
  bool keep_asked_ = false;  // keep the bodies when what is asked for has ended
  Bodies checkpoint_;
  std::optional<StepTime> checkpoint_at_;
  std::jthread worker_;  // last: it uses all of the above
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine() {
  return std::make_unique<CpuEngine>();
}

}  // namespace orrery
