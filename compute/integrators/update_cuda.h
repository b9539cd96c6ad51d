#pragma once

#include <cstdint>

#include "compute/core/vec.h"

struct CUstream_st;

namespace orrery::cuda {

class Device;

/// Where passes over the bodies tell of the first one that is not finite. Passes are numbered in the order in which
/// they run.
struct FaultReport {
  static constexpr unsigned long long none = ~0ull;
  unsigned long long* d_first = nullptr;  ///< pass << 32 | body, the least of all; `none` as long as all is well
  int* seen = nullptr;                    ///< in host memory that the device reaches: not 0 once there is one
};

/// What one pass tells, and when: of a body that was not finite before it, and of one that is not finite afterwards.
struct FaultCheck {
  FaultReport report;
  std::uint32_t before = 0, after = 0;  ///< numbers of passes, before <= after
};

/// Whether this build holds machine code that `device` runs. Throws cuda::Error.
bool has_code_for(const Device& device);

/// kick_drift_body() of update.h for `count` bodies in memory of `device`, which must be active, on the stream. Does
/// nothing where a pass below `check.before` has told of a fault, so that the positions stay what they were.
void kick_drift(const Device& device, Vec4* d_positions, Vec4* d_velocities, const Vec4* d_accelerations, int count,
                float kick_dt, float drag, float drift_dt, const FaultCheck& check, CUstream_st* stream);

/// Enqueues a look at all bodies that changes nothing, as the pass of this number.
void check_finite(const Vec4* d_positions, const Vec4* d_velocities, int count, const FaultReport& report,
                  std::uint32_t pass, CUstream_st* stream);

}  // namespace orrery::cuda
