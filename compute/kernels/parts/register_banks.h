#pragma once

#include "compute/core/vec.h"

#if defined(__CUDACC__)
namespace orrery {

// A load of 16 bytes fills four consecutive registers, the first of them even. Since Volta, even and odd registers lie
// in two banks, and each bank delivers one operand per clock: x - x of two bodies that were loaded alike needs one bank
// twice. If the components of one body lie rotated by one place in shared memory, its coordinates come into the other
// bank. Measured on an H100: 6 % of the whole sum (docs/measurements).

__device__ __forceinline__ Vec4 rotated(const Vec4& body) {
  return {body.y, body.z, body.w, body.x};
}
__device__ __forceinline__ Vec4 rotated_back(const Vec4& words) {
  return {words.w, words.x, words.y, words.z};
}

}  // namespace orrery
#endif
