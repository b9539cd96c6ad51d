#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "app/ui_state/status.h"

namespace orrery {

/// The decade of the median force error: k stands for errors above 10^(k-1), up to 10^k. Up to 1e-5 all are one class,
/// -5: direct sums in single precision lie on both sides of 1e-6. None while the error is not known, or if it is not
/// finite.
inline std::optional<int> accuracy_class(const std::optional<ForceError>& error) {
  constexpr int full = -5;
  if (!error || !(error->median >= 0) || !std::isfinite(error->median)) return std::nullopt;
  if (error->median == 0) return full;
  return std::max(full, static_cast<int>(std::ceil(std::log10(error->median))));
}

/// Whether both are of the same bodies under the same law, measured in the same way (a sweep's median is another
/// measure than the best median of a shown run).
inline bool same_subject(const Result& a, const Result& b) {
  return a.swept == b.swept && a.scene == b.scene && a.count == b.count && a.law == b.law;
}

/// Whether one is a baseline for the other: the same subject, as accurate.
inline bool comparable(const Result& a, const Result& b) {
  const std::optional<int> accuracy = accuracy_class(a.error);
  return same_subject(a, b) && accuracy && accuracy == accuracy_class(b.error);
}

/// Why row `row` of `results` has no speed-up over a row that is pinned: one sentence. Empty if it has one, or if no
/// row is pinned.
std::string why_no_speedup(std::span<const Result> results, std::size_t row);

}  // namespace orrery
