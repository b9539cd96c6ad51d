#pragma once

#include <optional>
#include <string>

#include "app/lab/roofline/machine_peak_rates.h"
#include "app/report/content.h"
#include "app/text/csv.h"
#include "app/ui_state/gl_report.h"
#include "compute/sim/backends.h"

namespace orrery {

/// The program, processor, GPUs, driver and OpenGL: as JSON, and as rows for people. A row without a name belongs to
/// the one above it.
struct MachineReport {
  Json cpu{}, cuda{}, gl{};
  std::string mpi{};  ///< see mpi_library()
  ReportFacts facts{};
};
/// `peak_rates` of the GPU and `cpu_peak_rates`; none: the rows leave them out.
MachineReport machine_report(const Backends& backends, const GlReport& gl,
                             const std::optional<MachinePeakRates>& peak_rates,
                             const std::optional<CpuPeakRates>& cpu_peak_rates = {});

}  // namespace orrery
