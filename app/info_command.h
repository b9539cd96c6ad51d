#pragma once

#include "app/options.h"
#include "app/viewer/gl_report.h"

namespace orrery {

/// `orrery info`: what this build and machine offer, and what cures what fails.
int run_info(const InfoOptions& options, const GlReport& gl);

}  // namespace orrery
