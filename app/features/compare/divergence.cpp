// Distances between two runs of the same bodies, and how they grow.
#include "app/features/compare/divergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "app/lab/statistics.h"
#include "compute/core/text.h"
#include "compute/core/vec.h"

namespace orrery {
namespace {

/// Returns the distance. Computes in double, where the squares of small differences do not underflow.
float distance(const Vec3d& a, const Vec3d& b) {
  const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return static_cast<float>(std::sqrt(x * x + y * y + z * z));
}

// Growth::floor as a fraction of the system's size: about eight units in the last place.
constexpr double floor_share = 0x1p-21, compensated_floor_share = 0x1p-45;
constexpr double ceiling_share = 0.1;  // Growth::ceiling as a fraction of the system's size

// A law fits if the rms deviation of the logarithm is at most most_deviation, or at most this share of the logarithm's
// growth. For long growth, this share corresponds to R^2 = 0.95.
constexpr double most_deviation = 0.35, most_deviation_share = 0.06;
constexpr std::size_t most_ends = 24;  // number of beginnings and of ends of the exponential phase to try

struct Line {
  double slope = 0, intercept = 0, deviation = 0;  // deviation: rms
};

/// Least-squares lines for the logarithm of the distance over the time or its logarithm. Prefix sums of all moments up
/// to the second give the line for any range of points in constant time.
class Fits {
 public:
  Fits(std::span<const GrowthPoint> points, bool over_log_time) : sums_(points.size() + 1) {
    for (const GrowthPoint& p : points) {
      x_mean_ += x_of(p, over_log_time) / static_cast<double>(points.size());
      y_mean_ += std::log(p.distance) / static_cast<double>(points.size());
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double x = x_of(points[i], over_log_time) - x_mean_, y = std::log(points[i].distance) - y_mean_;
      const Sums& before = sums_[i];
      sums_[i + 1] = {before.x + x, before.y + y, before.xx + x * x, before.xy + x * y, before.yy + y * y};
    }
  }
  /// Returns the line through the points in [begin, end), two or more.
  Line line(std::size_t begin, std::size_t end) const {
    const Sums &a = sums_[begin], &b = sums_[end];
    const auto count = static_cast<double>(end - begin);
    const double x = (b.x - a.x) / count, y = (b.y - a.y) / count;
    const double xx = b.xx - a.xx - count * x * x, xy = b.xy - a.xy - count * x * y;
    const double yy = b.yy - a.yy - count * y * y, slope = xy / xx;
    return {.slope = slope,
            .intercept = y + y_mean_ - slope * (x + x_mean_),
            .deviation = std::sqrt(std::max(0.0, yy - slope * xy) / count)};
  }

 private:
  struct Sums {
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  };
  static double x_of(const GrowthPoint& p, bool over_log_time) { return over_log_time ? std::log(p.time) : p.time; }

  double x_mean_ = 0, y_mean_ = 0;  // subtracted from all points, so that the sums lose fewer digits
  std::vector<Sums> sums_;
};

/// Returns the points after the last one at or below the floor, up to the first one above the ceiling.
std::span<const GrowthPoint> growing_part(std::span<const GrowthPoint> points, double floor, double ceiling) {
  const auto end = std::ranges::find_if(points, [&](const GrowthPoint& p) { return p.distance > ceiling; });
  auto begin = end;
  while (begin != points.begin() && (begin - 1)->distance > floor) --begin;
  return {begin, end};
}

double growth_factor(std::span<const GrowthPoint> points) {
  return points.empty() ? 1 : points.back().distance / points.front().distance;
}

bool enough(std::span<const GrowthPoint> points) {
  return static_cast<int>(points.size()) >= Growth::points_least && growth_factor(points) >= Growth::growth_least;
}

/// Returns whether the points deviate little enough from the line that it describes them.
bool fits(const Line& line, std::span<const GrowthPoint> points) {
  return line.deviation <= std::max(most_deviation, most_deviation_share * std::log(growth_factor(points)));
}

struct Phase {
  std::span<const GrowthPoint> points;
  Line line;
};

/// Returns the exponential phase of the points; none if no part of them qualifies. An exponential must fit the part
/// better than a power law does. The part must have at least half of the logarithm's growth. Among the parts whose
/// deviation relative to the growth is nearly the smallest, returns the one with the most growth.
std::optional<Phase> exponential_phase(std::span<const GrowthPoint> points, const Fits& exponential,
                                       const Fits& power) {
  constexpr double nearly = 1.25, as_good_as_none = 0.001;  // factor of the smallest; share of the growth
  const double least_growth = std::sqrt(growth_factor(points));
  const std::size_t stride = std::max<std::size_t>(1, points.size() / most_ends);
  std::vector<Phase> phases;
  for (std::size_t begin = 0; begin < points.size(); begin += stride) {
    for (std::size_t left_out = 0; begin + left_out < points.size(); left_out += stride) {
      const std::size_t end = points.size() - left_out;
      const std::span<const GrowthPoint> part = points.subspan(begin, end - begin);
      if (!enough(part)) continue;
      const Line line = exponential.line(begin, end);
      const bool better = line.deviation < power.line(begin, end).deviation;
      const bool grows = growth_factor(part) >= least_growth && line.slope > 0;
      if (better && grows && fits(line, part)) phases.push_back({part, line});
    }
  }
  if (phases.empty()) return std::nullopt;
  const auto unevenness = [](const Phase& phase) {
    return phase.line.deviation / std::log(growth_factor(phase.points));
  };
  const double best = unevenness(*std::ranges::min_element(phases, {}, unevenness));
  std::erase_if(phases,
                [&](const Phase& phase) { return unevenness(phase) > std::max(nearly * best, as_good_as_none); });
  return *std::ranges::max_element(phases, {}, [](const Phase& phase) { return growth_factor(phase.points); });
}

void take_range(Growth& growth, std::span<const GrowthPoint> points) {
  growth.points = static_cast<int>(points.size());
  growth.factor = growth_factor(points);
  if (points.empty()) return;
  growth.begin = points.front().time;
  growth.end = points.back().time;
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

Growth fit_growth(std::span<const GrowthPoint> all, double size, Digits digits) {
  const double least_share = digits == Digits::compensated ? compensated_floor_share : floor_share;
  Growth growth{.floor = least_share * size, .ceiling = ceiling_share * size};
  std::vector<GrowthPoint> points;
  std::ranges::copy_if(all, std::back_inserter(points),
                       [](const GrowthPoint& p) { return p.time > 0 && std::isfinite(p.distance); });
  const std::span<const GrowthPoint> part = growing_part(points, growth.floor, growth.ceiling);
  take_range(growth, part);
  if (!enough(part)) return growth;
  const Fits exponential{part, /*over_log_time=*/false}, power{part, /*over_log_time=*/true};
  if (const std::optional<Phase> phase = exponential_phase(part, exponential, power)) {
    growth.kind = Growth::Kind::exponential;
    growth.e_folding_time = 1 / phase->line.slope;
    growth.at_zero = std::exp(phase->line.intercept);
    take_range(growth, phase->points);
    return growth;
  }
  const Line power_of_all = power.line(0, part.size());
  growth.kind = fits(power_of_all, part) ? Growth::Kind::power : Growth::Kind::irregular;
  growth.exponent = power_of_all.slope;
  return growth;
}

std::string growth_words(const Growth& growth) {
  const auto range = [&] {
    return fmt::format("t = {:.4g} to {:.4g}, {}", growth.begin, growth.end, counted(growth.points, "sample"));
  };
  const auto bounds = [&] { return fmt::format("{:.2g} and {:.2g}", growth.floor, growth.ceiling); };
  switch (growth.kind) {
    case Growth::Kind::identical:
      return "The runs are identical: no body is apart in any sample.";
    case Growth::Kind::too_few:
      return growth.points < Growth::points_least
                 ? fmt::format(
                       "Too few samples for an e-folding time: it needs {} whose median distance is between {} "
                       "(rounding, and a tenth of the system's size), and has {}.",
                       Growth::points_least, bounds(), growth.points)
                 : fmt::format(
                       "The runs {}: an e-folding time is known once the median distance has grown {:.2g} times. "
                       "Until now: {:.2g} times ({}).",
                       growth.factor > 1 ? "hardly part" : "do not part", Growth::growth_least, growth.factor, range());
    case Growth::Kind::exponential:
      return fmt::format("The median distance grows exponentially: e-folding time {:.3g} ({}, by a factor of {:.2g}).",
                         growth.e_folding_time, range(), growth.factor);
    case Growth::Kind::power:
      return fmt::format(
          "The median distance does not grow exponentially: it follows t^{:.2g} ({}, by a factor of "
          "{:.2g}).",
          growth.exponent, range(), growth.factor);
    case Growth::Kind::irregular:
      break;
  }
  return fmt::format(
      "No e-folding time: the growth of the median distance is too uneven for an exponential or a power law ({}, by a "
      "factor of {:.2g}).",
      range(), growth.factor);
}

Growth growth_of(const std::vector<DivergenceSample>& samples, double size, Digits digits) {
  std::vector<GrowthPoint> points;
  points.reserve(samples.size());
  for (const DivergenceSample& sample : samples) points.push_back({sample.time, sample.distances.median});
  Growth growth = fit_growth(points, size, digits);
  const auto together = [](const DivergenceSample& sample) { return sample.distances.greatest == 0; };
  if (samples.size() > 1 && std::ranges::all_of(samples, together)) growth.kind = Growth::Kind::identical;
  return growth;
}

}  // namespace orrery
