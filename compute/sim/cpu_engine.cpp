#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "compute/integrators/update.h"
#include "compute/sim/engine.h"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Bodies in host memory. One worker thread is to this engine what a stream is to the CUDA one: the caller's thread
/// touches the bodies only while no batch is under way.
class CpuEngine final : public Engine {
 public:
  CpuEngine() : worker_{[this](std::stop_token stop) { work(stop); }} {}
  ~CpuEngine() override {
    cancelled_ = true;
    worker_.request_stop();
  }

  void upload(const Bodies& bodies) override {
    Bodies copy = bodies;
    std::vector<Vec4> accelerations(bodies.positions.size());
    std::swap(bodies_, copy);  // from here on nothing can fail
    std::swap(accelerations_, accelerations);
    accelerations_current_ = false;
  }
  Bodies download() override { return bodies_; }
  void copy_drawn(std::span<Vec4> positions, std::span<Vec4> velocities) override {
    std::copy_n(bodies_.positions.begin(), positions.size(), positions.begin());
    std::copy_n(bodies_.velocities.begin(), velocities.size(), velocities.begin());
  }
  std::vector<Vec4> accelerations() override {
    std::vector<Vec4> result(bodies_.positions.size());
    plan_.kernel->evaluate(force_args({.accelerations = result.data()}, nullptr));
    return result;
  }

  void set_plan(const StepPlan& plan) override {
    if (plan.kernel != plan_.kernel || plan.law != plan_.law) accelerations_current_ = false;
    plan_ = plan;
  }

  bool ready() const override {
    const std::lock_guard lock{mutex_};
    return !asked_;
  }
  void advance(int steps, std::int64_t tag) override {
    const std::lock_guard lock{mutex_};
    asked_ = Batch{steps, tag};
    changed_.notify_all();
  }
  std::vector<StepTiming> collect() override {
    const std::lock_guard lock{mutex_};
    if (finished_.empty() && failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return std::exchange(finished_, {});
  }
  void wait() override {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !asked_; });
  }
  void settle() override {
    cancelled_ = true;
    wait();
    cancelled_ = false;
  }

 private:
  struct Batch {
    int steps;
    std::int64_t tag;
  };

  /// What the force evaluations of a batch took.
  struct ForceWork {
    int evaluations = 0;
    double ms = 0;
  };

  /// The integrator's operations on this engine's arrays.
  class Ops final : public StepOps {
   public:
    explicit Ops(CpuEngine& engine) : engine_{engine} {}
    void force(bool store, float kick_dt) override {
      const auto begin = Clock::now();
      engine_.plan_.kernel->evaluate(
          engine_.force_args({.accelerations = store ? engine_.accelerations_.data() : nullptr,
                              .velocities = kick_dt != 0 ? engine_.bodies_.velocities.data() : nullptr,
                              .kick_dt = kick_dt,
                              .drag = engine_.plan_.law.effective_drag()},
                             &engine_.cancelled_));
      if (store) engine_.accelerations_current_ = true;
      work.ms += ms_since(begin);
      ++work.evaluations;
    }
    void kick_drift(float kick_dt, float drift_dt) override {
      orrery::kick_drift(engine_.bodies_.positions, engine_.bodies_.velocities, engine_.accelerations_, kick_dt,
                         engine_.plan_.law.effective_drag(), drift_dt);
      engine_.accelerations_current_ = false;
    }
    bool accelerations_current() const override { return engine_.accelerations_current_; }

    ForceWork work;

   private:
    CpuEngine& engine_;
  };

  ForceArgs force_args(Epilogue epilogue, const std::atomic<bool>* cancelled) const {
    return {.bodies = bodies_.positions.data(),
            .count = bodies_.count(),
            .law = plan_.law,
            .epilogue = epilogue,
            .cancelled = cancelled};
  }

  void work(std::stop_token stop) {
    std::unique_lock lock{mutex_};
    while (changed_.wait(lock, stop, [this] { return asked_.has_value(); })) {
      const Batch batch = *asked_;
      lock.unlock();
      std::exception_ptr failure;
      const StepTiming timing = run(batch, failure);
      lock.lock();
      if (failure) failure_ = failure;
      finished_.push_back(timing);
      asked_.reset();
      changed_.notify_all();
    }
  }

  StepTiming run(const Batch& batch, std::exception_ptr& failure) {
    int steps = 0;
    double all_steps_ms = 0;
    ForceWork work;  // of whole steps
    Ops ops{*this};
    try {
      for (; steps < batch.steps; ++steps) {
        const std::optional<double> step_ms = whole_step(ops);
        if (!step_ms) break;
        all_steps_ms += *step_ms;
        work = ops.work;
      }
    } catch (...) {
      failure = std::current_exception();
    }
    const double evaluation_ms = work.evaluations > 0 ? work.ms / work.evaluations : 0;
    return batch_timing(batch.tag, steps, work.evaluations, all_steps_ms, evaluation_ms,
                        plan_.kernel->interactions(bodies_.count()));
  }

  /// Runs one step and returns its time in ms; or leaves everything as it was: nothing is returned when the step was
  /// cancelled, and a step that failed throws.
  std::optional<double> whole_step(Ops& ops) {
    bodies_before_ = bodies_;
    accelerations_before_ = accelerations_;
    const bool current_before = accelerations_current_;
    const auto undo = [&] {
      std::swap(bodies_, bodies_before_);
      std::swap(accelerations_, accelerations_before_);
      accelerations_current_ = current_before;
    };
    const auto begin = Clock::now();
    try {
      plan_.integrator->step(ops, plan_.time_step);
    } catch (...) {
      undo();
      throw;
    }
    const double ms = ms_since(begin);
    if (!cancelled_) return ms;
    undo();
    return std::nullopt;
  }

  Bodies bodies_, bodies_before_;
  std::vector<Vec4> accelerations_, accelerations_before_;
  bool accelerations_current_ = false;
  StepPlan plan_;
  std::atomic<bool> cancelled_ = false;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  std::optional<Batch> asked_;
  std::vector<StepTiming> finished_;
  std::exception_ptr failure_;
  std::jthread worker_;  // last: it uses all of the above
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine() {
  return std::make_unique<CpuEngine>();
}

}  // namespace orrery
