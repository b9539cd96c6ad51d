#pragma once

#include <functional>

#include "app/cli/options.h"
#include "app/report/content.h"

namespace orrery {

/// `orrery inspect`: returns the exit status. `draw` makes the picture, if one is wanted. Throws std::runtime_error if
/// the file cannot be used or the picture cannot be written.
int run_inspect(const InspectOptions& options, const std::function<ReportPicture()>& draw);

}  // namespace orrery
