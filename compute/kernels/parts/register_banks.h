#pragma once

#include "compute/core/vec.h"

#if defined(__CUDACC__)
namespace orrery {

// Since Volta, even and odd registers form two banks, which deliver one operand each per clock. A load of 16 bytes
// starts at an even register, so x_j - x_i of two bodies reads one bank twice. Rotating the components of one body in
// shared memory moves them to the other bank: 6 % of the whole sum on an H100 (docs/measurements).

__device__ __forceinline__ Vec4 rotated(const Vec4& body) {
  return {body.y, body.z, body.w, body.x};
}
__device__ __forceinline__ Vec4 rotated_back(const Vec4& words) {
  return {words.w, words.x, words.y, words.z};
}

}  // namespace orrery
#endif
