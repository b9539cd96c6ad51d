#pragma once

#include <vector>

namespace orrery {

/// Of measurements in any order; every field is NaN for none.
struct Summary {
  double median = 0, min = 0;
  /// The order statistics between which the true median lies with at least 95% probability, whatever the distribution;
  /// NaN where there are fewer than 6 measurements and none do.
  double low = 0, high = 0;
};
Summary summarize(std::vector<double> values);

/// The median; 0 of none.
double median(std::vector<double> values);

}  // namespace orrery
