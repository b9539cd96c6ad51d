#pragma once

#include "app/ui_state/gl_report.h"
#include "compute/kernels/catalog.h"

namespace orrery {

/// Makes a context offscreen and tries to share a buffer with CUDA. Never throws: failures are in the report.
GlReport probe_gl(const KernelCatalog& kernels);

}  // namespace orrery
