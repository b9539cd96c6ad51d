#pragma once

#include <cstdint>

#include "compute/core/vec.h"

// Input and result of a pass over bodies on CUDA devices, which the integrators make.
namespace orrery::cuda {

/// A non-finite body and the pass that found it, packed into one number. The minimum of several findings is the one of
/// the earliest pass, and within that pass the first body. Passes are numbered in the order in which they run.
struct PackedFinding {
  unsigned long long bits = ~0ull;  ///< initially no finding: larger than any finding

  PackedFinding() = default;
  ORRERY_HD constexpr PackedFinding(std::uint32_t pass, int body)
      : bits{static_cast<unsigned long long>(pass) << 32 | static_cast<std::uint32_t>(body)} {}
  ORRERY_HD constexpr bool is_before(std::uint32_t other_pass) const { return bits >> 32 < other_pass; }
  ORRERY_HD constexpr std::uint32_t pass() const { return static_cast<std::uint32_t>(bits >> 32); }
  ORRERY_HD constexpr int body() const { return static_cast<int>(static_cast<std::uint32_t>(bits)); }
};

/// Memory into which passes over the bodies report the first body that is not finite.
struct NonFiniteReport {
  PackedFinding* d_first = nullptr;  ///< the minimum of all findings
  int* seen = nullptr;               ///< host memory that the device can access; set to nonzero by the first finding
  const int* ids = nullptr;          ///< numbers of the bodies; null: 0, 1, ...

  ORRERY_HD int number_of(int i) const { return ids ? ids[i] : i; }
};

/// Check for non-finite bodies in a pass. It reports two numbers of passes: `before` for a body that was not finite
/// when the pass began, `after` for one that is not finite at its end. frozen_below <= before <= after.
struct NonFiniteCheck {
  NonFiniteReport report;
  std::uint32_t frozen_below = 0;  ///< the pass does nothing if a pass with a smaller number reported a body
  std::uint32_t before = 0, after = 0;
};

/// A pass over the bodies: the kick that the previous step left out, a kick, and a drift, each with its length in time;
/// 0: none. Both kicks use the stored accelerations.
struct KickDrift {
  double owed_kick_dt = 0, kick_dt = 0, drift_dt = 0;
  float drag = 0;  ///< see kick_body() of the integrators
};

}  // namespace orrery::cuda
