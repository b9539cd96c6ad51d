#include "app/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/report/html.h"
#include "app/text/text_style.h"

namespace orrery {

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

}  // namespace orrery
