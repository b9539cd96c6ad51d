#pragma once

#if defined(__CUDACC__)
namespace orrery {

/// Calls body(j) for j = 0 ... count - 1 in order, `unroll` calls per pass of the loop and the rest one by one. `count`
/// must be a multiple of `divisor`. If `unroll` divides `divisor`, there is no code for the rest.
template <int unroll, int divisor = 1, class Body>
__device__ __forceinline__ void unrolled_for(int count, Body body) {
  int j = 0;
#pragma unroll 1
  for (; j <= count - unroll; j += unroll) {
#pragma unroll
    for (int next = 0; next < unroll; ++next) body(j + next);
  }
  if constexpr (divisor % unroll != 0) {
#pragma unroll 1
    for (; j < count; ++j) body(j);
  }
}

}  // namespace orrery
#endif
