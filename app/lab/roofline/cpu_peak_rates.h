#pragma once

#include <string>

#include "app/text/csv.h"

namespace orrery {

/// What the processor does at most with the threads that this program may use, as measured.
struct CpuPeakRates {
  int threads = 0;
  std::string instruction_set{};  ///< of the vectors: "AVX2"
  double fma_per_s = 0;           ///< fused multiply-adds in single precision, counted per lane
  double memory_bytes_per_s = 0;  ///< see measure_memory_rate(); 0: too little memory is free

  Json json() const;
  /// One line without its end and without a title.
  std::string text() const;
};

/// Takes some 0.3 s of the processor.
CpuPeakRates measure_cpu_peak_rates();

}  // namespace orrery
