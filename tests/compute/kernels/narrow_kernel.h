#pragma once

namespace orrery::test {

/// The most threads that a block of narrow_kernel() may have.
inline constexpr int narrow_block = 128;

/// A __global__ function that no launch with larger blocks can honour, on any GPU.
const void* narrow_kernel();

}  // namespace orrery::test
