#pragma once

#include <optional>
#include <string>

#include "app/text/csv.h"
#include "compute/cuda/peak_rates.h"
#include "compute/sim/backends.h"

namespace orrery {

/// What the CUDA device can do at most, or why that was not measured.
struct MachinePeakRates {
  int device = 0;
  std::optional<PeakRates> peak_rates{};
  std::string reason{};  ///< one line; empty where they are known

  /// device, fma_per_s, fp32_flop_per_s, rsqrt_per_s, clock_mhz, dram_bytes_per_s and dram_limit_bytes_per_s (null: not
  /// known); or only `reason`.
  Json json() const;
  /// One line without its end and without a title.
  std::string text() const;
};

/// Takes some 70 ms of the device.
MachinePeakRates measure_machine_peak_rates(const Backends& backends);

}  // namespace orrery
