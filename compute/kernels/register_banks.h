#pragma once

#include "compute/core/vec.h"

#if defined(__CUDACC__)
namespace orrery {

// A load of 16 bytes fills four registers in a row, from an even one on. Since Volta even and odd registers lie in two
// banks, each of which gives one operand a clock: x - x of two bodies that were loaded alike waits for its own bank, in
// all three differences of a pair. Of a body that lies in shared memory with its words reversed the coordinates come
// into the other bank. Measured on an H100: 6 % of the whole sum (docs/measurements).

/// Undoes itself.
__device__ __forceinline__ Vec4 reversed(const Vec4& body) {
  return {body.w, body.z, body.y, body.x};
}

}  // namespace orrery
#endif
