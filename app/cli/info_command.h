#pragma once

#include "app/cli/options.h"
#include "app/ui_state/gl_report.h"
#include "compute/sim/backends.h"

namespace orrery {

/// `orrery info`: what this build and machine offer, and what cures what fails.
int run_info(const Backends& backends, const InfoOptions& options, const GlReport& gl);

}  // namespace orrery
