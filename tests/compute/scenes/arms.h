#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace orrery::test {

inline double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// A body of a disc, in the disc's plane and in its scale lengths.
struct PlanePoint {
  double x, y;
};

/// About the densest point of the disc: the halo need not leave it at the origin.
inline PlanePoint centre_of(const std::vector<PlanePoint>& disc) {
  std::vector<double> x, y;
  for (const PlanePoint& p : disc) {
    x.push_back(p.x);
    y.push_back(p.y);
  }
  return {median(x), median(y)};
}

/// The amplitude of the waves of 2 to 4 arms between 1 and 3 scale lengths, relative to the mean density: the root of
/// the mean square over rings, without the share of shot noise.
inline double arm_amplitude(const std::vector<PlanePoint>& disc) {
  constexpr int rings = 8;
  double power = 0;
  const PlanePoint centre = centre_of(disc);
  double re[rings][3] = {}, im[rings][3] = {}, count[rings] = {};
  for (const PlanePoint& p : disc) {
    const double x = p.x - centre.x, y = p.y - centre.y;
    const int ring = static_cast<int>(std::floor((std::hypot(x, y) - 1) / 2 * rings));
    if (ring < 0 || ring >= rings) continue;
    ++count[ring];
    const double angle = std::atan2(y, x);
    for (int m = 2; m <= 4; ++m) {
      re[ring][m - 2] += std::cos(m * angle);
      im[ring][m - 2] += std::sin(m * angle);
    }
  }
  for (int ring = 0; ring < rings; ++ring) {
    for (int m = 0; m < 3; ++m) {
      const double sum_sq = re[ring][m] * re[ring][m] + im[ring][m] * im[ring][m];
      power += (sum_sq - count[ring]) / (count[ring] * count[ring]);
    }
  }
  return 2 * std::sqrt(std::max(power, 0.0) / rings);
}

}  // namespace orrery::test
