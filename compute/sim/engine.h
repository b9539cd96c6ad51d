#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/text.h"
#include "compute/integrators/hermite.h"
#include "compute/integrators/integrator.h"
#include "compute/kernels/kernel.h"
#include "compute/sim/results.h"

namespace orrery {

/// The kernel, integrator and parameters of a step.
struct StepPlan {
  std::shared_ptr<ForceKernel> kernel;
  const IntegratorInfo* integrator = nullptr;
  Law law;
  float time_step = 0;
  float eta = StepCriterion::usual_eta;
  bool takes_targets = false;    ///< see KernelInfo
  bool reads_low_words = false;  ///< see KernelInfo
  float mean_mass = 0;           ///< mean mass of the bodies

  /// Returns the criterion for the levels of block steps.
  StepCriterion criterion() const { return {.softening = law.softening, .mean_mass = mean_mass, .eta = eta}; }
  /// Returns the parameters of HermiteOps::correct().
  Correction correction() const { return {.eta = eta, .drag = law.effective_drag()}; }
};

/// The step and the time of a state: whole steps since the start, and the time in units of G = 1.
struct StepTime {
  std::int64_t step = 0;
  double sim_time = 0;
  StepTime after(int steps, float time_step) const {
    // One addition per step, so that a continued run gets bit-identical times.
    double time = sim_time;
    for (int i = 0; i < steps; ++i) time += nominal_step(time_step);
    return {step + steps, time};
  }
};

/// A batch of steps, and the measurements to make during it.
struct BatchRequest {
  std::int64_t tag = 0;
  int steps = 0;                   ///< 0: only measures, and evaluates the forces if a measurement needs them
  StepTime begin;                  ///< step and time before the first step
  ComparedBodies probe{};          ///< see ProbeForces
  bool accelerations = false;      ///< see ReadAccelerations
  bool domains = false;            ///< see ReadDomains
  bool measure_conserved = false;  ///< see MeasureConserved
  CellRequest tree_cells{};        ///< see ReadTreeCells
};

/// The results of a batch. Measurements are missing if the batch stopped before them.
struct BatchResult : Measured {
  StepTiming timing;
};

/// Returns the number of interactions of one evaluation by direct summation, even if the kernel skips some. A tree
/// counts its own, see ForceArgs::evaluated.
inline double interactions_of(const ForceArgs& args) {
  return static_cast<double>(args.target_count()) * args.count;
}

/// Returns a batch's timing from the total time of its steps and the mean time of a force evaluation, both in ms.
inline StepTiming batch_timing(std::int64_t tag, int steps, int evaluations, double all_steps_ms, double evaluation_ms,
                               double interactions_per_evaluation) {
  StepTiming timing{.tag = tag, .steps = steps, .evaluations = evaluations};
  if (steps == 0) return timing;
  timing.step_ms = all_steps_ms / steps;
  timing.force_ms = std::min(evaluation_ms * evaluations / steps, timing.step_ms);  // a sample's mean may exceed it
  timing.integrate_ms = timing.step_ms - timing.force_ms;
  timing.interactions_per_evaluation = interactions_per_evaluation;
  timing.interactions_per_s = interactions_per_evaluation * evaluations / all_steps_ms * 1e3;
  return timing;
}

/// Returns which rank or device evaluates each body after `step`; null if the kernel does not know it yet.
inline std::shared_ptr<const Domains> domains_of(const ForceKernel& kernel, std::int64_t step, int count) {
  std::optional<BodyOwners> owners = owners_of(kernel, count);
  if (!owners) return nullptr;
  return std::make_shared<const Domains>(Domains{step, std::move(*owners)});
}

/// Returns the picked cells of the tree after `step`, with their request `asked`; null if there was no tree.
inline std::shared_ptr<const TreeCells> tree_cells_of(const TreeFacet& tree, std::int64_t step,
                                                      const CellRequest& asked) {
  std::optional<PickedCells> picked = tree.cells();
  if (!picked) return nullptr;
  return std::make_shared<const TreeCells>(TreeCells{std::move(*picked), step, asked});
}

/// Owns the bodies and runs the steps: in host memory on a worker thread, or in device memory on a stream. advance()
/// returns immediately, and collect() returns the results later.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Replaces the bodies and sets the plan of all later steps. If it throws, the old bodies and plan stay, except after
  /// a BackendLost. If the number of bodies changes, the checkpoint and hermite_state() may be lost, even if it throws.
  virtual void upload(const Bodies& bodies, const StepPlan& plan) = 0;
  /// Allows this engine to discard its bodies. Call after another engine has received them.
  virtual void bodies_moved() {}
  /// Returns the exact state after the last whole step. After a non-finite body on CUDA, the velocities also have the
  /// kicks of later steps that were already enqueued; the positions are exact. Call only when no batch is in flight,
  /// see cancel_and_wait().
  virtual Bodies download() = 0;
  /// Returns the bodies without a copy if they are in host memory, of this process or of ranks. Returns null if they
  /// are in device memory. Valid until the state changes.
  virtual std::unique_ptr<BodySource> bodies_in_place() { return nullptr; }
  /// Copies the drawn positions and velocities; either span may be empty. Call only when no batch is in flight.
  virtual void copy_drawn(std::span<Vec4> positions, std::span<Vec4> velocities) = 0;
  /// Returns the state of a Hermite integrator; empty if it would restart. Call only when no batch is in flight.
  virtual HermiteState hermite_state() = 0;
  /// Makes the plan's Hermite integrator continue from `state`, which belongs to the uploaded bodies. Throws UsageError
  /// if memory is short; the integrator then restarts from the bodies.
  virtual void go_on(const HermiteState& state) = 0;
  /// Returns accelerations by the plan's kernel at the current positions, one per body. Does not kick. If there are
  /// `targets`, only their entries are valid. Blocks until they are computed. Throws UsageError for targets if the
  /// kernel takes none.
  virtual std::vector<Vec4> accelerations(std::span<const int> targets) = 0;

  /// Sets the plan of all later steps, for the same bodies. Another kernel or law makes the stored accelerations stale.
  virtual void set_plan(const StepPlan& plan) = 0;

  /// Returns whether advance() may be called now.
  virtual bool ready() const = 0;
  /// Starts a batch of steps. With block steps, a CUDA engine blocks until the last of them begins. Call only when
  /// ready(). The steps stop when a body becomes non-finite; later batches then run no steps until the next upload().
  /// Each of these may be measured by at most one batch in flight: forces, conserved sums, cells of a tree,
  /// accelerations.
  virtual void advance(const BatchRequest& request) = 0;
  /// Returns the batches that ended since the last call, oldest first. A failed batch has the whole steps before the
  /// failure. The next call that has nothing to return throws the error.
  virtual std::vector<BatchResult> collect() = 0;
  /// Blocks until every batch has ended. If a stop is requested, does cancel_and_wait().
  virtual void wait(const std::stop_token& stop) = 0;
  /// Blocks until no batch is in flight. A CPU engine cancels the step in flight and keeps the last whole one.
  virtual void cancel_and_wait() = 0;

  /// Stores a checkpoint of the state after all requested batches, at step and time `now`. A CPU engine copies when the
  /// batch in flight has ended. Does nothing if memory is short or a body is not finite.
  virtual void keep(const StepTime& now) = 0;
  /// Returns step and time of the latest checkpoint whose bodies are known to be finite; none if there is none.
  virtual std::optional<StepTime> checkpoint() = 0;
  /// Returns the checkpoint. Call only if checkpoint() returns one and no batch is in flight.
  virtual Bodies checkpoint_bodies() = 0;
  virtual void forget_checkpoint() = 0;
};

std::unique_ptr<Engine> make_cpu_engine();
/// Makes a CUDA engine. `storage`: memory of `device`; null: the engine allocates its own. Both must outlive the
/// engine. Not defined in a build without CUDA.
std::unique_ptr<Engine> make_cuda_engine(const cuda::Device& device, DeviceStorage* storage);

}  // namespace orrery
