#pragma once

#include "app/cli/options.h"
#include "app/report/content.h"
#include "app/ui_state/gl_report.h"
#include "compute/sim/backends.h"

namespace orrery {

/// The number of bodies in the picture: the largest that is measured.
SceneRequest pictured_scene(const Backends& backends, const ReportOptions& options);

/// `orrery report`. Measures as run_bench() does, and writes the page. A variant that failed is on the page, and the
/// exit status is 1. Throws UsageError or std::runtime_error.
int run_report(const Backends& backends, const ReportOptions& options, ReportPicture picture, const GlReport& gl);

}  // namespace orrery
