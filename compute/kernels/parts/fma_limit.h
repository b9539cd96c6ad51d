#pragma once

namespace orrery {

/// Vector instructions that do arithmetic in cpu-simd's inner loop for one vector of interactions under gravity,
/// counted in the disassembly of add_tile for AVX2 and AVX-512 by g++ 12: 3 differences, 3 + 3 fused multiply-adds, 1
/// estimate of the reciprocal root, 3 of its Newton step, 3 of the factor. Loads are operands of these or go to other
/// ports.
inline constexpr double simd_instructions_per_pair = 16;

/// Likewise in the loops of cpu-tree over cells: one that acts on one body, and one that joins a group's expansion.
inline constexpr double simd_instructions_per_cell = 37, simd_instructions_per_distant_cell = 141,
                        simd_instructions_per_high_cell = 1177;

/// The most fused multiply-adds in single precision that threads of this processor reach.
struct FmaLimit {
  const char* instruction_set = "";  ///< the best that Highway knows on this processor: "AVX2"
  int lanes = 1;                     ///< numbers in one of its vectors
  double per_s = 0;                  ///< of all threads together, counted per lane
};

/// Runs chains of independent fused multiply-adds on this many threads, for about 30 ms.
FmaLimit measure_fma_limit(int threads);

}  // namespace orrery
