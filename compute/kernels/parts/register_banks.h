#pragma once

#include "compute/core/vec.h"

#if defined(__CUDACC__)
namespace orrery {

// A load of 16 bytes fills four registers in a row, from an even one on. Since Volta even and odd registers lie in two
// banks, each of which gives one operand a clock: x - x of two bodies that were loaded alike waits for its own bank, in
// all three differences of a pair. Of a body that lies turned by one place in shared memory the coordinates come into
// the other bank. Measured on an H100: 6 % of the whole sum (docs/measurements).

__device__ __forceinline__ Vec4 rotated(const Vec4& body) {
  return {body.y, body.z, body.w, body.x};
}
__device__ __forceinline__ Vec4 rotated_back(const Vec4& words) {
  return {words.w, words.x, words.y, words.z};
}

}  // namespace orrery
#endif
