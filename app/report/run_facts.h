#pragma once

#include <string>

#include "app/report/content.h"
#include "app/text/csv.h"

namespace orrery {

/// What add_simulation() and add_simulations() know of a run, for people: scene, bodies, seed, integrator, law, ...
ReportFacts run_facts(const Json& simulation);
/// "collision, 8,192 bodies", or "collision, 1,024 to 16,384 bodies".
std::string run_title(const Json& simulation);
/// "Made on 2026-11-23 at 03:15:27 UTC by Orrery 0.2.0 on AMD EPYC.", from machine_metadata().
std::string made_words(const Json& machine);

}  // namespace orrery
