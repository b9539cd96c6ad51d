#pragma once

#include <string>

#include "app/features/report/page.h"

namespace orrery {

/// A plot as HTML: a figure with a caption of whole sentences. What cannot be drawn, such as NaN, is left out and
/// counted in the caption. With nothing to draw, it is a paragraph that says so.
std::string speed_error_figure(const ReportGroup& group);
std::string time_figure(const ReportGroup& group);
std::string curve_figure(const ReportCurve& curve);

}  // namespace orrery
