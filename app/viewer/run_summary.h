#pragma once

#include <string>

#include "app/text/text_style.h"
#include "app/ui_state/status.h"

namespace orrery {

/// What a run that nobody watched came to: the kernel and what chose it, bodies, steps, time of a step, interactions
/// per second and the latest force error. What was not measured is said to be so.
std::string run_summary(const Status& status, const ViewStatus& view, const TextStyle& style);

}  // namespace orrery
