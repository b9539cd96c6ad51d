#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/report/svg.h"

namespace orrery {

/// Where a label of a point stands: the left end of its base line, and whether a line must lead to it.
struct LabelPlace {
  SvgPoint at;
  bool far = false;
};

/// A place for each label near its point, so that it covers no point and no other label and stays inside `plot`. None
/// where there is no room. The first ones choose first.
std::vector<std::optional<LabelPlace>> label_places(const SvgPlot& plot, const std::vector<SvgPoint>& points,
                                                    const std::vector<std::string>& labels);

}  // namespace orrery
