#pragma once

#include <span>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/force_law.h"

namespace orrery {

/// Accelerations of the bodies at `targets`, each summed directly over all bodies in double precision, without drag.
std::vector<Vec3d> reference_accelerations(std::span<const Vec4> bodies, std::span<const int> targets, const Law& law);

/// `size` different indices in [0, count), ascending, the same on every call; all of them where size >= count.
std::vector<int> sample_targets(int count, int size);

/// |a - reference| / |reference| over a sample. Every field is NaN if any acceleration is not finite, so that no
/// comparison `error <= tolerance` passes.
struct ForceError {
  double rms, median, p99, max;
  int worst = -1;  ///< the body of `max`; the first that is not finite where there is one; -1: unknown
};
/// `accelerations` has one entry a body (ax, ay, az, unused), `reference` one for each of `targets`. A body whose
/// reference is zero (a body alone) counts as |a| itself.
ForceError force_error(std::span<const Vec4> accelerations, std::span<const int> targets,
                       std::span<const Vec3d> reference);

}  // namespace orrery
