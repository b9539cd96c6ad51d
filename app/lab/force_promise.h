#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "compute/diagnostics/reference.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Accelerations of some bodies in double precision: the reference for a kernel's.
class ForceSample {
 public:
  static constexpr int usual_size = 4096;
  /// Samples `size` bodies, or all if there are fewer.
  ForceSample(std::span<const Vec4> bodies, const Law& law, int size = usual_size);
  /// The bodies of the sample.
  std::span<const int> targets() const { return targets_; }
  /// Their accelerations, one for each of targets().
  std::span<const Vec3d> reference() const { return reference_; }
  int size() const { return static_cast<int>(targets_.size()); }
  /// The time that the sum took.
  double seconds() const { return seconds_; }
  /// `accelerations` has one entry for each of the bodies.
  ForceError error(std::span<const Vec4> accelerations) const {
    return force_error(accelerations, targets_, reference_);
  }
  /// The error if only these bodies were evaluated: the accelerations of others may be anything.
  ForceError error_of_these(std::span<const Vec4> accelerations) const {
    return target_error(entries(accelerations, targets_), targets_, reference_);
  }
  UlpHistogram ulps(std::span<const Vec4> accelerations) const {
    return ulp_histogram(accelerations, targets_, reference_);
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<int> targets_;
  std::vector<Vec3d> reference_;
  double seconds_;
};

/// The errors |da|/|a| over a sample at which a promise would break if the errors of all bodies grew by one factor.
struct AllowedError {
  double median, p99, max;
};

/// The errors of a kernel over a sample, and whether they are what the kernel promises.
struct ForceVerdict {
  ForceError error;
  AllowedError allowed;
  std::string failure{};  ///< empty: the promise holds; otherwise one line that says which error exceeds which limit
};

/// Limits that kernels promise for the errors of the forces of one system. An error of rounding or of a cell is
/// proportional to the terms that are summed, but does not cancel as they do. So every limit is a fraction of the sum
/// of the sizes of all terms, not of |a|: where the net force is small, |da|/|a| may be large. docs/usage/verify.md
/// derives the limits.
class ForcePromise {
 public:
  /// Sums the sizes of the terms of the bodies in the sample over all bodies, in double precision.
  ForcePromise(std::span<const Vec4> bodies, const ForceSample& sample, const Law& law);

  /// Judges the errors of the sample's bodies. `accelerations` has one entry for each of the bodies. If `sample_only`,
  /// those of bodies outside the sample may be anything; otherwise all must be finite.
  ForceVerdict judge(const KernelInfo& kernel, const Settings& settings, std::span<const Vec4> accelerations,
                     bool sample_only = false) const;

 private:
  /// Sizes of the terms m |d| (1 + H / R^2) / R^3 of one body, R^2 = d^2 + eps^2, in units of acceleration.
  struct TermSizes {
    double pull = 0;           ///< |a|
    double all = 0;            ///< their sum, at least |a|
    double far_repulsion = 0;  ///< sum of H m |d| / R^5 over all but the nearest bodies, which trees meet one by one
    double lost = 0;           ///< what sums in float may lose of terms whose roundings go in one direction
  };
  /// The largest |da| of one body that is usual, and that no body exceeds.
  struct Limit {
    double usual, largest;
  };
  static TermSizes sizes_at(std::span<const Vec4> bodies, int target, const Law& law, double repeated,
                            std::vector<float>& terms, std::vector<float>& repulsions);
  Limit limit(const KernelInfo& kernel, const Settings& settings, const TermSizes& sizes) const;

  const ForceSample& sample_;
  double count_;  ///< of all bodies
  std::vector<TermSizes> sizes_;
};

/// A line that says which setting has no effect under the law, such as expansions under attract-repel; empty if all
/// settings count.
std::string law_note(const KernelInfo& kernel, const Settings& settings, LawId law);

}  // namespace orrery
