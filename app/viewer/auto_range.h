#pragma once

#include <vector>

#include "render/drawn_bodies.h"

namespace orrery {

/// The quantile `q` (0 to 1); 0 if there are no values. A rank between two values is rounded outward. Reorders
/// `values`.
float percentile(std::vector<float>& values, double q);

/// The percentiles 2 and 98 of the finite values. Never empty, so that equal values have a colour, too.
render::ValueRange range_of(std::vector<float> values);

/// A range that follows what is measured now and then: it grows at once, so that all values have a colour, also while
/// they grow fast, and shrinks within a quarter of a minute, so that a body keeps its colour.
class AutoRange {
 public:
  static constexpr double shrink_s = 15;  ///< time constant

  /// Jumps to `measured`.
  void restart(const render::ValueRange& measured) { shown_ = measured_ = measured; }
  /// From now on follows `measured`. Returns whether the range has grown.
  bool renew(const render::ValueRange& measured);
  /// Shrinks on by `passed_s` seconds, >= 0.
  void follow(double passed_s);
  const render::ValueRange& shown() const { return shown_; }
  const render::ValueRange& measured() const { return measured_; }

 private:
  render::ValueRange shown_, measured_;
};

}  // namespace orrery
