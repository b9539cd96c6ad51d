#pragma once

#include <string>

#include "app/text/text_style.h"
#include "app/ui_state/status.h"

namespace orrery {

/// The summary of a run without a window: the kernel and why it was chosen, bodies, steps, time per step, interactions
/// per second and the latest force error. Names what was not measured.
std::string run_summary(const Status& status, const ViewStatus& view, const TextStyle& style);

}  // namespace orrery
