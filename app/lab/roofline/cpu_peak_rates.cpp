#include "app/lab/roofline/cpu_peak_rates.h"

#include <fmt/format.h>

#include "app/lab/roofline/memory_rate.h"
#include "app/text/table.h"
#include "compute/core/team.h"
#include "compute/kernels/parts/fma_limit.h"

namespace orrery {

Json CpuPeakRates::json() const {
  return {{"threads", threads},
          {"instruction_set", instruction_set},
          {"fma_per_s", json_number(fma_per_s)},
          {"memory_bytes_per_s", memory_bytes_per_s > 0 ? json_number(memory_bytes_per_s) : Json(nullptr)}};
}

std::string CpuPeakRates::text() const {
  return fmt::format("{} thread{}: {} FMA/s in FP32 ({}), {}", threads, threads == 1 ? "" : "s", with_prefix(fma_per_s),
                     instruction_set,
                     memory_bytes_per_s > 0 ? with_prefix(memory_bytes_per_s) + "B/s of memory"
                                            : "too little free memory to measure its rate");
}

CpuPeakRates measure_cpu_peak_rates() {
  const int threads = usable_threads();
  const FmaLimit limit = measure_fma_limit(threads);
  return {.threads = threads,
          .instruction_set = limit.instruction_set,
          .fma_per_s = limit.per_s,
          .memory_bytes_per_s = measure_memory_rate(threads)};
}

}  // namespace orrery
