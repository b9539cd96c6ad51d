// A plot as a value, and its layout. draw_plot() draws it on the canvas of a window or of an SVG drawing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/text/table.h"

namespace orrery {

/// A colour by its purpose; each canvas has its own shades.
enum class PlotInk { text, dim, accent, warn, good, bad, violet, cyan, run_a, run_b };

/// A point in the units of the axes, or on a canvas, whose y grows downwards.
struct PlotPoint {
  double x = 0, y = 0;
};

struct PlotTick {
  double value;
  std::string label;
};

struct PlotAxis {
  std::string title{};  ///< with its unit
  bool logarithmic = false;
  bool from_zero = false;  ///< fit() includes 0
  bool tight = false;      ///< fit() leaves no room at the ends
  double if_zero = 1;      ///< high end if all values are 0
  /// Formats the value of a tick with this number of significant digits. Null: the axis has no ticks.
  std::string (*label)(double value, int digits) = significant;
  std::vector<PlotTick> names{};  ///< shown instead of round numbers
  double low = 0, high = 1;       ///< low < high; both > 0 if logarithmic

  /// Sets the ends so that the axis holds all finite values; a logarithmic one ignores those that are not > 0.
  /// Without values, it has no ticks.
  void fit(std::vector<double> values);
  /// Position from 0 at the low end to 1 at the high end; values beyond are at the ends.
  double at(double value) const;
  /// Ticks at round numbers, about `most` > 0 of them.
  std::vector<PlotTick> ticks(double most) const;
};

enum class PlotStroke {
  curve,  ///< has a dot at its last point
  limit,  ///< line to compare with
  front,  ///< Pareto front
  thin,
  bar,
  grid
};

struct PlotLine {
  std::string name{};  ///< in the legend; may be empty
  PlotInk ink = PlotInk::accent;
  PlotStroke stroke = PlotStroke::curve;
  std::vector<PlotPoint> points{};  ///< NaN is a gap, infinity an end of the axis
};

struct PlotMark {
  PlotPoint at;
  int row = 0;  ///< index of the result, for the caller
  PlotInk ink = PlotInk::accent;
  bool square = false, faint = false, ring = false;
  bool front = false;   ///< on the Pareto front
  std::string label{};  ///< drawn beside the mark if there is room
};

/// Text that begins at the right of a point.
struct PlotNote {
  PlotPoint at;
  std::string text;
};

struct Plot {
  PlotAxis across, up;
  std::vector<PlotLine> lines{};
  std::vector<PlotMark> marks{};
  std::vector<PlotNote> notes{};
  std::string remark{};  ///< at the upper right end

  /// Fits both axes to the lines and marks.
  void fit();
  /// Adds the line that separates what the marks of the front reach from what they do not. `worst` is the end of the
  /// vertical axis where it begins: infinity or minus infinity.
  void add_front(double worst, PlotInk ink);
};

/// A surface to draw on.
class PlotCanvas {
 public:
  virtual ~PlotCanvas() = default;
  /// Height of text, the unit of all lengths in a plot.
  virtual double em() const = 0;
  virtual double width_of(std::string_view text) const = 0;
  /// Draws the ground that the axes enclose.
  virtual void ground(PlotPoint low, PlotPoint high) = 0;
  virtual void line(const std::vector<PlotPoint>& points, PlotStroke stroke, PlotInk ink) = 0;
  virtual void dot(PlotPoint at, PlotInk ink) = 0;
  virtual void mark(const PlotMark& mark, PlotPoint at) = 0;
  /// Draws text whose vertical middle is at `at`, and its left end, middle or right end for `align` 0, 0.5 or 1.
  virtual void text(PlotPoint at, double align, std::string_view text, PlotInk ink, bool strong = false) = 0;
};

/// The part of a drawn plot that its axes enclose.
struct PlotArea {
  PlotPoint low, high;      ///< upper left and lower right corner
  std::size_t unnamed = 0;  ///< number of labels without room

  PlotPoint at(const Plot& plot, PlotPoint point) const {
    return {low.x + plot.across.at(point.x) * (high.x - low.x), high.y - plot.up.at(point.y) * (high.y - low.y)};
  }
};

/// Draws the plot between these corners of the canvas.
PlotArea draw_plot(const Plot& plot, PlotCanvas& canvas, PlotPoint low, PlotPoint high);

}  // namespace orrery
