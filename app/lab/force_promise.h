#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "compute/diagnostics/reference.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Accelerations of sampled bodies in double precision: the reference for kernels.
class ForceSample {
 public:
  static constexpr int usual_size = 4096;
  /// Samples `size` bodies, or all if there are fewer.
  ForceSample(std::span<const Vec4> bodies, const Law& law, int size = usual_size);
  /// Returns the indices of the sampled bodies.
  std::span<const int> targets() const { return targets_; }
  /// Returns the reference accelerations, one for each of targets().
  std::span<const Vec3d> reference() const { return reference_; }
  int size() const { return static_cast<int>(targets_.size()); }
  /// Returns how long the reference sums took, in s.
  double seconds() const { return seconds_; }
  /// Returns the error of `accelerations`, which has one entry for every body of the system.
  ForceError error(std::span<const Vec4> accelerations) const {
    return force_error(accelerations, targets_, reference_);
  }
  /// Returns the error if only the sampled bodies were evaluated. The accelerations of other bodies are ignored.
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

/// Errors |da|/|a| over a sample at which a promise would break, if all errors grew by one common factor.
struct AllowedError {
  double median, p99, max;
};

/// Errors of a kernel over a sample, and whether the kernel's promise holds.
struct ForceVerdict {
  ForceError error;
  AllowedError allowed;
  std::string failure{};  ///< empty: the promise holds; otherwise one line that names the error and its limit
};

/// Limits that kernels promise for the force errors of one system. Errors of rounding and of cells are proportional to
/// the terms of a sum, but do not cancel as the terms do. Each limit is therefore a fraction of the sum of the terms'
/// magnitudes, not of |a|: if the net force is small, |da|/|a| may be large. docs/usage/verify.md derives the limits.
class ForcePromise {
 public:
  /// Sums the magnitudes of the terms of each sampled body over all bodies, in double precision.
  ForcePromise(std::span<const Vec4> bodies, const ForceSample& sample, const Law& law);

  /// Judges the errors of the sampled bodies. `accelerations` has one entry for every body. All entries must be finite;
  /// with `sample_only`, entries outside the sample are ignored.
  ForceVerdict judge(const KernelInfo& kernel, const Settings& settings, std::span<const Vec4> accelerations,
                     bool sample_only = false) const;

 private:
  /// Magnitudes of the terms m |d| (1 + H / R^2) / R^3 of one body, R^2 = d^2 + eps^2, in units of acceleration.
  struct TermSizes {
    double pull = 0;           ///< |a|
    double all = 0;            ///< sum of all magnitudes, at least |a|
    double far_repulsion = 0;  ///< sum of H m |d| / R^5, without the nearest bodies, which trees sum directly
    double lost = 0;           ///< maximum loss of float sums from terms that round in one direction
  };
  /// Limits of |da| for one body: the usual one, and the one that no body may exceed.
  struct Limit {
    double usual, largest;
  };
  static TermSizes sizes_at(std::span<const Vec4> bodies, int target, const Law& law, double repeated,
                            std::vector<float>& terms, std::vector<float>& repulsions);
  Limit limit(const KernelInfo& kernel, const Settings& settings, const TermSizes& sizes) const;

  const ForceSample& sample_;
  double count_;  ///< number of all bodies
  std::vector<TermSizes> sizes_;
};

/// Returns a line that names the setting without effect under the law, such as expansions under attract-repel. Empty if
/// all settings have an effect.
std::string law_note(const KernelInfo& kernel, const Settings& settings, LawId law);

}  // namespace orrery
