#include "app/lab/divergence/distances.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "app/lab/statistics.h"

namespace orrery {

std::vector<float> distances_of(std::span<const Vec4> a, std::span<const Vec4> b) {
  std::vector<float> distances(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    // In double, so that small differences have squares.
    const double x = double{a[i].x} - double{b[i].x}, y = double{a[i].y} - double{b[i].y},
                 z = double{a[i].z} - double{b[i].z};
    distances[i] = static_cast<float>(std::sqrt(x * x + y * y + z * z));
  }
  return distances;
}

Distances summary_of(std::span<const float> distances) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (distances.empty()) return {};
  const auto bad = std::ranges::find_if(distances, [](float distance) { return !std::isfinite(distance); });
  if (bad != distances.end()) return {none, none, none, static_cast<int>(bad - distances.begin())};
  double squares = 0;
  for (const float distance : distances) squares += double{distance} * double{distance};
  return {.rms = std::sqrt(squares / static_cast<double>(distances.size())),
          .median = median({distances.begin(), distances.end()}),
          .greatest = *std::ranges::max_element(distances)};
}

double median_radius(std::span<const Vec4> positions) {
  if (positions.empty()) return 0;
  Vec3d mean;
  const auto count = static_cast<double>(positions.size());
  for (const Vec4& p : positions) mean = {mean.x + p.x / count, mean.y + p.y / count, mean.z + p.z / count};
  std::vector<double> radii;
  radii.reserve(positions.size());
  for (const Vec4& p : positions) radii.push_back(std::hypot(p.x - mean.x, p.y - mean.y, p.z - mean.z));
  if (!std::ranges::all_of(radii, [](double radius) { return std::isfinite(radius); })) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return median(std::move(radii));
}

}  // namespace orrery
