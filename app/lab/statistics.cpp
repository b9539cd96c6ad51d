#include "app/lab/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {
namespace {

/// How many of `count` sorted values can be cut off at each end so that the rest encloses the median with 95 %: the
/// number of values below the median is binomial with p = 1/2. -1 if even all values do not.
int cut(int count) {
  double tail = 0;
  for (int below = 0; below <= count / 2; ++below) {
    tail += std::exp(std::lgamma(count + 1.0) - std::lgamma(below + 1.0) - std::lgamma(count - below + 1.0) -
                     count * std::log(2.0));
    if (!(tail <= 0.025)) return below - 1;
  }
  return count / 2 - 1;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Summary summarize(std::vector<double> values) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {none, none, none, none};
  std::ranges::sort(values);
  const std::size_t size = values.size();
  Summary summary{.median = median(values), .min = values.front(), .low = none, .high = none};
  if (const int ends = cut(static_cast<int>(size)); ends >= 0) {
    summary.low = values[static_cast<std::size_t>(ends)];
    summary.high = values[size - 1 - static_cast<std::size_t>(ends)];
  }
  return summary;
}

}  // namespace orrery
