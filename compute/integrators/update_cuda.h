#pragma once

#include <cstdint>

#include "compute/core/vec.h"
#include "compute/integrators/body_state.h"
#include "compute/kernels/body_pass.h"

struct CUstream_st;

namespace orrery::cuda {

class Device;

/// Whether this build holds machine code that `device` runs. Throws cuda::Error.
bool has_code_for(const Device& device);

/// kick_body() with the owed kick, and kick_drift_body() of update.h, for `count` bodies in memory of `device`, which
/// must be active, enqueued on the stream. If the bodies are frozen, only the owed kick is made.
void kick_drift(const Device& device, const StateArrays& arrays, int count, const KickDrift& pass,
                const NonFiniteCheck& check, CUstream_st* stream);

/// Enqueues a look at all bodies that changes nothing, as the pass of this number.
void check_finite(const Vec4* d_positions, const Vec4* d_velocities, int count, const NonFiniteReport& report,
                  std::uint32_t pass, CUstream_st* stream);

}  // namespace orrery::cuda
