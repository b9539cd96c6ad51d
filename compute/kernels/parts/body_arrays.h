#pragma once

#include "compute/core/vec.h"

namespace orrery {

/// Layout of the bodies in memory (docs/literature.md, rows 15 and 20). `float4`: the caller's array of x, y, z, m.
/// `float3`: triples of 12 bytes. `soa`: one array per coordinate. `aos6`: records of 24 bytes with x, y, z and three
/// velocities that no force needs. All but `float4` have a separate array of masses.
enum class Layout { float4, float3, soa, aos6 };

#if defined(__CUDACC__)
/// Loads 16 aligned bytes with one instruction. The compiler might split the load of a Vec4 into several.
__device__ __forceinline__ Vec4 load_vec4(const Vec4* from) {
  const ::float4 v = *reinterpret_cast<const ::float4*>(from);
  return {v.x, v.y, v.z, v.w};
}
#endif

/// Bodies in one of the layouts, in device memory that does not change while a kernel runs.
struct BodyArrays {
  const Vec4* vectors = nullptr;  ///< float4: the bodies
  const float* x = nullptr;       ///< soa: the x coordinates; float3, aos6: the array of records
  const float* y = nullptr;       ///< soa: the y coordinates
  const float* z = nullptr;       ///< soa: the z coordinates
  const float* mass = nullptr;

#if defined(__CUDACC__)
  template <Layout layout>
  __device__ __forceinline__ Vec4 load(int i) const {
    if constexpr (layout == Layout::float4) {
      const ::float4 v = __ldg(reinterpret_cast<const ::float4*>(vectors) + i);
      return {v.x, v.y, v.z, v.w};
    } else if constexpr (layout == Layout::soa) {
      return {__ldg(x + i), __ldg(y + i), __ldg(z + i), __ldg(mass + i)};
    } else {
      constexpr long long floats = layout == Layout::float3 ? 3 : 6;
      const float* record = x + i * floats;
      return {__ldg(record), __ldg(record + 1), __ldg(record + 2), __ldg(mass + i)};
    }
  }
  /// Loads a body. Branches on `layout` at run time, so it is for code outside the inner loop.
  __device__ __forceinline__ Vec4 load(Layout layout, int i) const {
    switch (layout) {
      case Layout::float4:
        return load<Layout::float4>(i);
      case Layout::float3:
        return load<Layout::float3>(i);
      case Layout::soa:
        return load<Layout::soa>(i);
      default:
        return load<Layout::aos6>(i);
    }
  }
#endif
};

}  // namespace orrery
