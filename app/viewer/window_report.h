#pragma once

#include <string>

#include "app/report/page.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"

namespace orrery {
/// What a window has to put on a page, but the date, the machine and the picture.
ReportContent window_content(const Status& status, const ViewStatus& view);

/// What a picture of the view shows.
std::string picture_words(const Status& status, const ViewStatus& view);

}  // namespace orrery
