#include "app/lab/roofline/machine_peak_rates.h"

#include <fmt/format.h>

#include <cmath>
#include <exception>
#include <string>

#include "app/text/table.h"

#if ORRERY_HAVE_CUDA
#include "compute/core/failure_text.h"
#include "compute/cuda/device.h"
#endif

namespace orrery {
namespace {

/// 0 stands for what is not known.
Json or_null(double rate) {
  return rate > 0 ? Json(rate) : Json(nullptr);
}

std::string memory_text(const PeakRates& rates) {
  if (!(rates.dram_bytes_per_s > 0)) return "too little free memory to measure its rate";
  std::string text = with_prefix(rates.dram_bytes_per_s) + "B/s of memory";
  if (rates.dram_limit_bytes_per_s >= rates.dram_bytes_per_s) {
    text += fmt::format(" ({:.0f} % of what its clock allows)",
                        100 * rates.dram_bytes_per_s / rates.dram_limit_bytes_per_s);
  }
  return text;
}

}  // namespace

Json MachinePeakRates::json() const {
  if (!peak_rates) return {{"reason", reason}};
  return {{"device", device},
          {"fma_per_s", peak_rates->fma_per_s},
          {"fp32_flop_per_s", 2 * peak_rates->fma_per_s},
          {"rsqrt_per_s", peak_rates->rsqrt_per_s},
          {"clock_mhz", std::round(peak_rates->clock_mhz)},
          {"dram_bytes_per_s", or_null(peak_rates->dram_bytes_per_s)},
          {"dram_limit_bytes_per_s", or_null(peak_rates->dram_limit_bytes_per_s)}};
}

std::string MachinePeakRates::text() const {
  if (!peak_rates) return fmt::format("not measured: {}", reason);
  return fmt::format(
      "{:.1f} TFLOP/s in FP32 ({:.2f} T FMA/s at 2 flop each), {:.2f} T rsqrt/s, {}; GPU {} at {:.0f} MHz",
      2 * peak_rates->fma_per_s * 1e-12, peak_rates->fma_per_s * 1e-12, peak_rates->rsqrt_per_s * 1e-12,
      memory_text(*peak_rates), device, peak_rates->clock_mhz);
}

MachinePeakRates measure_machine_peak_rates([[maybe_unused]] const Backends& backends) {
#if ORRERY_HAVE_CUDA
  if (!backends.device()) return {.reason = backends.status(Backend::cuda).reason};
  try {
    return {.device = backends.device()->ordinal(), .peak_rates = cuda::measure_peak_rates(*backends.device())};
  } catch (const std::exception& failure) {
    return {.reason = failure_text(failure)};
  }
#else
  return {.reason = "this program was built without CUDA"};
#endif
}

}  // namespace orrery
