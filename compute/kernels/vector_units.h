#pragma once

#include <cstdint>

// Vector units of this processor.
namespace orrery {

/// Returns the usual name of the instruction set of a Highway target: "AVX-512" for AVX3.
const char* simd_name(std::int64_t target);

/// Returns the name of the best instruction set of this processor that Highway knows: "AVX-512".
const char* best_simd_name();

/// Maximum rate of fused multiply-adds in single precision on this processor, measured.
struct FmaLimit {
  const char* instruction_set = "";  ///< best set that Highway knows on this processor: "AVX2"
  int lanes = 1;                     ///< number of floats in one vector
  double per_s = 0;                  ///< multiply-adds per second of all threads together, counted per lane
};

/// Returns the limit, measured by independent chains of fused multiply-adds on this many threads, for about 30 ms.
FmaLimit measure_fma_limit(int threads);

}  // namespace orrery
