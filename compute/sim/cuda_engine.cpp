#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <exception>
#include <string>
#include <utility>

#include "compute/core/error.h"
#include "compute/cuda/device.h"
#include "compute/cuda/device_array.h"
#include "compute/cuda/event.h"
#include "compute/cuda/stream.h"
#include "compute/integrators/update_cuda.h"
#include "compute/sim/engine.h"

namespace orrery {
namespace {

/// Batches that may be in flight: enough to keep the GPU busy, few enough that a command takes effect at once.
constexpr std::size_t max_batches = 3;
/// Force evaluations timed in one batch; a batch of more steps times some of them, since two events cost some us.
constexpr int max_timed_steps = 8;

class OwnStorage final : public DeviceStorage {
 public:
  void resize(int count) override {
    if (positions_.size() == static_cast<std::size_t>(count)) return;
    positions_ = {}, velocities_ = {};  // first the old memory, then the new
    positions_ = cuda::DeviceArray<Vec4>(static_cast<std::size_t>(count));
    velocities_ = cuda::DeviceArray<Vec4>(static_cast<std::size_t>(count));
  }
  DeviceBodies map(cudaStream_t) override { return {positions_.data(), velocities_.data()}; }
  void unmap(cudaStream_t) override {}

 private:
  cuda::DeviceArray<Vec4> positions_, velocities_;
};

/// The storage mapped for as long as this lives, and what mapping took of the CPU's time.
class Mapping {
 public:
  Mapping(DeviceStorage& storage, cudaStream_t stream) : storage_{storage}, stream_{stream} {
    const auto begin = std::chrono::steady_clock::now();
    bodies = storage.map(stream);
    map_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  /// Only while an error unwinds: what failed before matters more than what this finds.
  ~Mapping() {
    if (!mapped_) return;
    try {
      storage_.unmap(stream_);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "orrery: %s\n", error.what());
    }
  }
  /// Returns the CPU time it took, in ms.
  double unmap() {
    const auto begin = std::chrono::steady_clock::now();
    mapped_ = false;
    storage_.unmap(stream_);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }

  DeviceBodies bodies;
  double map_ms = 0;

 private:
  DeviceStorage& storage_;
  cudaStream_t stream_;
  bool mapped_ = true;
};

/// The time stamps of a batch on the stream.
struct Batch {
  std::int64_t tag = 0;
  int steps = 0, evaluations = 0;
  double map_ms = 0, unmap_ms = 0, interactions_per_evaluation = 0;
  cuda::Event begin, end;
  std::vector<std::pair<cuda::Event, cuda::Event>> force;
  std::size_t timed_evaluations = 0;  // of `force`, those that this batch used

  StepTiming timing() const {
    double force_ms = 0;
    for (std::size_t i = 0; i < timed_evaluations; ++i) force_ms += cuda::elapsed_ms(force[i].first, force[i].second);
    StepTiming timing = batch_timing(tag, steps, evaluations, cuda::elapsed_ms(begin, end),
                                     force_ms / static_cast<double>(timed_evaluations), interactions_per_evaluation);
    timing.map_ms = map_ms;
    timing.unmap_ms = unmap_ms;
    return timing;
  }
};

class CudaEngine final : public Engine {
 public:
  explicit CudaEngine(DeviceStorage* storage) : storage_{storage ? *storage : own_storage_} {}

  void upload(const Bodies& bodies) override {
    wait();
    resize(bodies.count());
    Mapping mapping{storage_, stream_.get()};
    cuda::upload<Vec4>(bodies.positions, mapping.bodies.positions, stream_.get());
    cuda::upload<Vec4>(bodies.velocities, mapping.bodies.velocities, stream_.get());
    stream_.synchronize();
    mapping.unmap();
    accelerations_current_ = false;
  }

  Bodies download() override {
    Bodies bodies{std::vector<Vec4>(size()), std::vector<Vec4>(size())};
    copy_drawn(bodies.positions, bodies.velocities);
    return bodies;
  }

  void copy_drawn(std::span<Vec4> positions, std::span<Vec4> velocities) override {
    Mapping mapping{storage_, stream_.get()};
    cuda::download<Vec4>(mapping.bodies.positions, positions, stream_.get());
    cuda::download<Vec4>(mapping.bodies.velocities, velocities, stream_.get());
    stream_.synchronize();
    mapping.unmap();
  }

  std::vector<Vec4> accelerations() override {
    Mapping mapping{storage_, stream_.get()};
    plan_.kernel->evaluate(force_args(mapping.bodies, {.accelerations = accelerations_.data()}));
    accelerations_current_ = true;
    std::vector<Vec4> result(size());
    cuda::download<Vec4>(accelerations_.data(), result, stream_.get());
    stream_.synchronize();
    mapping.unmap();
    return result;
  }

  void set_plan(const StepPlan& plan) override {
    if (plan.kernel != plan_.kernel || plan.law != plan_.law) accelerations_current_ = false;
    plan_ = plan;
  }

  bool ready() const override { return in_flight_.size() < max_batches || in_flight_.front().end.reached(); }

  void advance(int steps, std::int64_t tag) override {
    Batch batch = take_batch();
    batch.tag = tag;
    batch.steps = steps;
    batch.interactions_per_evaluation = plan_.kernel->interactions(count_);
    Mapping mapping{storage_, stream_.get()};
    batch.map_ms = mapping.map_ms;
    batch.begin.record(stream_.get());
    Ops ops{*this, mapping.bodies, batch};
    const int timed = std::min(steps, max_timed_steps);
    for (int step = 0; step < steps; ++step) {
      // Every steps/timed-th step is timed, so that the sample is spread over the batch.
      ops.timed =
          static_cast<std::int64_t>(step + 1) * timed / steps != static_cast<std::int64_t>(step) * timed / steps;
      plan_.integrator->step(ops, plan_.time_step);
    }
    batch.end.record(stream_.get());
    batch.unmap_ms = mapping.unmap();
    in_flight_.push_back(std::move(batch));
  }

  std::vector<StepTiming> collect() override {
    std::vector<StepTiming> ended;
    while (!in_flight_.empty() && in_flight_.front().end.reached()) {
      ended.push_back(in_flight_.front().timing());
      free_.push_back(std::move(in_flight_.front()));
      in_flight_.pop_front();
    }
    return ended;
  }

  void wait() override {
    if (!in_flight_.empty()) in_flight_.back().end.synchronize();
  }
  void settle() override { wait(); }

 private:
  /// The integrator's operations on the mapped arrays.
  class Ops final : public StepOps {
   public:
    Ops(CudaEngine& engine, DeviceBodies bodies, Batch& batch) : engine_{engine}, bodies_{bodies}, batch_{batch} {}
    void force(bool store, float kick_dt) override {
      ++batch_.evaluations;
      const auto* pass = timed ? &next_pass() : nullptr;
      if (pass) pass->first.record(engine_.stream_.get());
      engine_.plan_.kernel->evaluate(
          engine_.force_args(bodies_, {.accelerations = store ? engine_.accelerations_.data() : nullptr,
                                       .velocities = kick_dt != 0 ? bodies_.velocities : nullptr,
                                       .kick_dt = kick_dt,
                                       .drag = engine_.plan_.law.effective_drag()}));
      if (pass) pass->second.record(engine_.stream_.get());
      if (store) engine_.accelerations_current_ = true;
    }
    void kick_drift(float kick_dt, float drift_dt) override {
      cuda::kick_drift(bodies_.positions, bodies_.velocities, engine_.accelerations_.data(), engine_.count_, kick_dt,
                       engine_.plan_.law.effective_drag(), drift_dt, engine_.stream_.get());
      engine_.accelerations_current_ = false;
    }
    bool accelerations_current() const override { return engine_.accelerations_current_; }

    bool timed = false;

   private:
    const std::pair<cuda::Event, cuda::Event>& next_pass() {
      if (batch_.timed_evaluations == batch_.force.size()) batch_.force.emplace_back();
      return batch_.force[batch_.timed_evaluations++];
    }

    CudaEngine& engine_;
    DeviceBodies bodies_;
    Batch& batch_;
  };

  std::size_t size() const { return static_cast<std::size_t>(count_); }

  ForceArgs force_args(const DeviceBodies& bodies, const Epilogue& epilogue) const {
    return {
        .bodies = bodies.positions, .count = count_, .law = plan_.law, .epilogue = epilogue, .stream = stream_.get()};
  }

  void resize(int count) {
    if (accelerations_.size() != static_cast<std::size_t>(count)) {
      require_room(count);
      accelerations_ = {};  // first the old memory, then the new
      count_ = 0;
    }
    storage_.resize(count);
    if (!accelerations_.data()) accelerations_ = cuda::DeviceArray<Vec4>(static_cast<std::size_t>(count));
    count_ = count;
  }

  /// Throws a UsageError where the GPU cannot hold this many bodies instead of those that it holds now.
  void require_room(int count) const {
    constexpr std::size_t body_bytes = 3 * sizeof(Vec4);           // position, velocity, acceleration
    constexpr std::size_t reserve_bytes = std::size_t{256} << 20;  // for kernels' scratch memory and the display
    const std::size_t room = cuda::free_memory_bytes() + size() * body_bytes;
    const std::size_t most = (room > reserve_bytes ? room - reserve_bytes : 0) / body_bytes;
    if (static_cast<std::size_t>(count) <= most) return;
    throw UsageError(std::to_string(count) + " bodies need more memory than the GPU has free; it has room for " +
                     std::to_string(most));
  }

  Batch take_batch() {
    if (free_.empty()) return {};
    Batch batch = std::move(free_.back());
    free_.pop_back();
    batch.evaluations = 0;
    batch.timed_evaluations = 0;
    return batch;
  }

  OwnStorage own_storage_;
  DeviceStorage& storage_;
  cuda::Stream stream_;
  cuda::DeviceArray<Vec4> accelerations_;
  int count_ = 0;
  bool accelerations_current_ = false;
  StepPlan plan_;
  std::deque<Batch> in_flight_;
  std::vector<Batch> free_;
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(DeviceStorage* storage) {
  return std::make_unique<CudaEngine>(storage);
}

}  // namespace orrery
