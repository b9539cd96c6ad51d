#pragma once

#include <cstdint>

// The vector units of this processor.
namespace orrery {

/// Returns the usual name of the instruction set of a Highway target: "AVX-512" for AVX3.
const char* simd_name(std::int64_t target);

/// Returns the name of the best instruction set of this processor that Highway knows: "AVX-512".
const char* best_simd_name();

/// The most fused multiply-adds in single precision that threads of this processor reach.
struct FmaLimit {
  const char* instruction_set = "";  ///< the best that Highway knows on this processor: "AVX2"
  int lanes = 1;                     ///< numbers in one of its vectors
  double per_s = 0;                  ///< rate of all threads together, counted per lane
};

/// Runs chains of independent fused multiply-adds on this many threads, for about 30 ms.
FmaLimit measure_fma_limit(int threads);

}  // namespace orrery
