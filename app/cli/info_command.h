#pragma once

#include "app/cli/options.h"
#include "app/ui_state/gl_report.h"
#include "compute/sim/backends.h"

namespace orrery {

/// `orrery info`: reports devices, drivers and OpenGL, tries a kernel of each backend, and says how to fix what fails.
/// Returns the exit_status() of the machine's health.
int run_info(const Backends& backends, const InfoOptions& options, const GlReport& gl);

}  // namespace orrery
