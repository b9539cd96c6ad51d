// Reference accelerations, and comparisons with a reference: errors, wrong digits, units in the last place.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/law.h"
#include "compute/core/vec.h"

namespace orrery {

/// Computes the accelerations of the bodies with the indices `targets`, without drag. Each is summed directly over all
/// bodies in double precision. `low`: low words of the coordinates, see DoubleFloat; empty: they have none. If
/// `cancelled` (may be null) gets set, returns early with meaningless values.
std::vector<Vec3d> reference_accelerations(std::span<const Vec4> bodies, std::span<const int> targets, const Law& law,
                                           const std::atomic<bool>* cancelled = nullptr,
                                           std::span<const Vec4> low = {});

/// Returns `size` different indices in [0, count), ascending; all indices if size >= count. Equal arguments give equal
/// indices. Each `turn` >= 0 gives another sample: any ceil(count / size) consecutive turns include every index.
std::vector<int> sample_targets(int count, int size, int turn = 0);

/// Selection of bodies that are compared with reference_accelerations().
struct ComparedBodies {
  static constexpr int nobody = -1;

  int sample = 0;     ///< size of the sample, see sample_targets(); 0: nothing is compared
  int turn = 0;       ///< turn of the sample, see sample_targets()
  int body = nobody;  ///< one more compared body; its error does not count in the statistics of the sample
  friend bool operator==(const ComparedBodies&, const ComparedBodies&) = default;
};
/// Returns the indices of the sample, then ComparedBodies::body, unless that is in the sample or not below `count`.
std::vector<int> targets_of(const ComparedBodies& compared, int count);
/// Returns how many of targets_of() belong to the sample. These come first.
int sample_size(const ComparedBodies& compared, int count);

/// Returns the entries of `values` (one per body) at the indices `targets`.
std::vector<Vec4> entries(std::span<const Vec4> values, std::span<const int> targets);

/// Returns |a - reference| / |reference| for each body of a sample, or |a| if the reference is zero.
/// `target_accelerations`: the accelerations a of these bodies.
std::vector<double> target_errors(std::span<const Vec4> target_accelerations, std::span<const Vec3d> reference);

/// Errors of single bodies, see target_errors(). An error may be infinite or NaN.
struct BodyErrors {
  std::vector<int> bodies;
  std::vector<double> errors;         ///< one error for each of `bodies`
  std::vector<Vec4> accelerations{};  ///< compared accelerations, one for each of `bodies`, without drag
  /// Returns the error of `body`; acceleration_of() returns its acceleration. Nothing if `body` is not among `bodies`.
  std::optional<double> of(int body) const;
  std::optional<Vec4> acceleration_of(int body) const;
};

/// Statistics of |a - reference| / |reference| over a sample. Every field is NaN if any acceleration is not finite, so
/// that no comparison `error <= tolerance` passes.
struct ForceError {
  double rms, median, p99, max;
  int worst = -1;  ///< the body with the error `max`, or the first that is not finite; -1: unknown
};
/// Computes the statistics. `accelerations` has one entry per body (ax, ay, az, unused), `reference` one for each of
/// `targets`. If the reference of a body is zero (a body alone), |a| itself counts.
ForceError force_error(std::span<const Vec4> accelerations, std::span<const int> targets,
                       std::span<const Vec3d> reference);

/// Computes the same statistics from the accelerations of the targets alone, one for each of `targets`.
ForceError target_error(std::span<const Vec4> target_accelerations, std::span<const int> targets,
                        std::span<const Vec3d> reference);

/// Digit test of a homework at the University of Thessaly (Vliora and Liaskonis, see docs/literature.md). It counts
/// coordinates by the first decimal digit in which they differ from those of a serial run.
struct WrongDigits {
  static constexpr int decimals = 7;
  static constexpr int none = decimals + 1;
  /// Numbers of coordinates that are wrong in the integer part [0], from decimal k on [k], or in none of these [none].
  std::array<std::int64_t, decimals + 2> counts{};
  std::int64_t not_finite = 0;  ///< coordinates in counts[0] whose difference is not finite
  double largest = 0;           ///< |difference|; NaN if any coordinate is not finite

  /// Returns whether the integer part and the first two decimals of every coordinate are right: the homework rejects
  /// errors up to the second decimal place.
  bool accepted() const { return counts[0] + counts[1] + counts[2] == 0; }
};

/// Returns 0 for |difference| >= 1 and for NaN, else the first k of 1 to 7 with |difference| >= 10^-k, else
/// WrongDigits::none.
int first_wrong_decimal(double difference);

/// Compares x, y and z of every body. Both arrays have one entry per body.
WrongDigits wrong_digits(std::span<const Vec4> positions, std::span<const Vec4> reference);

/// Returns the number of steps from `a` to `b` in the order of all finite floats; -0 and 0 count as one.
std::int64_t ulp_distance(float a, float b);

/// Histogram of the distances between components of accelerations and those of a reference, in units in the last place.
struct UlpHistogram {
  static constexpr int classes = 34;  ///< distances 0, 1, 2, 3 to 4, 5 to 8, ...: the last includes the largest
  std::array<std::int64_t, classes> counts{};  ///< number of components per class
  std::int64_t not_finite =
      0;  ///< components in no class: NaN, infinite, or with a reference beyond the range of float

  static int class_of(std::int64_t distance);
  /// Returns the minimum distance of a class; most() returns the maximum.
  static std::int64_t least(int index);
  static std::int64_t most(int index);
};

/// Returns the histogram for `targets`. `accelerations` has one entry per body (ax, ay, az, unused); `reference` has
/// one entry per target and is rounded to float first. A large distance can be harmless: if the terms of a component
/// cancel, the component is small, and so is its unit in the last place.
UlpHistogram ulp_histogram(std::span<const Vec4> accelerations, std::span<const int> targets,
                           std::span<const Vec3d> reference);

}  // namespace orrery
