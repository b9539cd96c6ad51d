#include "app/lab/roofline/machine_ceilings.h"

#include <fmt/format.h>

#include <cmath>
#include <exception>

#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#endif

namespace orrery {

Json MachineCeilings::json() const {
  if (!ceilings) return {{"reason", reason}};
  return {{"device", device},
          {"fma_per_s", ceilings->fma_per_s},
          {"fp32_flop_per_s", 2 * ceilings->fma_per_s},
          {"rsqrt_per_s", ceilings->rsqrt_per_s},
          {"clock_mhz", std::round(ceilings->clock_mhz)}};
}

std::string MachineCeilings::text() const {
  if (!ceilings) return fmt::format("Ceilings not measured: {}", reason);
  return fmt::format(
      "Ceilings {:.1f} TFLOP/s in FP32 ({:.2f} T FMA/s at 2 flop each), {:.2f} T rsqrt/s; GPU {} at {:.0f} MHz",
      2 * ceilings->fma_per_s * 1e-12, ceilings->fma_per_s * 1e-12, ceilings->rsqrt_per_s * 1e-12, device,
      ceilings->clock_mhz);
}

MachineCeilings measure_machine_ceilings() {
#if ORRERY_HAVE_CUDA
  try {
    return {.device = cuda::current_device().index, .ceilings = cuda::measure_ceilings()};
  } catch (const std::exception& failure) {
    return {.reason = failure.what()};
  }
#else
  return {.reason = "this program was built without CUDA"};
#endif
}

}  // namespace orrery
