#pragma once

#include "app/ui_state/status.h"

namespace orrery {

/// The width that the lessons take from the right edge, the margin included; 0 while none is shown.
float lesson_width(const ViewStatus& view);

}  // namespace orrery
