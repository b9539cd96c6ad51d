#pragma once

#include <string>

#include "app/features/report/page.h"

namespace orrery {

/// Return a plot as HTML: a figure with a caption. The caption counts values that cannot be drawn, such as NaN. If
/// there is nothing to draw, return a paragraph that says so.
std::string speed_error_figure(const ReportGroup& group);
std::string time_figure(const ReportGroup& group);
std::string curve_figure(const ReportCurve& curve);

}  // namespace orrery
