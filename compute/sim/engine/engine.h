#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/integrators/integrator.h"
#include "compute/kernels/kernel.h"
#include "compute/sim/engine/device_storage.h"
#include "compute/sim/engine/results.h"

namespace orrery {

/// What a step is made of.
struct StepPlan {
  std::shared_ptr<ForceKernel> kernel;
  const IntegratorInfo* integrator = nullptr;
  Law law;
  float time_step = 0;
};

/// When a state is: after how many whole steps, and at what time in units of G = 1.
struct Moment {
  std::int64_t step = 0;
  double sim_time = 0;
  Moment after(int steps, float time_step) const { return {step + steps, sim_time + steps * double{time_step}}; }
};

/// What advance() is asked for.
struct BatchRequest {
  std::int64_t tag = 0;
  int steps = 0;                   ///< 0 only where nothing but tree_cells is asked for, of the tree of the last step
  Moment begin;                    ///< of the state that the first step starts from
  int probe_sample = 0;            ///< see ProbeForces; 0: no probe
  bool measure_conserved = false;  ///< see MeasureConserved
  int tree_cells = 0;              ///< see ReadTreeCells; 0: none
};

/// What a batch did. What was to be measured is missing where the batch was cut short before it could be.
struct BatchResult {
  StepTiming timing;
  std::optional<Fault> fault;  ///< why the batch was cut short: its last whole step left this
  std::optional<ForceProbe> force_probe;
  std::optional<ConservedProbe> conserved;
  std::optional<TreeReport> tree;  ///< of one of its last evaluations, if a tree has ended one
  std::shared_ptr<const TreeCells> tree_cells;
};

/// A batch's timing from sums over it: the time of all its steps, and the mean time of a force evaluation.
StepTiming batch_timing(std::int64_t tag, int steps, int evaluations, double all_steps_ms, double evaluation_ms,
                        double interactions_per_evaluation);

/// The cells that were picked of the tree after `step`; null if there are none.
std::shared_ptr<const TreeCells> tree_cells_of(const TreeFacet& tree, std::int64_t step);

/// Where bodies live and steps run: host memory and a worker thread, or device memory and a stream. Both are
/// asynchronous: advance() returns at once, and collect() tells later what ran.
class Engine {
 public:
  virtual ~Engine() = default;

  /// If it throws, the bodies that were there before may be lost.
  virtual void upload(const Bodies& bodies) = 0;
  /// The exact state after the last whole step that ran. After a fault on CUDA the positions are those of the fault's
  /// step, while the velocities have also taken the kicks of the steps that were enqueued before the host knew. Call
  /// only when no batch is under way: see settle().
  virtual Bodies download() = 0;
  /// Copies what is drawn. Either span may be empty. Call only when no batch is under way.
  virtual void copy_drawn(std::span<Vec4> positions, std::span<Vec4> velocities) = 0;
  /// Accelerations by the plan's kernel at the present positions, without a kick. Waits.
  virtual std::vector<Vec4> accelerations() = 0;

  /// Used by every later step. Stored accelerations go stale with another kernel or law.
  virtual void set_plan(const StepPlan& plan) = 0;

  /// Whether advance() would be taken now without waiting.
  virtual bool ready() const = 0;
  /// Starts a batch of steps. Call only when ready(). The steps end where a body is not finite any more; from then on
  /// until the next upload() every batch ends at once with a fault. At most one batch that is under way may probe
  /// forces, at most one may measure what is conserved, and at most one may read the cells of a tree.
  virtual void advance(const BatchRequest& request) = 0;
  /// The batches that ended since the last call, oldest first, one that failed with the whole steps that it ran. The
  /// call after that, with nothing else to report, rethrows what it failed with.
  virtual std::vector<BatchResult> collect() = 0;
  /// Until every batch has ended.
  virtual void wait() = 0;
  /// Ends what is under way: a CPU engine abandons the step it is in and keeps the last whole one, a CUDA engine waits.
  virtual void settle() = 0;

  /// Keeps a copy of the state at `now`, that is after all batches that were asked for; on the CPU, after what is under
  /// way, whenever that ends. Does nothing where memory does not suffice or a body is not finite.
  virtual void keep(const Moment& now) = 0;
  /// When the copy is from that was kept last; none as long as that is not known to be sound.
  virtual std::optional<Moment> good() = 0;
  /// That copy. Call only where good() tells of one and no batch is under way.
  virtual Bodies good_bodies() = 0;
  virtual void forget_good() = 0;
};

std::unique_ptr<Engine> make_cpu_engine();
/// `storage` is memory of `device`; null: the engine has its own. Both must outlive it. Not in a build without CUDA.
std::unique_ptr<Engine> make_cuda_engine(const cuda::Device& device, DeviceStorage* storage);

}  // namespace orrery
