#include "app/lab/roofline/machine_peak_rates.h"

#include <fmt/format.h>

#include <cmath>
#include <exception>

#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#endif

namespace orrery {

Json MachinePeakRates::json() const {
  if (!peak_rates) return {{"reason", reason}};
  return {{"device", device},
          {"fma_per_s", peak_rates->fma_per_s},
          {"fp32_flop_per_s", 2 * peak_rates->fma_per_s},
          {"rsqrt_per_s", peak_rates->rsqrt_per_s},
          {"clock_mhz", std::round(peak_rates->clock_mhz)}};
}

std::string MachinePeakRates::text() const {
  if (!peak_rates) return fmt::format("not measured: {}", reason);
  return fmt::format("{:.1f} TFLOP/s in FP32 ({:.2f} T FMA/s at 2 flop each), {:.2f} T rsqrt/s; GPU {} at {:.0f} MHz",
                     2 * peak_rates->fma_per_s * 1e-12, peak_rates->fma_per_s * 1e-12, peak_rates->rsqrt_per_s * 1e-12,
                     device, peak_rates->clock_mhz);
}

MachinePeakRates measure_machine_peak_rates([[maybe_unused]] const Backends& backends) {
#if ORRERY_HAVE_CUDA
  if (!backends.device()) return {.reason = backends.status(Backend::cuda).reason};
  try {
    return {.device = backends.device()->ordinal(), .peak_rates = cuda::measure_peak_rates(*backends.device())};
  } catch (const std::exception& failure) {
    return {.reason = failure.what()};
  }
#else
  return {.reason = "this program was built without CUDA"};
#endif
}

}  // namespace orrery
