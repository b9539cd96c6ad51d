#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "compute/core/start_thread.h"
#include "compute/core/subnormals.h"
#include "compute/integrators/body_levels.h"
#include "compute/integrators/hermite_bodies.h"
#include "compute/integrators/update.h"
#include "compute/sim/engine/cpu_hermite_ops.h"
#include "compute/sim/engine/engine.h"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
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

  void upload(const Bodies& bodies) override {
    Bodies copy = bodies;
    std::vector<Vec4> accelerations(bodies.positions.size()), accelerations_low(bodies.positions_low.size());
    std::swap(bodies_, copy);  // from here on nothing can fail
    std::swap(accelerations_, accelerations);
    std::swap(accelerations_low_, accelerations_low);
    masses_ = mass_range(bodies_.positions);
    accelerations_current_ = false;
    hermite_ = {};  // begins anew
  }
  Bodies download() override { return bodies_; }
  void copy_drawn(std::span<Vec4> positions, std::span<Vec4> velocities) override {
    std::copy_n(bodies_.positions.begin(), positions.size(), positions.begin());
    std::copy_n(bodies_.velocities.begin(), velocities.size(), velocities.begin());
  }
  std::vector<Vec4> accelerations() override {
    std::vector<Vec4> result(bodies_.positions.size());
    flushing_subnormals([&] { plan_.kernel->evaluate(force_args({.accelerations = result.data()}, nullptr)); });
    return result;
  }

  void set_plan(const StepPlan& plan) override {
    if (plan.kernel != plan_.kernel || plan.law != plan_.law) {
      accelerations_current_ = false;
      hermite_.forget_pulls();
    }
    if (!plan.integrator->needs_jerks) hermite_ = {}, hermite_before_ = {};
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
  /// What the force evaluations of a batch took.
  struct ForceWork {
    int evaluations = 0;
    double ms = 0;
    double interactions = 0;
  };

  /// The integrator's operations on this engine's arrays.
  class Ops final : public StepOps {
   public:
    /// The first evaluation is compared if the batch probes forces; all are stored if it reads accelerations.
    Ops(CpuEngine& engine, const BatchRequest& batch)
        : engine_{engine},
          targets_{targets_of(batch.probe, engine.bodies_.count())},
          sample_{static_cast<std::size_t>(sample_size(batch.probe, engine.bodies_.count()))},
          stores_{batch.accelerations},
          hermite_{{.state = engine.hermite_,
                    .bodies = engine.bodies_,
                    .accelerations = engine.accelerations_,
                    .accelerations_current = engine.accelerations_current_,
                    .plan = engine.plan_,
                    .cancelled = engine.cancelled_,
                    .timed = [this](double interactions, const auto& evaluation) { time(interactions, evaluation); }}} {
    }
    void force(bool store, double kick_dt) override {
      const bool compares = this->compares();
      const bool kicks_in_double = kick_dt != 0 && engine_.bodies_.digits() == Digits::compensated;
      store |= compares || stores_ || kicks_in_double;
      const bool kernel_kicks = kick_dt != 0 && !kicks_in_double;
      evaluate(engine_.force_args({.accelerations = store ? engine_.accelerations_.data() : nullptr,
                                   .velocities = kernel_kicks ? engine_.bodies_.velocities.data() : nullptr,
                                   .kick_dt = static_cast<float>(kick_dt),
                                   .drag = engine_.plan_.law.effective_drag(),
                                   .accelerations_low = engine_.stored_low()},
                                  &engine_.cancelled_));
      if (kicks_in_double) update(kick_dt, 0);
      if (store) engine_.accelerations_current_ = true;
      if (compares) compare();
    }
    void kick_drift(double kick_dt, double drift_dt) override {
      update(kick_dt, drift_dt);
      engine_.accelerations_current_ = false;
    }
    bool accelerations_current() const override { return engine_.accelerations_current_; }
    int assign_levels(float time_step) override {
      return engine_.levels_.assign(engine_.plan_.criterion(), time_step, engine_.accelerations_);
    }
    void force_levels(const Substep& now) override {
      if (now.lowest_active() == 0) return force(/*store=*/true, 0);
      ForceArgs args = engine_.force_args(
          {.accelerations = engine_.accelerations_.data(), .accelerations_low = engine_.stored_low()},
          &engine_.cancelled_);
      const std::span<const int> active = engine_.levels_.active(now);
      if (engine_.plan_.takes_targets) args.targets = {active.data(), static_cast<int>(active.size())};
      evaluate(args);
    }
    void kick_drift_levels(const Substep& now) override {
      if (engine_.cancelled_) return;
      const WithSubnormals as_on_a_gpu{Subnormals::flushed};
      const int body = engine_.levels_.kick_drift(now, engine_.arrays(), engine_.plan_.law.effective_drag());
      if (not_finite < 0) not_finite = body;
      if (now.number < now.last()) engine_.accelerations_current_ = false;
    }
    /// A comparison has an evaluation of its own: the integrator's are at predicted positions.
    HermiteOps& hermite() override {
      if (compares()) force(/*store=*/true, 0);
      return hermite_;
    }

    std::int64_t step = 0;  // that is being made
    ForceWork work;
    std::optional<ForceProbe> probe;
    int not_finite = -1;  // the first body that a pass found so

   private:
    bool compares() const { return !targets_.empty() && !probe; }
    void update(double kick_dt, double drift_dt) {
      if (engine_.cancelled_) return;
      const WithSubnormals as_on_a_gpu{Subnormals::flushed};
      const int body = orrery::kick_drift(engine_.arrays(), engine_.bodies_.count(), kick_dt,
                                          engine_.plan_.law.effective_drag(), drift_dt);
      if (not_finite < 0) not_finite = body;
    }

    void evaluate(ForceArgs args) {
      std::uint64_t by_tree = 0;
      args.evaluated = &by_tree;
      const bool is_tree = engine_.plan_.kernel->tree() != nullptr;
      time(is_tree ? 0 : interactions_of(args), [&] { engine_.plan_.kernel->evaluate(args); });
      work.interactions += static_cast<double>(by_tree);
    }
    void time(double interactions, const std::function<void()>& evaluation) {
      const auto begin = Clock::now();
      flushing_subnormals(evaluation);
      work.ms += ms_since(begin);
      work.interactions += interactions;
      ++work.evaluations;
    }

    void compare() {
      const auto begin = Clock::now();
      const std::vector<Vec3d> reference = reference_accelerations(
          engine_.bodies_.positions, targets_, engine_.plan_.law, &engine_.cancelled_, engine_.bodies_.positions_low);
      const std::vector<Vec4> accelerations = entries(engine_.accelerations_, targets_);
      BodyErrors bodies{targets_, target_errors(accelerations, reference), accelerations};
      probe = ForceProbe{.step = step,
                         .sample = static_cast<int>(sample_),
                         .error = target_error(std::span{accelerations}.first(sample_),
                                               std::span{targets_}.first(sample_), std::span{reference}.first(sample_)),
                         .ms = ms_since(begin),
                         .bodies = std::make_shared<const BodyErrors>(std::move(bodies))};
    }

    CpuEngine& engine_;
    std::vector<int> targets_;
    std::size_t sample_;  // the first targets: those whose errors are summed up
    bool stores_;
    CpuHermiteOps hermite_;
  };

  /// Forces and updates flush subnormals, as they do on a GPU: far bodies would make steps a hundred times as long.
  /// The sums in double precision that they are held against do not.
  static void flushing_subnormals(const std::function<void()>& evaluation) {
    const WithSubnormals as_on_a_gpu{Subnormals::flushed};
    evaluation();
  }
  ForceArgs force_args(Epilogue epilogue, const std::atomic<bool>* cancelled) const {
    const bool has_low = bodies_.digits() == Digits::compensated;
    return {.bodies = bodies_.positions.data(),
            .bodies_low = has_low ? bodies_.positions_low.data() : nullptr,
            .count = bodies_.count(),
            .masses = masses_,
            .law = plan_.law,
            .epilogue = epilogue,
            .cancelled = cancelled};
  }

  /// Where the kernel stores low words of accelerations; null: it has none.
  Vec4* stored_low() {
    return plan_.reads_low_words && !accelerations_low_.empty() ? accelerations_low_.data() : nullptr;
  }
  StateArrays arrays() {
    const bool has_low = bodies_.digits() == Digits::compensated;
    return {.positions = bodies_.positions.data(),
            .velocities = bodies_.velocities.data(),
            .accelerations = accelerations_.data(),
            .positions_low = has_low ? bodies_.positions_low.data() : nullptr,
            .velocities_low = has_low ? bodies_.velocities_low.data() : nullptr,
            .accelerations_low = stored_low()};
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
    ForceWork work;  // of whole steps
    try {
      Ops ops{*this, batch};
      int body = first_not_finite(bodies_.positions, bodies_.velocities);
      while (body < 0 && steps < batch.steps) {
        ops.step = batch.begin.step + steps + 1;
        const std::optional<double> step_ms = whole_step(ops);
        if (!step_ms) break;
        ++steps;
        all_steps_ms += *step_ms;
        work = ops.work;
        if (TreeFacet* const tree = plan_.kernel->tree()) result.tree = tree->report();
        result.force_probe = ops.probe;
        if (plan_.integrator->block_steps) result.levels = hermite_.started() ? hermite_.counts() : levels_.counts();
        body = ops.not_finite >= 0 ? ops.not_finite : first_not_finite(bodies_.positions, bodies_.velocities);
      }
      if (body < 0 && batch.steps == 0) result.force_probe = evaluate_alone(ops, batch);
      if (body >= 0) result.non_finite = NonFinite{.step = batch.begin.step + steps, .body = body};
      if (batch.tree_cells.most > 0 && steps == batch.steps) result.tree_cells = tree_cells(batch);
      if (batch.accelerations && body < 0 && steps == batch.steps) result.accelerations = magnitudes(batch);
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
  std::optional<ForceProbe> evaluate_alone(Ops& ops, const BatchRequest& batch) {
    if (batch.probe.sample == 0 && (!batch.accelerations || accelerations_current_)) return std::nullopt;
    ops.step = batch.begin.step;
    ops.force(/*store=*/true, 0);
    if (!cancelled_) return ops.probe;
    accelerations_current_ = false;
    return std::nullopt;
  }

  /// Null if the evaluation was cancelled.
  std::shared_ptr<const Accelerations> magnitudes(const BatchRequest& batch) const {
    if (batch.steps == 0 && !accelerations_current_) return nullptr;
    Accelerations result{.step = batch.begin.step + batch.steps, .magnitudes = {}};
    result.magnitudes.reserve(accelerations_.size());
    for (const Vec4& a : accelerations_) result.magnitudes.push_back(std::sqrt(a.x * a.x + a.y * a.y + a.z * a.z));
    return std::make_shared<const Accelerations>(std::move(result));
  }

  std::shared_ptr<const TreeCells> tree_cells(const BatchRequest& batch) const {
    plan_.kernel->tree()->pick_cells(batch.tree_cells, nullptr);
    return tree_cells_of(*plan_.kernel->tree(), batch.begin.step + batch.steps, batch.tree_cells);
  }

  std::optional<ConservedProbe> measure(const BatchRequest& batch) const {
    const auto begin = Clock::now();
    const StepTime now = batch.begin.after(batch.steps, plan_.time_step);
    const ConservedProbe probe{.step = now.step,
                               .sim_time = now.sim_time,
                               .sums = conserved(bodies_, plan_.law, &cancelled_),
                               .ms = ms_since(begin)};
    if (cancelled_) return std::nullopt;
    return probe;
  }

  /// While nothing changes the bodies.
  void keep_bodies(const StepTime& now) {
    if (first_not_finite(bodies_.positions, bodies_.velocities) >= 0) return;
    try {
      Bodies copy = bodies_;
      const std::lock_guard lock{mutex_};
      std::swap(checkpoint_, copy);
      checkpoint_at_ = now;
    } catch (const std::bad_alloc&) {  // then what was kept before stays
    }
  }

  /// Runs one step and returns its time in ms, without a probe's; or leaves everything as it was: nothing is returned
  /// when the step was cancelled, and a step that failed throws.
  std::optional<double> whole_step(Ops& ops) {
    bodies_before_ = bodies_;
    accelerations_before_ = accelerations_;
    accelerations_low_before_ = accelerations_low_;
    hermite_before_ = hermite_;
    const bool current_before = accelerations_current_;
    const auto undo = [&] {
      std::swap(bodies_, bodies_before_);
      std::swap(accelerations_, accelerations_before_);
      std::swap(accelerations_low_, accelerations_low_before_);
      std::swap(hermite_, hermite_before_);
      accelerations_current_ = current_before;
    };
    const bool probed_before = ops.probe.has_value();
    const auto begin = Clock::now();
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

  Bodies bodies_, bodies_before_;
  MassRange masses_;
  std::vector<Vec4> accelerations_, accelerations_before_;
  std::vector<Vec4> accelerations_low_, accelerations_low_before_;  // empty under Digits::single
  bool accelerations_current_ = false;
  BodyLevels levels_;
  HermiteBodies hermite_, hermite_before_;  // none but with an integrator that needs jerks
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
