// Time per step over force error, both logarithmic.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/lab/statistics.h"
#include "app/report/figure.h"
#include "app/report/label_places.h"
#include "app/report/plots.h"

namespace orrery {
namespace {

constexpr double front_height = 430;

bool has_place(const ReportRow& row) {
  return row.median_ms > 0 && std::isfinite(row.median_ms) && row.error_median > 0 && std::isfinite(row.error_median);
}

struct Dots {
  std::vector<ReportRow> rows;
  std::vector<std::size_t> front;  // from the most accurate to the fastest

  bool in_front(std::size_t i) const { return std::ranges::find(front, i) != front.end(); }
};

Dots dots_of(const ReportGroup& group) {
  Dots dots;
  std::ranges::copy_if(group.rows, std::back_inserter(dots.rows), has_place);
  std::vector<SpeedError> points;
  for (const ReportRow& row : dots.rows) points.push_back({row.error_median, 1 / row.median_ms});
  dots.front = pareto_front(points);
  return dots;
}

SvgPlot plot_of(const std::vector<ReportRow>& rows) {
  const auto [least_error, most_error] = std::ranges::minmax(rows, {}, &ReportRow::error_median);
  const auto [least_ms, most_ms] = std::ranges::minmax(rows, {}, &ReportRow::median_ms);
  return {.left = 78,
          .top = 12,
          .right = plot_width - 12,
          .bottom = front_height - 48,
          .across = log_scale(least_error.error_median, most_error.error_median, true),
          .up = log_scale(least_ms.median_ms, most_ms.median_ms, false)};
}

/// The stairs that separate what the front reaches from what it does not.
void draw_front(Svg& svg, const Dots& dots, const std::vector<SvgPoint>& points) {
  std::vector<SvgPoint> stairs;
  for (const std::size_t i : dots.front) {
    if (!stairs.empty()) stairs.push_back({points[i].x, stairs.back().y});
    stairs.push_back(points[i]);
  }
  if (stairs.size() > 1) svg.polyline(stairs, "front");
}

void draw_mark(Svg& svg, const ReportRow& row, SvgPoint at, bool in_front) {
  const std::string style = fmt::format("{}{}", row.on_gpu ? "gpu" : "cpu", in_front ? "" : " hollow");
  if (row.on_gpu) {
    svg.circle(at, 5, style);
  } else {
    svg.rectangle({at.x - 4.5, at.y - 4.5}, 9, 9, style);
  }
}

/// Draws the names that have room, those of the front first. Returns how many have none.
std::size_t draw_names(Svg& svg, const SvgPlot& plot, const Dots& dots, const std::vector<SvgPoint>& points) {
  std::vector<std::size_t> order = dots.front;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!dots.in_front(i)) order.push_back(i);
  }
  std::vector<SvgPoint> at;
  std::vector<std::string> names;
  for (const std::size_t i : order) {
    at.push_back(points[i]);
    names.push_back(dots.rows[i].name());
  }
  const auto places = label_places(plot, at, names);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!places[i]) continue;
    const double text = Svg::text_width(names[i]);
    const SvgPoint end{std::clamp(at[i].x, places[i]->at.x, places[i]->at.x + text), places[i]->at.y - 4};
    if (places[i]->far) svg.line(at[i], end, "leader");
    svg.text(places[i]->at, names[i], dots.in_front(order[i]) ? "name strong" : "name");
  }
  return static_cast<std::size_t>(std::ranges::count_if(places, [](const auto& place) { return !place; }));
}

std::string key_of(const Dots& dots) {
  const auto on_gpu = std::ranges::count(dots.rows, true, &ReportRow::on_gpu);
  if (on_gpu == std::ssize(dots.rows)) return "Circles are kernels on the GPU";
  return on_gpu > 0 ? "Squares are kernels on the CPU, circles are kernels on the GPU"
                    : "Squares are kernels on the CPU";
}

const char* front_words(const Dots& dots) {
  if (dots.rows.size() == 1) return "With one result alone there is nothing to compare.";
  if (dots.front.size() == 1) return "The filled mark is both the fastest and the most accurate.";
  return "Filled marks on the dashed line are the Pareto front: no other result is at least as good in both and better "
         "in one.";
}

}  // namespace

std::string speed_error_figure(const ReportGroup& group) {
  constexpr const char* reason = "the time or the force error is not a positive number, or was not measured";
  const Dots dots = dots_of(group);
  const std::size_t missing = group.rows.size() - dots.rows.size();
  if (dots.rows.empty()) {
    return paragraph_of("There is no plot of speed over accuracy: no result has both a time and a force error.");
  }
  const SvgPlot plot = plot_of(dots.rows);
  Svg svg{plot_width, front_height, "Time per step over median force error, " + group.title};
  plot.draw_up(svg, "time per step (ms)");
  plot.draw_across(svg, "median force error |\u0394a|/|a|");
  std::vector<SvgPoint> points;
  for (const ReportRow& row : dots.rows) points.push_back(plot.at(row.error_median, row.median_ms));
  draw_front(svg, dots, points);
  const std::size_t unnamed = draw_names(svg, plot, dots, points);
  for (std::size_t i = 0; i < points.size(); ++i) draw_mark(svg, dots.rows[i], points[i], dots.in_front(i));
  std::string caption = fmt::format(
      "Speed over accuracy, {}. Lower is faster, further left is more accurate, and both axes are logarithmic. {}. {}",
      group.title, key_of(dots), front_words(dots));
  if (unnamed > 0) caption += fmt::format(" {} marks have no name, for want of room; the table has all.", unnamed);
  caption += left_out(missing, group.rows.size(), "results", reason);
  return figure(std::move(svg).finish(), caption);
}

}  // namespace orrery
