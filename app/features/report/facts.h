#pragma once

#include <optional>
#include <string>

#include "app/features/report/page.h"
#include "app/lab/roofline/roofline.h"
#include "app/text/csv.h"
#include "app/ui_state/gl_report.h"
#include "compute/sim/backends.h"

namespace orrery {

/// Returns the facts of a run for readers: scene, bodies, seed, integrator, law and so on. `simulation` is from
/// add_simulation() or add_simulations().
ReportFacts run_facts(const Json& simulation);

/// Returns a title: "collision, 8,192 bodies", or "collision, 1,024 to 16,384 bodies".
std::string run_title(const Json& simulation);

/// Returns "Made on 2026-11-23 at 03:15:27 UTC by Orrery 0.2.0 on AMD EPYC." `machine` is from machine_metadata().
std::string made_words(const Json& machine);

/// Program, processor, GPUs, driver and OpenGL: as JSON, and as `facts` for readers. A fact without a name belongs to
/// the fact before it.
struct MachineReport {
  Json cpu{}, cuda{}, gl{};
  std::string mpi{};  ///< see mpi_library()
  ReportFacts facts{};
};

/// Describes this machine. Leaves out the rows of `peak_rates` (GPU) or `cpu_peak_rates` if they are none.
MachineReport machine_report(const Backends& backends, const GlReport& gl,
                             const std::optional<MachinePeakRates>& peak_rates,
                             const std::optional<CpuPeakRates>& cpu_peak_rates = {});

}  // namespace orrery
