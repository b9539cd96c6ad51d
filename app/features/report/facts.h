#pragma once

#include <optional>
#include <string>

#include "app/features/report/page.h"
#include "app/lab/roofline/roofline.h"
#include "app/text/csv.h"
#include "app/ui_state/gl_report.h"
#include "compute/sim/backends.h"

namespace orrery {

/// The facts of a run, for people, from add_simulation() or add_simulations(): scene, bodies, seed, integrator, law,
/// ...
ReportFacts run_facts(const Json& simulation);

/// "collision, 8,192 bodies", or "collision, 1,024 to 16,384 bodies".
std::string run_title(const Json& simulation);

/// "Made on 2026-11-23 at 03:15:27 UTC by Orrery 0.2.0 on AMD EPYC.", from machine_metadata().
std::string made_words(const Json& machine);

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
