#pragma once

#include "app/report/content.h"
#include "app/text/csv.h"
#include "app/ui_state/gl_report.h"
#include "compute/sim/backends.h"

namespace orrery {

/// The program, processor, GPUs, driver and OpenGL: as JSON, and as rows for people. A row without a name belongs to
/// the one above it.
struct MachineReport {
  Json cpu{}, cuda{}, gl{};
  ReportFacts facts{};
};
/// Measures the peak rates of the GPU, if there is one: that takes about 50 ms.
MachineReport machine_report(const Backends& backends, const GlReport& gl);

}  // namespace orrery
