#pragma once

#include <cstdint>

#include "compute/core/vec.h"

// A pass over bodies on CUDA devices, made by the integrators: what it does and reports.
namespace orrery::cuda {

/// A non-finite body and the pass that found it, in one number, so that the earliest pass, and in it the first body, is
/// the least. Passes over the bodies are numbered in the order in which they run.
struct PackedFinding {
  unsigned long long bits = ~0ull;  ///< initially none, which is more than any

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
  int* seen = nullptr;               ///< in host memory that the device can access: not 0 once there is a finding
  const int* ids = nullptr;          ///< the bodies' numbers; null: 0, 1, ...

  ORRERY_HD int number_of(int i) const { return ids ? ids[i] : i; }
};

/// The passes that one pass reports: for a body that was not finite before it, and for one that is not finite after it.
/// Numbers of passes, frozen_below <= before <= after.
struct NonFiniteCheck {
  NonFiniteReport report;
  std::uint32_t frozen_below = 0;  ///< the pass does nothing if one below this reported a body
  std::uint32_t before = 0, after = 0;
};

/// A pass over the bodies: a kick that the step before left to it, a kick, a drift, of these lengths in time; 0: none.
/// Both kicks are by the stored accelerations.
struct KickDrift {
  double owed_kick_dt = 0, kick_dt = 0, drift_dt = 0;
  float drag = 0;  ///< see kick_body() of the integrators
};

}  // namespace orrery::cuda
