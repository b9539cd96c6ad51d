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

/// Timing of one batch of steps, known some frames after its request.
struct StepTiming {
  std::int64_t tag = 0;     ///< tag that was given to advance(), such as a frame number
  int steps = 0;            ///< number of whole steps; fewer than requested if the batch stopped early
  int evaluations = 0;      ///< force evaluations in these steps; leapfrog's first step has one more than the others
  double step_ms = 0;       ///< mean time of a step, by CUDA events (GPU) or the clock (CPU)
  double force_ms = 0;      ///< part of step_ms for force evaluations; on CUDA estimated from a sample of the steps
  double integrate_ms = 0;  ///< the rest of step_ms
  double map_ms = 0;        ///< CPU time to map the drawn GL buffer for CUDA, once per batch; 0 if it is not mapped
  double unmap_ms = 0;
  /// Mean over the evaluations. Direct summation: targets times bodies, which is count^2 except with block steps.
  /// Trees: the number that was evaluated.
  double interactions_per_evaluation = 0;
  double interactions_per_s = 0;  ///< interactions of all evaluations, divided by the time of the batch
};

/// Force error of the running kernel, measured in one evaluation.
struct ForceProbe {
  std::int64_t step = 0;  ///< step of the evaluation
  int sample = 0;         ///< number of bodies that were compared
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

/// The magnitude of each body's acceleration in its last force evaluation.
struct Accelerations {
  std::int64_t step = 0;  ///< step of the evaluation
  std::vector<float> magnitudes;
};

/// Which rank or device evaluates each body.
struct Domains {
  std::int64_t step = 0;  ///< the owners are from the last evaluation of all bodies up to this step
  BodyOwners owners;
};

/// A body whose position or velocity became infinite or NaN.
struct NonFinite {
  std::int64_t step = 0;  ///< the run stopped after this step
  int body = 0;           ///< the first non-finite body
};

/// Cells that were read from a tree.
struct TreeCells : PickedCells {
  std::int64_t step = 0;  ///< cells of this step's last evaluation
  CellRequest asked;
};

/// Results of measurements: of one batch of steps, or the latest of a simulation.
struct Measured {
  std::optional<NonFinite> non_finite;  ///< the first non-finite body, at which the run stopped
  std::optional<ForceProbe> force_probe;
  std::optional<ConservedProbe> conserved;
  std::optional<TreeReport> tree;  ///< report of the latest evaluation by a tree
  std::shared_ptr<const TreeCells> tree_cells;
  std::shared_ptr<const Accelerations> accelerations;
  std::shared_ptr<const Domains> domains;
  std::optional<LevelCounts> levels;     ///< number of bodies per level in the latest step; none without block steps
  std::vector<DeviceLoad> device_loads;  ///< loads of the devices that share evaluations; empty if unknown or only one
};

}  // namespace orrery
