#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/features/report/page.h"

namespace orrery {

/// An axis from `low` to `high`, with its ticks.
struct PlotScale {
  struct Tick {
    double value;
    std::string label;
  };

  double low = 0, high = 1;  ///< low < high; both > 0 if logarithmic
  bool logarithmic = false;
  std::vector<Tick> ticks{};

  /// The position of `value` on the axis: 0 at `low`, 1 at `high`.
  double at(double value) const;
};

/// Logarithmic, with room around both values, which are finite and > 0. With `powers`, ticks are "10⁻⁷", else "0.1".
PlotScale log_scale(double least, double most, bool powers);

/// Linear, from a tick to a tick. The values are finite, least <= most.
PlotScale linear_scale(double least, double most);

/// Width of every plot, in units of the page.
constexpr double plot_width = 720;

struct SvgPoint {
  double x = 0, y = 0;  ///< in units of the drawing, y downwards
};

/// A drawing that stands in a page, whose styles name its classes. All texts are escaped.
class Svg {
 public:
  static constexpr double text_height = 13;
  /// The width of a text in its usual size, estimated.
  static double text_width(std::string_view text);

  /// `words` describe it to a reader who does not see it.
  Svg(double width, double height, std::string_view words);

  void line(SvgPoint from, SvgPoint to, std::string_view style);
  void polyline(const std::vector<SvgPoint>& points, std::string_view style);
  void rectangle(SvgPoint low, double width, double height, std::string_view style);
  void circle(SvgPoint middle, double radius, std::string_view style);
  /// `style`: classes, such as "end" for text that ends at `at`, or "middle".
  void text(SvgPoint at, std::string_view words, std::string_view style = "");
  /// Read from the bottom to the top, with its middle at `at`.
  void upright_text(SvgPoint at, std::string_view words, std::string_view style);

  std::string finish() &&;

 private:
  std::string out_;
};

/// The part of a drawing that has axes.
struct SvgPlot {
  double left, top, right, bottom;
  PlotScale across, up;

  SvgPoint at(double x, double y) const {
    return {left + across.at(x) * (right - left), bottom - up.at(y) * (bottom - top)};
  }
  /// The ticks of each axis, their lines and labels, and the titles.
  void draw_across(Svg& svg, std::string_view title) const;
  void draw_up(Svg& svg, std::string_view title) const;
};

/// The place of a point's label: the left end of its base line, and whether a line must lead to it.
struct LabelPlace {
  SvgPoint at;
  bool far = false;
};

/// A place for each label near its point, so that it covers no point and no other label and stays inside `plot`. None
/// where there is no room. The first ones choose first.
std::vector<std::optional<LabelPlace>> label_places(const SvgPlot& plot, const std::vector<SvgPoint>& points,
                                                    const std::vector<std::string>& labels);

/// A plot as HTML: a figure with a caption of whole sentences. What cannot be drawn, such as NaN, is left out and
/// counted in the caption. With nothing to draw, it is a paragraph that says so.
std::string speed_error_figure(const ReportGroup& group);
std::string time_figure(const ReportGroup& group);
std::string curve_figure(const ReportCurve& curve);

}  // namespace orrery
