#pragma once

#include <vector>

#include "app/text/csv.h"
#include "compute/sim/backends.h"
#include "compute/sim/command.h"

namespace orrery {

/// Returns the conditions of a measurement, for the first line of every file: program, version, git id, build flags,
/// date (UTC), CPU, GPU, driver and CUDA runtime. The last three are null if there is no GPU.
Json machine_metadata(const Backends& backends);

/// Adds scene, n, seed, integrator, law with its constants, dt and softening.
void add_simulation(Json& metadata, const Status& status);

/// Adds the same keys for measurements with these counts; `first` is the status of the first one. With several counts,
/// n is a list. dt and softening, which may depend on n, are then null, as each row has its own.
void add_simulations(Json& metadata, const Status& first, const std::vector<int>& counts);

/// Returns the double with the same shortest decimal text as the float: 0.1f as 0.1, not 0.10000000149.
double decimal(float value);

/// Returns the current state of a CUDA device: clock_mhz, memory_clock_mhz, power_w, temperature_c and slowed_by (why
/// the clock is below its maximum). Values that the driver does not report are null. If nothing is known, there is only
/// `reason`.
Json gpu_state_json(int device);

/// States of a kernel's machine, from machine_state(): before the first step, during a sample in the second half, and
/// after the last step. Null for the CPU. `during` is null if no sample was in flight at the time.
struct MachineStates {
  Json before{}, during{}, after{};
};

/// Returns the state of the device that runs CUDA kernels; null if there is none.
Json machine_state(const Backends& backends);

}  // namespace orrery
