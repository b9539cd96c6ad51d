// Statistics of measured times: median and interval, ranks, and Pareto front.
#include "app/lab/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compute/core/text.h"

namespace orrery {
namespace {

/// Returns how many of `count` sorted values can be cut off at each end. The rest then encloses the median with 95 %
/// probability. The number of values below the median is binomial with p = 1/2. Returns -1 if all values are too few.
int cut(int count) {
  double tail = 0;
  for (int below = 0; below <= count / 2; ++below) {
    tail += std::exp(std::lgamma(count + 1.0) - std::lgamma(below + 1.0) - std::lgamma(count - below + 1.0) -
                     count * std::log(2.0));
    if (!(tail <= 0.025)) return below - 1;
  }
  return count / 2 - 1;
}

bool has_interval(const Summary& time) {
  return std::isfinite(time.low) && std::isfinite(time.high);
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

std::vector<Rank> ranks(std::span<const Summary> times) {
  std::vector<Rank> result(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!has_interval(times[i])) continue;
    result[i] = {.first = 1, .last = 0};
    for (const Summary& other : times) {
      if (!has_interval(other)) continue;
      if (other.high < times[i].low) ++result[i].first;
      if (other.low <= times[i].high) ++result[i].last;  // this also counts times[i] itself
    }
  }
  return result;
}

std::string to_string(Rank rank) {
  if (rank.first == 0) return "-";
  return rank.first == rank.last ? fmt::format("{}", rank.first) : fmt::format("{}-{}", rank.first, rank.last);
}

std::vector<std::size_t> pareto_front(std::span<const SpeedError> points) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (std::isfinite(points[i].error) && std::isfinite(points[i].rate)) order.push_back(i);
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const SpeedError &p = points[a], &q = points[b];
    if (p.error != q.error) return p.error < q.error;
    return p.rate != q.rate ? p.rate > q.rate : a < b;
  });
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    const bool faster = front.empty() || points[i].rate > points[front.back()].rate;
    const bool equal =
        !front.empty() && points[i].rate == points[front.back()].rate && points[i].error == points[front.back()].error;
    if (faster || equal) front.push_back(i);
  }
  return front;
}

namespace {

std::string share_of_total(std::int64_t count, std::int64_t total) {
  const double percent = 100.0 * static_cast<double>(count) / static_cast<double>(total);
  if (count == total) return "100%";
  if (percent < 0.1) return "<0.1%";
  if (percent > 99.9) return ">99.9%";
  return fmt::format("{:.1f}%", percent);
}

std::string class_name(std::int64_t least, std::int64_t most) {
  return least == most ? fmt::format("{}", least) : fmt::format("{}-{}", least, most);
}

}  // namespace

Distribution distribution(const UlpHistogram& ulps) {
  const auto filled = [](std::int64_t count) { return count > 0; };
  const auto end = std::find_if(ulps.counts.rbegin(), ulps.counts.rend(), filled).base();
  Distribution result;
  for (auto count = ulps.counts.begin(); count != end; ++count) {
    const int index = static_cast<int>(count - ulps.counts.begin());
    result.classes.push_back({class_name(UlpHistogram::least(index), UlpHistogram::most(index)), *count});
  }
  if (ulps.not_finite > 0) result.classes.push_back({"not finite", ulps.not_finite});
  return result;
}

Distribution distribution(const WrongDigits& digits) {
  constexpr std::array<const char*, WrongDigits::decimals + 2> names{"integer part", "1st decimal", "2nd decimal",
                                                                     "3rd decimal",  "4th decimal", "5th decimal",
                                                                     "6th decimal",  "7th decimal", "none"};
  Distribution result;
  for (std::size_t i = 0; i < names.size(); ++i) result.classes.push_back({names[i], digits.counts[i]});
  return result;
}

std::string to_text(const Distribution& distribution) {
  std::int64_t total = 0;
  for (const auto& part : distribution.classes) total += part.count;
  std::string text;
  for (const auto& part : distribution.classes) {
    if (part.count == 0) continue;
    text += fmt::format("{}{}: {} ({})", text.empty() ? "" : ", ", part.name, format_count(part.count),
                        share_of_total(part.count, total));
  }
  return text.empty() ? "-" : text;
}

std::string to_csv(const Distribution& distribution) {
  std::string text;
  for (const auto& part : distribution.classes) {
    if (part.count == 0) continue;
    std::string name = part.name;
    std::ranges::replace(name, ' ', '_');
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", name, part.count);
  }
  return text;
}

Json to_json(const Distribution& distribution) {
  Json json = Json::object();
  for (const auto& part : distribution.classes) json[part.name] = part.count;
  return json;
}

}  // namespace orrery
