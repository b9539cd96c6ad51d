#pragma once

/// Marks a function that both the host and the CUDA device compilers see.
#if defined(__CUDACC__)
#define ORRERY_HD __host__ __device__
#else
#define ORRERY_HD
#endif

namespace orrery {

/// Four floats in 16 aligned bytes: nvcc loads and stores it with one instruction, as it does float4.
struct alignas(16) Vec4 {
  float x = 0, y = 0, z = 0, w = 0;
  friend bool operator==(const Vec4&, const Vec4&) = default;
};

template <class Real>
struct Vec3Of {
  Real x{}, y{}, z{};
  friend bool operator==(const Vec3Of&, const Vec3Of&) = default;
};
using Vec3 = Vec3Of<float>;
using Vec3d = Vec3Of<double>;

}  // namespace orrery
