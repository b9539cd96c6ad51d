#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/lab/force_sample.h"

namespace orrery {

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
