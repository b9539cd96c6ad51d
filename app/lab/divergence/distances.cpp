#include "app/lab/divergence/distances.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "app/lab/statistics.h"
#include "compute/core/low_words.h"

namespace orrery {

namespace {

/// In double, so that small differences have squares.
float distance(const Vec3d& a, const Vec3d& b) {
  const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return static_cast<float>(std::sqrt(x * x + y * y + z * z));
}

}  // namespace

std::vector<float> distances_of(std::span<const Vec4> a, std::span<const Vec4> b) {
  std::vector<float> distances(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    distances[i] = distance(joined<double>(a[i], {}), joined<double>(b[i], {}));
  }
  return distances;
}

std::vector<float> distances_of(const Bodies& a, const Bodies& b) {
  if (a.digits() == Digits::single) return distances_of(a.positions, b.positions);
  std::vector<float> distances(a.positions.size());
  for (std::size_t i = 0; i < distances.size(); ++i) {
    distances[i] = distance(joined<double>(a.positions[i], a.positions_low[i]),
                            joined<double>(b.positions[i], b.positions_low[i]));
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
