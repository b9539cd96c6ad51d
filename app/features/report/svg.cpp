// Drawings of plots as SVG: scales, axes, marks and labels.
#include "app/features/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "app/features/report/html.h"
#include "app/lab/statistics.h"
#include "app/text/table.h"

namespace orrery {
namespace {

/// 1, 2 or 5 times a power of ten, at least `step` > 0.
double round_step(double step) {
  const double ten = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * ten >= step * (1 - 1e-9)) return factor * ten;
  }
  return 10 * ten;
}

std::string linear_label(double value, double step, double largest) {
  if (std::abs(value) < step / 2) return "0";
  if (largest < 1e-3 || largest >= 1e5) return power_of_ten(value);
  const int digits = std::max(1, 1 + static_cast<int>(std::floor(std::log10(std::abs(value) * (1 + 1e-9))) -
                                                      std::floor(std::log10(step * (1 + 1e-9)))));
  return (value < 0 ? "\u2212" : "") + plain_number(std::abs(value), digits);
}

struct Box {
  double left, top, right, bottom;

  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

constexpr double ascent = 10, descent = 3, mark = 5;

/// Every place around a point, the best first.
std::vector<LabelPlace> places(SvgPoint point, double width) {
  constexpr double near = 9;
  const double middle = point.x - width / 2, right = point.x + near, left = point.x - near - width;
  const double above = point.y - near, below = point.y + near + ascent;
  // The line of the Pareto front leads to the right and down: a name above is clear of it.
  std::vector<LabelPlace> result{{{right - 4, above}},   {{middle, above}},     {{left + 4, above}},
                                 {{right, point.y + 4}}, {{left, point.y + 4}}, {{right - 4, below}},
                                 {{middle, below}},      {{left + 4, below}}};
  for (const double distance : {20.0, 34.0, 48.0, 62.0}) {
    for (const double y : {point.y + 4 - distance, point.y + 4 + distance}) {
      for (const double x : {right + 8, left - 8, middle}) result.push_back({{x, y}, true});
    }
  }
  return result;
}

}  // namespace

double PlotScale::at(double value) const {
  if (logarithmic) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

PlotScale log_scale(double least, double most, bool powers) {
  constexpr double room = 0.08, least_decades = 1;
  const double middle = (std::log10(least) + std::log10(most)) / 2;
  const double half = std::max(std::log10(most / least) * (0.5 + room), least_decades / 2);
  PlotScale scale{.low = std::pow(10, middle - half), .high = std::pow(10, middle + half), .logarithmic = true};
  const bool few = 2 * half <= 2.5;  // decades
  for (int exponent = static_cast<int>(std::floor(std::log10(scale.low))); std::pow(10, exponent) <= scale.high;
       ++exponent) {
    for (const int factor : {1, 2, 5}) {
      const double value = factor * std::pow(10, exponent);
      if (value < scale.low || value > scale.high || (factor > 1 && !few)) continue;
      std::string label = !powers      ? plain_number(value, 1)
                          : factor > 1 ? std::to_string(factor) + "\u00d7" + decade(exponent)
                                       : decade(exponent);
      scale.ticks.push_back({value, std::move(label)});
    }
  }
  return scale;
}

PlotScale linear_scale(double least, double most) {
  constexpr int intervals = 5;
  if (!(most > least)) {
    const double around = least == 0 ? 1 : std::abs(least) / 2;
    least -= around;
    most += around;
  }
  const double step = round_step((most - least) / intervals);
  PlotScale scale{.low = std::floor(least / step + 1e-9) * step, .high = std::ceil(most / step - 1e-9) * step};
  const double largest = std::max(std::abs(scale.low), std::abs(scale.high));
  for (int i = 0; i <= std::lround((scale.high - scale.low) / step); ++i) {
    const double value = scale.low + i * step;
    scale.ticks.push_back({value, linear_label(value, step, largest)});
  }
  return scale;
}

double Svg::text_width(std::string_view text) {
  constexpr double mean_width = 0.61;  // of a character, as a share of the height
  return mean_width * text_height * static_cast<double>(columns_of(text));
}

Svg::Svg(double width, double height, std::string_view words)
    : out_{fmt::format("<div class=\"scroll\"><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
                       "role=\"img\" aria-label=\"{}\">\n",
                       width, height, html(words))} {}

void Svg::line(SvgPoint from, SvgPoint to, std::string_view style) {
  out_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", from.x, from.y,
                      to.x, to.y, style);
}

void Svg::polyline(const std::vector<SvgPoint>& points, std::string_view style) {
  out_ += "<polyline points=\"";
  for (const SvgPoint& point : points) out_ += fmt::format("{:.1f},{:.1f} ", point.x, point.y);
  out_ += fmt::format("\" class=\"{}\"/>\n", style);
}

void Svg::rectangle(SvgPoint low, double width, double height, std::string_view style) {
  out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"/>\n", low.x,
                      low.y, width, height, style);
}

void Svg::circle(SvgPoint middle, double radius, std::string_view style) {
  out_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"{}\"/>\n", middle.x, middle.y, radius,
                      style);
}

void Svg::text(SvgPoint at, std::string_view words, std::string_view style) {
  out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", at.x, at.y, style, html(words));
}

void Svg::upright_text(SvgPoint at, std::string_view words, std::string_view style) {
  out_ += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" class=\"{}\">{}</text>\n", at.x, at.y,
                      style, html(words));
}

std::string Svg::finish() && {
  return std::move(out_) + "</svg></div>\n";
}

void SvgPlot::draw_across(Svg& svg, std::string_view title) const {
  for (const PlotScale::Tick& tick : across.ticks) {
    const double x = at(tick.value, up.low).x;
    svg.line({x, top}, {x, bottom}, "grid");
    svg.text({x, bottom + 17}, tick.label, "tick middle");
  }
  svg.line({left, bottom}, {right, bottom}, "axis");
  svg.text({(left + right) / 2, bottom + 38}, title, "title middle");
}

void SvgPlot::draw_up(Svg& svg, std::string_view title) const {
  double widest = 0;
  for (const PlotScale::Tick& tick : up.ticks) {
    const double y = at(across.low, tick.value).y;
    svg.line({left, y}, {right, y}, "grid");
    svg.text({left - 7, y + 4}, tick.label, "tick end");
    widest = std::max(widest, Svg::text_width(tick.label));
  }
  svg.line({left, top}, {left, bottom}, "axis");
  svg.upright_text({left - 14 - widest, (top + bottom) / 2}, title, "title middle");
}

std::vector<std::optional<LabelPlace>> label_places(const SvgPlot& plot, const std::vector<SvgPoint>& points,
                                                    const std::vector<std::string>& labels) {
  std::vector<Box> taken;
  for (const SvgPoint& point : points)
    taken.push_back({point.x - mark, point.y - mark, point.x + mark, point.y + mark});
  std::vector<std::optional<LabelPlace>> result;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double width = Svg::text_width(labels[i]);
    result.emplace_back();
    for (const LabelPlace& place : places(points[i], width)) {
      const Box box{place.at.x, place.at.y - ascent, place.at.x + width, place.at.y + descent};
      const bool inside =
          box.left >= plot.left && box.right <= plot.right && box.top >= plot.top && box.bottom <= plot.bottom;
      if (!inside || std::ranges::any_of(taken, [&](const Box& other) { return other.meets(box); })) continue;
      taken.push_back(box);
      result.back() = place;
      break;
    }
  }
  return result;
}

namespace {

using Point = std::pair<double, double>;

// Time per step over force error, both logarithmic.

constexpr double front_height = 430;

bool has_place(const ReportRow& row) {
  return row.step_ms.median > 0 && std::isfinite(row.step_ms.median) && row.errors().median > 0 &&
         std::isfinite(row.errors().median);
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
  for (const ReportRow& row : dots.rows) points.push_back({row.errors().median, 1 / row.step_ms.median});
  dots.front = pareto_front(points);
  return dots;
}

SvgPlot plot_of(const std::vector<ReportRow>& rows) {
  std::vector<double> errors, times;
  for (const ReportRow& row : rows) {
    errors.push_back(row.error->median);
    times.push_back(row.step_ms.median);
  }
  const auto [least_error, most_error] = std::ranges::minmax(errors);
  const auto [least_ms, most_ms] = std::ranges::minmax(times);
  return {.left = 78,
          .top = 12,
          .right = plot_width - 12,
          .bottom = front_height - 48,
          .across = log_scale(least_error, most_error, true),
          .up = log_scale(least_ms, most_ms, false)};
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

// Time per step as bars, the fastest first.

constexpr double row_height = 28, top = 6;
constexpr std::size_t most_bars = 40, longest_name = 40;
constexpr double linear_span = 25;  // of the times: beyond it, short bars cannot be seen

bool is_time(double ms) {
  return ms > 0 && std::isfinite(ms);
}

bool has_interval(const ReportRow& row) {
  return is_time(row.step_ms.low) && is_time(row.step_ms.high) && row.step_ms.low <= row.step_ms.high;
}

std::string name_of(const ReportRow& row) {
  const std::string name = row.name();
  return columns_of(name) <= longest_name ? name : std::string{cut_to(name, longest_name - 1)} + "\u2026";
}

PlotScale scale_of(const std::vector<ReportRow>& rows) {
  double most = 0;
  for (const ReportRow& row : rows)
    most = std::max({most, row.step_ms.median, has_interval(row) ? row.step_ms.high : 0});
  double least = rows.front().step_ms.median;
  for (const ReportRow& row : rows) least = has_interval(row) ? std::min(least, row.step_ms.low) : least;
  return most / least > linear_span ? log_scale(least, most, false) : linear_scale(0, most);
}

std::string value_text(const ReportRow& row) {
  return plain_number(row.step_ms.median) + " ms";
}

void draw_bar(Svg& svg, const SvgPlot& plot, const ReportRow& row, double y) {
  const double begin = plot.left, end = plot.at(row.step_ms.median, 0).x, middle = y + row_height / 2;
  svg.text({plot.left - 9, middle + 4}, name_of(row), "name end");
  const std::string backend = row.on_gpu ? "gpu" : "cpu";
  svg.rectangle({begin, y + 7}, end - begin, row_height - 14, backend + " bar");
  double right = end;
  if (has_interval(row)) {
    const double low = plot.at(row.step_ms.low, 0).x, high = plot.at(row.step_ms.high, 0).x;
    svg.line({low, middle}, {high, middle}, "whisker");
    for (const double x : {low, high}) svg.line({x, middle - 5}, {x, middle + 5}, "whisker");
    right = std::max(right, high);
  }
  svg.text({right + 8, middle + 4}, value_text(row), "value");
}

// A quantity over the time that a window ran.

constexpr double curve_height = 300;

bool is_drawable(const Point& point) {
  return std::isfinite(point.first) && std::isfinite(point.second);
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
  for (const ReportRow& row : dots.rows) points.push_back(plot.at(row.errors().median, row.step_ms.median));
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

std::string time_figure(const ReportGroup& group) {
  std::vector<ReportRow> rows;
  std::ranges::copy_if(group.rows, std::back_inserter(rows),
                       [](const ReportRow& row) { return is_time(row.step_ms.median); });
  if (rows.empty()) return paragraph_of("There is no plot of times: no time per step was measured.");
  std::ranges::stable_sort(rows, {}, [](const ReportRow& row) { return row.step_ms.median; });
  const std::size_t measured = rows.size();
  if (measured > most_bars) rows.erase(rows.begin() + most_bars, rows.end());

  double names = 0, values = 0;
  for (const ReportRow& row : rows) {
    names = std::max(names, Svg::text_width(name_of(row)));
    values = std::max(values, Svg::text_width(value_text(row)));
  }
  const double bottom = top + row_height * static_cast<double>(rows.size()), height = bottom + 46;
  const SvgPlot plot{.left = names + 16,
                     .top = top,
                     .right = plot_width - values - 20,
                     .bottom = bottom,
                     .across = scale_of(rows),
                     .up = {}};
  Svg svg{plot_width, height, "Time per step of each kernel, " + group.title};
  plot.draw_across(svg, "time per step (ms)");
  for (std::size_t i = 0; i < rows.size(); ++i) draw_bar(svg, plot, rows[i], top + row_height * static_cast<double>(i));
  svg.line({plot.left, top}, {plot.left, bottom}, "axis");

  std::string caption = fmt::format("Time per step, {}, the fastest first. A bar ends at the median{}.", group.title,
                                    std::ranges::any_of(rows, has_interval)
                                        ? "; the thin line across its end is the 95 % interval of the median"
                                        : "; no 95 % interval was measured");
  if (plot.across.logarithmic) {
    caption += " The axis is logarithmic: compare the ends of the bars with the axis, not their lengths.";
  }
  if (measured > most_bars) {
    caption += fmt::format(" These are the {} fastest of {}; the table has all.", most_bars, measured);
  }
  caption += left_out(group.rows.size() - measured, group.rows.size(), "results", "their time was not measured");
  return figure(std::move(svg).finish(), caption);
}

std::string curve_figure(const ReportCurve& curve) {
  std::vector<Point> points;
  std::ranges::copy_if(curve.points, std::back_inserter(points), is_drawable);
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
    if (is_drawable(point)) {
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
