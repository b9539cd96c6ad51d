#pragma once

#include "compute/core/law.h"

namespace orrery {

/// Arithmetic that the inner loop of a CPU kernel does for one interaction, counted per lane: additions,
/// multiplications, fused multiply-adds, roots and their estimates, divisions. Loads, and what is outside of the loop,
/// do not count. arithmetic_test.cpp counts them in the loops' own text; the disassembly by g++ 12 has as many (x86-64,
/// fused multiply-adds where the processor has vectors).
struct InteractionArithmetic {
  double gravity, attract_repel;
  int bits = 32;  ///< of a number

  double operations(LawId law) const { return law == LawId::attract_repel ? attract_repel : gravity; }
  /// The same in lanes of 32 bit, in which the FMA limit is counted.
  double float_lanes(LawId law) const { return operations(law) * bits / 32; }
};

/// Of one number at a time without fused multiply-adds, see scalar_rows.h.
inline constexpr InteractionArithmetic scalar_arithmetic{.gravity = 20, .attract_repel = 23};
/// Of vectors in simd_pull.inl: bodies of cpu-simd and of cpu-tree.
inline constexpr InteractionArithmetic simd_arithmetic{.gravity = 16, .attract_repel = 18};

/// A direct sum on the CPU that states its arithmetic: a base class of its ForceKernel.
class ArithmeticFacet {
 public:
  virtual ~ArithmeticFacet() = default;
  virtual InteractionArithmetic arithmetic() const = 0;
};

}  // namespace orrery
