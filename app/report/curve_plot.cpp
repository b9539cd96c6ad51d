// What changed while a window ran.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/report/figure.h"
#include "app/report/html.h"
#include "app/report/plots.h"
#include "app/report/svg.h"

namespace orrery {
namespace {

constexpr double curve_height = 300;
using Point = std::pair<double, double>;

bool is_finite(const Point& point) {
  return std::isfinite(point.first) && std::isfinite(point.second);
}

}  // namespace

std::string curve_figure(const ReportCurve& curve) {
  std::vector<Point> points;
  std::ranges::copy_if(curve.points, std::back_inserter(points), is_finite);
  const std::string title = fmt::format("<h3>{}</h3>\n", html(curve.title));
  if (points.empty()) return title + paragraph_of(curve.missing);
  const auto [left, right] = std::ranges::minmax(points, {}, &Point::first);
  const auto [low, high] = std::ranges::minmax(points, {}, &Point::second);
  const SvgPlot plot{.left = 96,
                     .top = 12,
                     .right = plot_width - 16,
                     .bottom = curve_height - 48,
                     .across = linear_scale(left.first, right.first),
                     .up = linear_scale(std::min(low.second, 0.0), std::max(high.second, 0.0))};
  Svg svg{plot_width, curve_height, curve.words};
  plot.draw_up(svg, curve.up);
  plot.draw_across(svg, curve.across);
  std::vector<SvgPoint> line;
  const auto draw_line = [&] {
    if (line.size() == 1) svg.circle(line.front(), 2.5, "curve");
    if (line.size() > 1) svg.polyline(line, "curve");
    line.clear();
  };
  for (const Point& point : curve.points) {
    if (is_finite(point)) {
      line.push_back(plot.at(point.first, point.second));
    } else {
      draw_line();  // a gap
    }
  }
  draw_line();
  return title + figure(std::move(svg).finish(),
                        curve.words + left_out(curve.points.size() - points.size(), curve.points.size(), "values",
                                               "they are not finite numbers"));
}

}  // namespace orrery
