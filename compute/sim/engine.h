#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/integrators/integrator.h"
#include "compute/kernels/kernel.h"
#include "compute/sim/command.h"
#include "compute/sim/device_storage.h"

namespace orrery {

/// What a step is made of.
struct StepPlan {
  std::shared_ptr<ForceKernel> kernel;
  const IntegratorInfo* integrator = nullptr;
  Law law;
  float time_step = 0;
};

/// A batch's timing from sums over it: the time of all its steps, and the mean time of a force evaluation.
StepTiming batch_timing(std::int64_t tag, int steps, int evaluations, double all_steps_ms, double evaluation_ms,
                        double interactions_per_evaluation);

/// Where bodies live and steps run: host memory and a worker thread, or device memory and a stream. Both are
/// asynchronous: advance() returns at once, and collect() tells later what ran.
class Engine {
 public:
  virtual ~Engine() = default;

  /// If it throws, the bodies that were there before may be lost.
  virtual void upload(const Bodies& bodies) = 0;
  /// The exact state after the last whole step that ran. Call only when no batch is under way: see settle().
  virtual Bodies download() = 0;
  /// Copies what is drawn. Either span may be empty. Call only when no batch is under way.
  virtual void copy_drawn(std::span<Vec4> positions, std::span<Vec4> velocities) = 0;
  /// Accelerations by the plan's kernel at the present positions, without a kick. Waits.
  virtual std::vector<Vec4> accelerations() = 0;

  /// Used by every later step. Stored accelerations go stale with another kernel or law.
  virtual void set_plan(const StepPlan& plan) = 0;

  /// Whether advance() would be taken now without waiting.
  virtual bool ready() const = 0;
  /// Starts a batch of `steps` steps. Call only when ready().
  virtual void advance(int steps, std::int64_t tag) = 0;
  /// The batches that ended since the last call, oldest first, one that failed with the whole steps that it ran. The
  /// call after that, with nothing else to report, rethrows what it failed with.
  virtual std::vector<StepTiming> collect() = 0;
  /// Until every batch has ended.
  virtual void wait() = 0;
  /// Ends what is under way: a CPU engine abandons the step it is in and keeps the last whole one, a CUDA engine waits.
  virtual void settle() = 0;
};

std::unique_ptr<Engine> make_cpu_engine();
/// `storage` may be null: the engine then has its own. It must outlive the engine. Not in a build without CUDA.
std::unique_ptr<Engine> make_cuda_engine(DeviceStorage* storage);
/// Either of them. Throws std::runtime_error with the reason where the backend is not available.
std::unique_ptr<Engine> make_engine(Backend backend, DeviceStorage* storage);

}  // namespace orrery
