#pragma once

#include "app/features/report/page.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"

namespace orrery {

/// Returns the content of a page about the window's run, without the date, the machine and the picture.
ReportContent window_content(const Status& status, const ViewStatus& view);

}  // namespace orrery
