#include "app/lab/divergence/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

#include "compute/core/format_count.h"

namespace orrery {
namespace {

// Of the size: about eight units in the last place.
constexpr double floor_share = 0x1p-21, compensated_floor_share = 0x1p-45;
constexpr double ceiling_share = 0.1;    // of the size
constexpr double most_deviation = 0.35;  // of the logarithm, rms, of a law that fits
constexpr int most_begins = 24;          // that are tried

struct Line {
  double slope = 0, intercept = 0, deviation = 0;  // rms
};

/// Least squares of y over x.
template <class X, class Y>
Line fitted(std::span<const GrowthPoint> points, X x_of, Y y_of) {
  const auto count = static_cast<double>(points.size());
  double x_mean = 0, y_mean = 0, xx = 0, xy = 0, squares = 0;
  for (const GrowthPoint& p : points) {
    x_mean += x_of(p) / count;
    y_mean += y_of(p) / count;
  }
  for (const GrowthPoint& p : points) {
    xx += (x_of(p) - x_mean) * (x_of(p) - x_mean);
    xy += (x_of(p) - x_mean) * (y_of(p) - y_mean);
  }
  Line line{.slope = xy / xx};
  line.intercept = y_mean - line.slope * x_mean;
  for (const GrowthPoint& p : points) {
    const double off = y_of(p) - line.intercept - line.slope * x_of(p);
    squares += off * off;
  }
  line.deviation = std::sqrt(squares / count);
  return line;
}

double time_of(const GrowthPoint& p) {
  return p.time;
}
double log_time_of(const GrowthPoint& p) {
  return std::log(p.time);
}
double log_distance_of(const GrowthPoint& p) {
  return std::log(p.distance);
}

/// From the last point at the floor before the first one above the ceiling.
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

struct Phase {
  std::span<const GrowthPoint> points;
  Line line;
};

/// The longest end of the points that an exponential fits better than a power law, and nearly as well as its best end:
/// the beginning may be flat, or grow with a power of the time. None if a power law fits all ends better.
std::optional<Phase> exponential_phase(std::span<const GrowthPoint> points) {
  constexpr double nearly = 1.25;  // times the smallest deviation
  const double least_growth = std::sqrt(growth_factor(points));
  const std::size_t stride = std::max<std::size_t>(1, points.size() / most_begins);
  std::vector<Phase> phases;
  for (std::size_t begin = 0; begin < points.size() && enough(points.subspan(begin)); begin += stride) {
    const std::span<const GrowthPoint> rest = points.subspan(begin);
    if (!(growth_factor(rest) >= least_growth)) break;
    const Line line = fitted(rest, time_of, log_distance_of);
    const bool better = line.deviation < fitted(rest, log_time_of, log_distance_of).deviation;
    if (better && line.slope > 0 && line.deviation <= most_deviation) phases.push_back({rest, line});
  }
  if (phases.empty()) return std::nullopt;
  const auto deviation = [](const Phase& phase) { return phase.line.deviation; };
  const double best = std::ranges::min(phases, {}, deviation).line.deviation;
  return *std::ranges::find_if(phases, [&](const Phase& phase) { return phase.line.deviation <= nearly * best; });
}

void take_range(Growth& growth, std::span<const GrowthPoint> points) {
  growth.points = static_cast<int>(points.size());
  growth.factor = growth_factor(points);
  if (points.empty()) return;
  growth.begin = points.front().time;
  growth.end = points.back().time;
}

}  // namespace

Growth fit_growth(std::span<const GrowthPoint> all, double size, Digits digits) {
  const double least_share = digits == Digits::compensated ? compensated_floor_share : floor_share;
  Growth growth{.floor = least_share * size, .ceiling = ceiling_share * size};
  std::vector<GrowthPoint> points;
  std::ranges::copy_if(all, std::back_inserter(points),
                       [](const GrowthPoint& p) { return p.time > 0 && std::isfinite(p.distance); });
  const std::span<const GrowthPoint> part = growing_part(points, growth.floor, growth.ceiling);
  take_range(growth, part);
  if (!enough(part)) return growth;
  const Line power_of_all = fitted(part, log_time_of, log_distance_of);
  if (const std::optional<Phase> phase = exponential_phase(part)) {
    growth.kind = Growth::Kind::exponential;
    growth.e_folding_time = 1 / phase->line.slope;
    growth.at_zero = std::exp(phase->line.intercept);
    take_range(growth, phase->points);
    return growth;
  }
  growth.kind = power_of_all.deviation <= most_deviation ? Growth::Kind::power : Growth::Kind::irregular;
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
  return fmt::format("The median distance does not grow exponentially ({}, by a factor of {:.2g}).", range(),
                     growth.factor);
}

}  // namespace orrery
