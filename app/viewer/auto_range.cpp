#include "app/viewer/auto_range.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace orrery {
namespace {

/// In the logarithm where there is one: a range of several decades shrinks evenly.
float moved(float from, float to, double share) {
  if (!(from > 0) || !(to > 0)) return static_cast<float>(from + share * (to - from));
  return static_cast<float>(from * std::pow(double{to} / from, share));
}

}  // namespace

float percentile(std::vector<float>& values, double q) {
  if (values.empty()) return 0;
  const double rank = q * static_cast<double>(values.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(q < 0.5 ? std::floor(rank) : std::ceil(rank));
  if (at == 0) return *std::ranges::min_element(values);  // one pass, for all bodies of a large scene
  if (at == std::ssize(values) - 1) return *std::ranges::max_element(values);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

render::ValueRange range_of(std::vector<float> values) {
  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  render::ValueRange range{percentile(values, 0.02), percentile(values, 0.98)};
  if (!(range.high > range.low)) range.low = range.high * 0.5f;
  if (!(range.high > range.low)) range.high = range.low + 1.0f;
  return range;
}

bool AutoRange::renew(const render::ValueRange& measured) {
  const render::ValueRange before = shown_;
  measured_ = measured;
  shown_ = {std::min(shown_.low, measured.low), std::max(shown_.high, measured.high)};
  return shown_.low < before.low || shown_.high > before.high;
}

void AutoRange::follow(double passed_s) {
  const double share = 1 - std::exp(-passed_s / shrink_s);
  shown_.low = moved(shown_.low, measured_.low, share);
  shown_.high = moved(shown_.high, measured_.high, share);
}

}  // namespace orrery
