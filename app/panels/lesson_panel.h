#pragma once

#include "app/ui_state/status.h"

namespace orrery {

/// The width that the lessons take from the right edge, the margin included; 0 while none is shown.
float lesson_width(const ViewStatus& view);

/// Whether the lessons leave too little room beside them for the legend, which is then below them.
bool legend_below_lesson(const ViewStatus& view);

}  // namespace orrery
