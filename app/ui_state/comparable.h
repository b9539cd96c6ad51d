#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "app/ui_state/status.h"

namespace orrery {

/// Returns the decade of the median force error: k for errors above 10^(k-1), up to 10^k. All errors up to 1e-5 have
/// class -5, because errors of fp32 direct sums lie on both sides of 1e-6. Returns none if the error is not known or
/// not finite.
inline std::optional<int> accuracy_class(const std::optional<ForceError>& error) {
  constexpr int full = -5;
  if (!error || !(error->median >= 0) || !std::isfinite(error->median)) return std::nullopt;
  if (error->median == 0) return full;
  return std::max(full, static_cast<int>(std::ceil(std::log10(error->median))));
}

/// Returns whether both rows have the same bodies and law, and were measured in the same way. The median of a sweep and
/// the best median of a shown run differ.
inline bool same_subject(const Result& a, const Result& b) {
  return a.swept == b.swept && a.scene == b.scene && a.count == b.count && a.law == b.law;
}

/// Returns whether one row can be the baseline of the other: same subject and same accuracy class.
inline bool comparable(const Result& a, const Result& b) {
  const std::optional<int> accuracy = accuracy_class(a.error);
  return same_subject(a, b) && accuracy && accuracy == accuracy_class(b.error);
}

/// Returns one sentence on why row `row` of `results` has no speed-up over a pinned row. Empty if it has one, or if no
/// row is pinned.
std::string why_no_speedup(std::span<const Result> results, std::size_t row);

}  // namespace orrery
