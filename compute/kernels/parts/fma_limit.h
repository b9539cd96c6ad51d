#pragma once

namespace orrery {

/// The most fused multiply-adds in single precision that threads of this processor reach.
struct FmaLimit {
  const char* instruction_set = "";  ///< the best that Highway knows on this processor: "AVX2"
  int lanes = 1;                     ///< numbers in one of its vectors
  double per_s = 0;                  ///< of all threads together, counted per lane
};

/// Runs chains of independent fused multiply-adds on this many threads, for about 30 ms.
FmaLimit measure_fma_limit(int threads);

}  // namespace orrery
