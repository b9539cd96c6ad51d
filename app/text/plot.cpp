// Axes, ticks and labels of plots.
#include "app/text/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace orrery {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

int exponent_of(double value) {
  return static_cast<int>(std::floor(std::log10(std::abs(value) * (1 + 1e-9))));
}

/// Returns the smallest 1, 2 or 5 times a power of ten that is at least `step` > 0.
double round_step(double step) {
  const double ten = std::pow(10, exponent_of(step));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * ten >= step * (1 - 1e-9)) return factor * ten;
  }
  return 10 * ten;
}

/// Returns ticks at powers of ten, and at 2 and 5 times them if there is room.
std::vector<PlotTick> log_ticks(const PlotAxis& axis, double most) {
  std::vector<PlotTick> ticks;
  const double decades = std::log10(axis.high / axis.low);
  const bool few = 3.5 * decades <= most || decades < 2;
  const int stride = few ? 1 : std::max(static_cast<int>(std::ceil(decades / most)), 1);
  for (int exponent = exponent_of(axis.low); exponent <= 308 && std::pow(10, exponent) <= axis.high;
       exponent += stride) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10, exponent);
      if (value < axis.low || value > axis.high || (factor > 1 && !few)) continue;
      ticks.push_back({value, axis.label(value, 1)});
    }
  }
  return ticks;
}

struct Box {
  PlotPoint low, high;

  bool meets(const Box& other) const {
    return low.x < other.high.x && other.low.x < high.x && low.y < other.high.y && other.low.y < high.y;
  }
};

/// Box of a label, and whether a line must connect it to its mark.
struct LabelPlace {
  Box box;
  bool far = false;
};

/// Returns all places for a label around a point, the best first.
std::vector<LabelPlace> places_around(PlotPoint point, double width, double em) {
  const double near = 0.7 * em, left = point.x - near - width, middle = point.x - width / 2, right = point.x + near;
  std::vector<LabelPlace> places;
  const auto add = [&](double x, double y, bool far) {
    places.push_back({{{x, y - 0.5 * em}, {x + width, y + 0.5 * em}}, far});
  };
  // The Pareto front leaves its mark to the right, at the same height. A label above or below does not touch it.
  for (const double y : {point.y - em, point.y + em, point.y}) {
    const double closer = y == point.y ? 0 : 0.3 * em;
    for (const double x : {right - closer, left + closer}) add(x, y, false);
    if (y != point.y) add(middle, y, false);
  }
  for (const double distance : {1.6, 2.6, 3.7, 4.8}) {
    for (const double y : {point.y - distance * em, point.y + distance * em}) {
      for (const double x : {right + near, left - near, middle}) add(x, y, true);
    }
  }
  return places;
}

/// Draws the labels that cover no mark and no other label, Pareto-optimal marks first. Returns the number of labels
/// that were not drawn.
std::size_t draw_labels(const Plot& plot, PlotCanvas& canvas, const PlotArea& area) {
  const double em = canvas.em(), reach = 0.4 * em;
  std::vector<Box> taken;
  std::vector<const PlotMark*> order;
  for (const PlotMark& mark : plot.marks) {
    const PlotPoint at = area.at(plot, mark.at);
    taken.push_back({{at.x - reach, at.y - reach}, {at.x + reach, at.y + reach}});
    if (!mark.label.empty()) order.push_back(&mark);
  }
  std::stable_partition(order.begin(), order.end(), [](const PlotMark* mark) { return mark->front; });
  std::size_t unnamed = 0;
  for (const PlotMark* mark : order) {
    const PlotPoint at = area.at(plot, mark->at);
    const std::vector<LabelPlace> places = places_around(at, canvas.width_of(mark->label), em);
    const auto free = std::ranges::find_if(places, [&](const LabelPlace& place) {
      const auto& [low, high] = place.box;
      return low.x >= area.low.x && high.x <= area.high.x && low.y >= area.low.y && high.y <= area.high.y &&
             std::ranges::none_of(taken, [&](const Box& other) { return other.meets(place.box); });
    });
    if (free == places.end()) {
      ++unnamed;
      continue;
    }
    const auto& [low, high] = free->box;
    const double middle = (low.y + high.y) / 2;
    if (free->far) {
      canvas.line({at, {std::clamp(at.x, low.x, high.x), middle}}, PlotStroke::thin, PlotInk::dim);
    }
    canvas.text({low.x, middle}, 0, mark->label, PlotInk::text, mark->front);
    taken.push_back(free->box);
  }
  return unnamed;
}

void draw_line(const Plot& plot, const PlotLine& line, PlotCanvas& canvas, const PlotArea& area) {
  std::vector<PlotPoint> part;
  const auto draw_part = [&] {
    if (part.size() == 1) canvas.dot(part.front(), line.ink);
    if (part.size() > 1) canvas.line(part, line.stroke, line.ink);
  };
  for (const PlotPoint& point : line.points) {
    if (!std::isnan(point.x) && !std::isnan(point.y)) {
      part.push_back(area.at(plot, point));
    } else {
      draw_part();
      part.clear();
    }
  }
  draw_part();
  if (!part.empty() && line.stroke == PlotStroke::curve) canvas.dot(part.back(), line.ink);
}

// Space for a tick of the horizontal axis (width) and of the vertical axis (height), in units of the text's height.
constexpr double tick_width = 4.5, tick_height = 2;

std::vector<PlotTick> ticks_up(const Plot& plot, const PlotArea& area, double em) {
  return plot.up.ticks(std::max((area.high.y - area.low.y) / (tick_height * em), 1.0));
}

PlotArea area_of(const Plot& plot, const PlotCanvas& canvas, PlotPoint low, PlotPoint high) {
  const double em = canvas.em();
  const bool head = !plot.up.title.empty() || !plot.remark.empty();
  const double below = (plot.across.label ? 1.5 : 0) + (plot.across.title.empty() ? 0 : 1.2);
  PlotArea area{{low.x, low.y + (head ? 1.6 : 0.3) * em}, {high.x, high.y - below * em}};
  double left = 0, right = plot.across.label ? 0.6 * em : 0;
  for (const PlotTick& tick : ticks_up(plot, area, em)) left = std::max(left, canvas.width_of(tick.label) + 0.5 * em);
  for (const PlotNote& note : plot.notes) right = std::max(right, canvas.width_of(note.text) + 1.2 * em);
  area.low.x += left;
  area.high.x -= right;
  return area;
}

void draw_axes(const Plot& plot, PlotCanvas& canvas, const PlotArea& area) {
  const double em = canvas.em();
  canvas.ground(area.low, area.high);
  double end = -infinity;
  for (const PlotTick& tick : plot.across.ticks(std::max((area.high.x - area.low.x) / (tick_width * em), 1.0))) {
    const double x = area.at(plot, {tick.value, 0}).x, half = canvas.width_of(tick.label) / 2;
    if (x - half < end) continue;
    canvas.line({{x, area.low.y}, {x, area.high.y}}, PlotStroke::grid, PlotInk::dim);
    canvas.text({std::min(x, area.high.x + 0.6 * em - half), area.high.y + 0.8 * em}, 0.5, tick.label, PlotInk::dim);
    end = x + half + 0.5 * em;
  }
  end = infinity;
  for (const PlotTick& tick : ticks_up(plot, area, em)) {
    const double y = area.at(plot, {0, tick.value}).y;
    if (std::abs(y - end) < em) continue;
    if (plot.up.names.empty()) canvas.line({{area.low.x, y}, {area.high.x, y}}, PlotStroke::grid, PlotInk::dim);
    canvas.text({area.low.x - 0.4 * em, y}, 1, tick.label, plot.up.names.empty() ? PlotInk::dim : PlotInk::text);
    end = y;
  }
}

void draw_titles(const Plot& plot, PlotCanvas& canvas, const PlotArea& area, PlotPoint low, PlotPoint high) {
  const double em = canvas.em(), top = low.y + 0.6 * em;
  canvas.text({low.x, top}, 0, plot.up.title, PlotInk::dim);
  canvas.text({area.high.x, high.y - 0.6 * em}, 1, plot.across.title, PlotInk::dim);
  canvas.text({area.high.x, top}, 1, plot.remark, PlotInk::text);
  double right = area.high.x;
  for (std::size_t i = plot.lines.size(); i-- > 0;) {
    if (plot.lines[i].name.empty()) continue;
    canvas.text({right, top}, 1, plot.lines[i].name, plot.lines[i].ink);
    right -= canvas.width_of(plot.lines[i].name) + 0.6 * em;
  }
}

}  // namespace

void PlotAxis::fit(std::vector<double> values) {
  constexpr double room = 0.08;
  std::erase_if(values, [&](double value) { return !std::isfinite(value) || (logarithmic && !(value > 0)); });
  if (values.empty()) label = nullptr;
  if (from_zero || values.empty()) values.push_back(logarithmic ? 1 : 0);
  low = std::ranges::min(values);
  high = std::ranges::max(values);
  if (logarithmic) {
    const double middle = (std::log10(low) + std::log10(high)) / 2;
    const double half = std::max(std::log10(high / low) * (0.5 + room), 0.5);
    low = std::pow(10, middle - half);
    high = std::pow(10, middle + half);
    return;
  }
  if (low == 0 && high == 0) high = if_zero;
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low < 1e-9 * size) low -= 0.5 * size, high += 0.5 * size;  // ticks of a shorter axis would look equal
  const double margin = tight ? 0 : room * (high - low);
  if (!(from_zero && low == 0)) low -= margin;
  if (!(from_zero && high == 0)) high += margin;
}

double PlotAxis::at(double value) const {
  if (logarithmic && !(value > 0)) return 0;
  const double share = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return std::clamp(share, 0.0, 1.0);
}

std::vector<PlotTick> PlotAxis::ticks(double most) const {
  if (!names.empty() || !label) return names;
  if (logarithmic) return log_ticks(*this, most);
  std::vector<PlotTick> result;
  const double step = round_step((high - low) / most);
  const int least = exponent_of(step);
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; i <= most + 1; ++i) {
    const double value = (first + i) * step;
    if (value > high + 1e-9 * step) break;
    const int exponent = value == 0 ? 0 : exponent_of(value);
    result.push_back(
        {value + 0.0, label(value + 0.0, std::max({1, 1 + exponent - least, exponent < 5 ? 1 + exponent : 1}))});
  }
  return result;
}

void Plot::fit() {
  std::vector<double> across_values, up_values;
  const auto add = [&](PlotPoint point) {
    across_values.push_back(point.x);
    up_values.push_back(point.y);
  };
  for (const PlotLine& line : lines) std::ranges::for_each(line.points, add);
  for (const PlotMark& mark : marks) add(mark.at);
  across.fit(std::move(across_values));
  up.fit(std::move(up_values));
}

void Plot::add_front(double worst, PlotInk ink) {
  std::vector<PlotPoint> front;
  for (const PlotMark& mark : marks) {
    if (mark.front) front.push_back(mark.at);
  }
  if (front.empty()) return;
  std::ranges::sort(front, {}, &PlotPoint::x);
  PlotLine stairs{.ink = ink, .stroke = PlotStroke::front};
  for (const PlotPoint& point : front) {
    stairs.points.push_back({point.x, stairs.points.empty() ? worst : stairs.points.back().y});
    stairs.points.push_back(point);
  }
  stairs.points.push_back({infinity, stairs.points.back().y});
  lines.push_back(std::move(stairs));
}

PlotArea draw_plot(const Plot& plot, PlotCanvas& canvas, PlotPoint low, PlotPoint high) {
  PlotArea area = area_of(plot, canvas, low, high);
  draw_axes(plot, canvas, area);
  draw_titles(plot, canvas, area, low, high);
  for (const PlotLine& line : plot.lines) draw_line(plot, line, canvas, area);
  area.unnamed = draw_labels(plot, canvas, area);
  for (const PlotNote& note : plot.notes) {
    const PlotPoint at = area.at(plot, note.at);
    canvas.text({at.x + 0.6 * canvas.em(), at.y}, 0, note.text, PlotInk::text);
  }
  for (const PlotMark& mark : plot.marks) canvas.mark(mark, area.at(plot, mark.at));
  return area;
}

}  // namespace orrery
