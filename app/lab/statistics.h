#pragma once

#include <vector>

namespace orrery {

/// A summary of measurements in any order; every field is NaN if there are none.
struct Summary {
  double median = 0, min = 0;
  /// The order statistics between which the true median lies with at least 95 % probability, for any distribution. NaN
  /// with fewer than 6 measurements: there are none.
  double low = 0, high = 0;
};
Summary summarize(std::vector<double> values);

/// The median; 0 if there are no values.
double median(std::vector<double> values);

}  // namespace orrery
