#pragma once

#include <vector>

#include "app/text/csv.h"
#include "compute/sim/backends.h"
#include "compute/sim/command.h"

namespace orrery {

/// The conditions of a measurement, for the first line of every file: program, version, git id, build flags, date
/// (UTC), CPU, GPU, driver and CUDA runtime; the last three are null if there is no GPU.
Json machine_metadata(const Backends& backends);

/// Adds scene, n, seed, integrator, law with its constants, dt and softening.
void add_simulation(Json& metadata, const Status& status);

/// Adds the same for measurements with these counts; `first` is the status of the first. If there are several, n lists
/// them, and dt and softening, which may depend on n, are null: each row has its own.
void add_simulations(Json& metadata, const Status& first, const std::vector<int>& counts);

/// A float as the double with the same shortest decimal text: 0.1f as 0.1, not 0.10000000149.
double decimal(float value);

/// The state of a CUDA device now: clock_mhz, memory_clock_mhz, power_w, temperature_c and slowed_by (why the clock is
/// not at its maximum), null if the driver does not report it; or only `reason`, why nothing is known.
Json gpu_state_json(int device);

/// States of the machine of a kernel, each from machine_state(): before the first step, during a sample in the second
/// half, and after the last step. Null for the CPU, and if no sample was in flight when the state was read.
struct MachineStates {
  Json before{}, during{}, after{};
};

/// The state of the device that CUDA kernels run on; null if there is none.
Json machine_state(const Backends& backends);

}  // namespace orrery
