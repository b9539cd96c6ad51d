#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compute/diagnostics/conserved.h"
#include "compute/diagnostics/reference.h"
#include "compute/integrators/time_step_levels.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/shared_facets.h"
#include "compute/kernels/tree_facet.h"

namespace orrery {

/// The times of one batch of steps, known some frames after its request.
struct StepTiming {
  std::int64_t tag = 0;     ///< tag that the caller of advance() gave: a frame number
  int steps = 0;            ///< whole steps that the batch ran: fewer than requested if it stopped early
  int evaluations = 0;      ///< force evaluations in them: leapfrog's first step takes one more than the others
  double step_ms = 0;       ///< one step: the batch's time by CUDA events (GPU) or the clock (CPU) over its steps
  double force_ms = 0;      ///< the force evaluations' part of step_ms; on CUDA from a sample of the steps: their share
  double integrate_ms = 0;  ///< the rest of step_ms
  double map_ms = 0;        ///< CPU time to map the drawn GL buffer for CUDA, once for the batch; 0 if it is not mapped
  double unmap_ms = 0;
  /// Mean over the evaluations. A direct sum has targets times bodies, which is count^2 except in block steps; a tree
  /// has the number that it evaluated.
  double interactions_per_evaluation = 0;
  double interactions_per_s = 0;  ///< interactions of the batch's evaluations over its time
};

/// The error of the running kernel, from one evaluation while it ran.
struct ForceProbe {
  std::int64_t step = 0;  ///< the evaluation belongs to this step
  int sample = 0;         ///< bodies that were compared
  ForceError error{};
  double ms = 0;  ///< GPU (or CPU) time spent on the comparison
  /// Time spent on what only the comparison needs before it: an evaluation, with a Hermite integrator; copies, from the
  /// devices that hold the bodies. Neither time is counted in the steps.
  double preparation_ms = 0;
  std::shared_ptr<const BodyErrors> bodies{};  ///< errors of the sample and of ProbeForces::body
};

/// The conserved quantities of a closed system after a step.
struct ConservedProbe {
  std::int64_t step = 0;
  double sim_time = 0;
  Conserved sums;
  double ms = 0;  ///< GPU (or CPU) time spent on the sums
};

/// The magnitude of each body's acceleration, as its last force evaluation found it.
struct Accelerations {
  std::int64_t step = 0;  ///< the evaluation belongs to this step
  std::vector<float> magnitudes;
};

/// Which rank or device evaluates each body.
struct Domains {
  std::int64_t step = 0;  ///< in the last evaluation of all bodies up to this step
  BodyOwners owners;
};

/// A body whose position or velocity became infinite or NaN.
struct NonFinite {
  std::int64_t step = 0;  ///< the run stopped after this step
  int body = 0;           ///< the first such body
};

/// Cells of a tree.
struct TreeCells : PickedCells {
  std::int64_t step = 0;  ///< cells of this step's last evaluation
  CellRequest asked;
};

/// Results of measurements: of one batch of steps, or the latest of a simulation.
struct Measured {
  std::optional<NonFinite> non_finite;  ///< the first non-finite body, at which the run stopped
  std::optional<ForceProbe> force_probe;
  std::optional<ConservedProbe> conserved;
  std::optional<TreeReport> tree;  ///< the latest evaluation by a tree that reported
  std::shared_ptr<const TreeCells> tree_cells;
  std::shared_ptr<const Accelerations> accelerations;
  std::shared_ptr<const Domains> domains;
  std::optional<LevelCounts> levels;     ///< the bodies at each level in the latest step, if it had block steps
  std::vector<DeviceLoad> device_loads;  ///< loads of several devices that divide the kernel, if known
};

}  // namespace orrery
