#include "app/report/label_places.h"

#include <algorithm>

namespace orrery {
namespace {

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
