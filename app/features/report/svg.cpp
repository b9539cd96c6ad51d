// Drawings of plots as SVG: scales, axes, marks and labels.
#include "app/features/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "app/features/report/html.h"
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

}  // namespace orrery
