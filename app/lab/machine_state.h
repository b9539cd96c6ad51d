#pragma once

#include "app/text/csv.h"
#include "compute/sim/backends.h"

namespace orrery {

/// The state of a CUDA device now: clock_mhz, memory_clock_mhz, power_w, temperature_c and slowed_by (why the clock is
/// not at its maximum), null if the driver does not report it; or only `reason`, why nothing is known.
Json gpu_state_json(int device);

/// The same for the device that CUDA kernels run on; null if there is none.
Json machine_state(const Backends& backends);

}  // namespace orrery
