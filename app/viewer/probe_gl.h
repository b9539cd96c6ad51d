#pragma once

#include "app/ui_state/gl_report.h"
#include "compute/kernels/catalog.h"

namespace orrery {

/// Makes a context offscreen and tries to share a buffer with CUDA. Never throws: failures are in the report.
GlReport probe_gl(const KernelCatalog& kernels);
/// Tries to open a window, if the environment names a display; `report` gets the result. Its context ends before this
/// returns.
void probe_window(GlReport& report);

}  // namespace orrery
