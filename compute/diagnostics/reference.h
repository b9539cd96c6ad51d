#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/force_law.h"

namespace orrery {

/// Accelerations of the bodies at `targets`, each summed directly over all bodies in double precision, without drag.
/// Where `cancelled` is given, returns soon after it is set, with values that mean nothing. `low` has the low words of
/// the coordinates, see DoubleFloat; empty: they have none.
std::vector<Vec3d> reference_accelerations(std::span<const Vec4> bodies, std::span<const int> targets, const Law& law,
                                           const std::atomic<bool>* cancelled = nullptr,
                                           std::span<const Vec4> low = {});

/// `size` different indices in [0, count), ascending, the same on every call; all of them where size >= count. Other
/// turns (>= 0) have others: any ceil(count / size) turns in a row have every index.
std::vector<int> sample_targets(int count, int size, int turn = 0);

/// Which bodies of a system are compared with reference_accelerations().
struct ComparedBodies {
  static constexpr int nobody = -1;

  int sample = 0;     ///< as many, see sample_targets(); 0: nothing is compared
  int turn = 0;       ///< likewise
  int body = nobody;  ///< one that is compared beside the sample, whose error does not count with those of the sample
  friend bool operator==(const ComparedBodies&, const ComparedBodies&) = default;
};
/// The sample, and behind it the body beside it, unless that is in the sample or is none of the `count` bodies.
std::vector<int> targets_of(const ComparedBodies& compared, int count);
/// The first of targets_of(): those of the sample.
int sample_size(const ComparedBodies& compared, int count);

/// The values of the bodies at `targets`, from one per body.
std::vector<Vec4> entries(std::span<const Vec4> values, std::span<const int> targets);

/// |a - reference| / |reference| of each body of a sample, whose accelerations are `target_accelerations`; |a| itself
/// if the reference is zero.
std::vector<double> target_errors(std::span<const Vec4> target_accelerations, std::span<const Vec3d> reference);

/// target_errors() and the bodies that they are of. A body's may be infinite or NaN.
struct BodyErrors {
  std::vector<int> bodies;
  std::vector<double> errors;         ///< one for each of `bodies`
  std::vector<Vec4> accelerations{};  ///< likewise: those that were compared, without drag
  /// None if `body` is not among them.
  std::optional<double> of(int body) const;
  std::optional<Vec4> acceleration_of(int body) const;
};

/// |a - reference| / |reference| over a sample. Every field is NaN if any acceleration is not finite, so that no
/// comparison `error <= tolerance` passes.
struct ForceError {
  double rms, median, p99, max;
  int worst = -1;  ///< the body of `max`; the first that is not finite where there is one; -1: unknown
};
/// `accelerations` has one entry per body (ax, ay, az, unused), `reference` one for each of `targets`. A body whose
/// reference is zero (a body alone) counts as |a| itself.
ForceError force_error(std::span<const Vec4> accelerations, std::span<const int> targets,
                       std::span<const Vec3d> reference);

/// The same from the accelerations of the targets alone, one for each of `targets`; the other bodies' may be anything.
ForceError target_error(std::span<const Vec4> target_accelerations, std::span<const int> targets,
                        std::span<const Vec3d> reference);

}  // namespace orrery
