#pragma once

#include "compute/kernels/kernel.h"

namespace orrery {

/// Of a cell that acts on one body in cpu-tree, see cell_pull.inl.
inline constexpr InteractionArithmetic cell_arithmetic{.gravity = 37, .attract_repel = 39};

/// Vector instructions for a cell that joins the expansion of a group, counted in the disassembly of its loop for AVX2
/// and AVX-512 by g++ 12. Under attract-repel, groups have no expansions.
inline constexpr double instructions_per_distant_cell = 141, instructions_per_high_cell = 1177;

}  // namespace orrery
