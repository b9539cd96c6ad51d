// Plots as SVG.
#include "app/features/report/svg.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "app/features/report/html.h"
#include "app/text/table.h"

namespace orrery {
namespace {

const char* class_of(PlotInk ink) {
  constexpr std::array names{"text", "dim", "accent", "warn", "good", "bad", "violet", "cyan", "run-a", "run-b"};
  return names.at(static_cast<std::size_t>(ink));
}

const char* class_of(PlotStroke stroke) {
  constexpr std::array names{"curve", "limit", "front", "thin", "bar", "grid"};
  return names.at(static_cast<std::size_t>(stroke));
}

class SvgCanvas final : public PlotCanvas {
 public:
  double em() const override { return 13; }

  double width_of(std::string_view text) const override {
    constexpr double mean_width = 0.61;  // mean width of a character, relative to its height
    return mean_width * em() * static_cast<double>(columns_of(text));
  }

  void ground(PlotPoint low, PlotPoint high) override { add_line({low, {low.x, high.y}, high}, "axis"); }

  void line(const std::vector<PlotPoint>& points, PlotStroke stroke, PlotInk ink) override {
    add_line(points, fmt::format("{} {}", class_of(stroke), class_of(ink)));
  }

  void dot(PlotPoint at, PlotInk ink) override { circle(at, 2.5, class_of(ink)); }

  void mark(const PlotMark& mark, PlotPoint at) override {
    const std::string style = fmt::format("{}{}", class_of(mark.ink), mark.front ? "" : " hollow");
    if (!mark.square) return circle(at, 5, style);
    text_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"9\" height=\"9\" class=\"{}\"/>\n", at.x - 4.5,
                         at.y - 4.5, style);
  }

  void text(PlotPoint at, double align, std::string_view text, PlotInk ink, bool strong) override {
    text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}{}{}\">{}</text>\n", at.x, at.y + 0.33 * em(),
                         class_of(ink), strong ? " strong" : "",
                         align == 1  ? " end"
                         : align > 0 ? " middle"
                                     : "",
                         html(text));
  }

  std::string take() { return std::move(text_); }

 private:
  void add_line(const std::vector<PlotPoint>& points, std::string_view style) {
    text_ += "<polyline points=\"";
    for (const PlotPoint& point : points) text_ += fmt::format("{:.1f},{:.1f} ", point.x, point.y);
    text_ += fmt::format("\" class=\"{}\"/>\n", style);
  }

  void circle(PlotPoint at, double radius, std::string_view style) {
    text_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" class=\"{}\"/>\n", at.x, at.y, radius, style);
  }

  std::string text_;
};

}  // namespace

SvgPlot svg_of(const Plot& plot, double height, std::string_view words) {
  constexpr double width = 720;
  SvgCanvas canvas;
  const PlotArea area = draw_plot(plot, canvas, {0, 0}, {width, height});
  return {fmt::format("<div class=\"scroll\"><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
                      "role=\"img\" aria-label=\"{}\">\n{}</svg></div>\n",
                      width, height, html(words), canvas.take()),
          area.unnamed};
}

}  // namespace orrery
