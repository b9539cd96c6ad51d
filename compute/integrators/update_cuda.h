#pragma once

#include "compute/core/vec.h"

struct CUstream_st;

namespace orrery::cuda {

/// Throws cuda::Error where this build holds no machine code that the current device runs.
void require_code();

/// kick_drift_body() of update.h for `count` bodies in device memory, enqueued on the stream.
void kick_drift(Vec4* d_positions, Vec4* d_velocities, const Vec4* d_accelerations, int count, float kick_dt,
                float drag, float drift_dt, CUstream_st* stream);

}  // namespace orrery::cuda
