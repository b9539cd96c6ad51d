// A plot as a value, and its layout. draw_plot() draws it on a canvas: a window or an SVG file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/text/table.h"

namespace orrery {

/// A colour by its purpose. Each canvas defines the actual colours.
enum class PlotInk { text, dim, accent, warn, good, bad, violet, cyan, run_a, run_b };

/// A point in the units of the axes, or on a canvas. On a canvas, y grows downwards.
struct PlotPoint {
  double x = 0, y = 0;
};

struct PlotTick {
  double value;
  std::string label;
};

struct PlotAxis {
  std::string title{};  ///< includes the unit
  bool logarithmic = false;
  bool from_zero = false;  ///< fit() includes 0 in the range
  bool tight = false;      ///< fit() adds no margin at the ends
  double if_zero = 1;      ///< high end if all values are 0, before the margin
  /// Formats the value of a tick with `digits` significant digits. Null: the axis has no ticks.
  std::string (*label)(double value, int digits) = significant;
  std::vector<PlotTick> names{};  ///< ticks that replace those at round numbers
  double low = 0, high = 1;       ///< low < high; both > 0 if logarithmic

  /// Sets `low` and `high` so that the axis holds all finite values. A logarithmic axis ignores values <= 0. Without
  /// values, the axis has no ticks.
  void fit(std::vector<double> values);
  /// Returns the position of a value: 0 at `low`, 1 at `high`. Values outside the range are clamped.
  double at(double value) const;
  /// Returns ticks at round numbers, about `most` > 0 of them.
  std::vector<PlotTick> ticks(double most) const;
};

enum class PlotStroke {
  curve,  ///< curve with a dot at its last point
  limit,  ///< reference line, such as a limit
  front,  ///< Pareto front
  thin,
  bar,
  grid
};

struct PlotLine {
  std::string name{};  ///< shown in the legend; may be empty
  PlotInk ink = PlotInk::accent;
  PlotStroke stroke = PlotStroke::curve;
  std::vector<PlotPoint> points{};  ///< NaN makes a gap; infinity is the end of the axis
};

struct PlotMark {
  PlotPoint at;
  int row = 0;  ///< index of the result; the caller sets and uses it
  PlotInk ink = PlotInk::accent;
  bool square = false, faint = false, ring = false;
  bool front = false;   ///< on the Pareto front
  std::string label{};  ///< drawn next to the mark if there is room
};

/// Text that begins to the right of a point.
struct PlotNote {
  PlotPoint at;
  std::string text;
};

struct Plot {
  PlotAxis across, up;
  std::vector<PlotLine> lines{};
  std::vector<PlotMark> marks{};
  std::vector<PlotNote> notes{};
  std::string remark{};  ///< text at the upper right

  /// Fits both axes to the lines and marks.
  void fit();
  /// Adds the Pareto front: a stair line through the marks with `front`. `worst` is the end of the vertical axis where
  /// the line begins: infinity, minus infinity, or 0 on a logarithmic axis.
  void add_front(double worst, PlotInk ink);
};

/// A surface to draw plots on.
class PlotCanvas {
 public:
  virtual ~PlotCanvas() = default;
  /// Returns the height of text, the unit of all lengths in a plot.
  virtual double em() const = 0;
  virtual double width_of(std::string_view text) const = 0;
  /// Draws the area inside the axes: its background, or its axis lines.
  virtual void ground(PlotPoint low, PlotPoint high) = 0;
  virtual void line(const std::vector<PlotPoint>& points, PlotStroke stroke, PlotInk ink) = 0;
  virtual void dot(PlotPoint at, PlotInk ink) = 0;
  virtual void mark(const PlotMark& mark, PlotPoint at) = 0;
  /// Draws text that is vertically centred at `at`. Its left end, middle or right end is there for `align` 0, 0.5 or 1.
  virtual void text(PlotPoint at, double align, std::string_view text, PlotInk ink, bool strong = false) = 0;
};

/// The area of a drawn plot inside its axes.
struct PlotArea {
  PlotPoint low, high;      ///< upper left and lower right corner
  std::size_t unnamed = 0;  ///< number of labels that did not fit

  PlotPoint at(const Plot& plot, PlotPoint point) const {
    return {low.x + plot.across.at(point.x) * (high.x - low.x), high.y - plot.up.at(point.y) * (high.y - low.y)};
  }
};

/// Draws the plot between the upper left corner `low` and the lower right corner `high` of the canvas.
PlotArea draw_plot(const Plot& plot, PlotCanvas& canvas, PlotPoint low, PlotPoint high);

}  // namespace orrery
