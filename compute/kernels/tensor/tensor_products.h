#pragma once

#include <cstdint>

// Matrix products of a warp on tensor cores, by mma.sync. Compiled for compute capabilities below 8.0, they do nothing.
// Lane 4 g + t holds the elements (g, 2t), (g, 2t + 1), (g + 8, 2t) and (g + 8, 2t + 1) of a 16 x 8 result.
namespace orrery::tensor {

inline constexpr int least_capability = 8;  ///< minimum major compute capability

#if defined(__CUDACC__)

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define ORRERY_TENSOR(...) asm(__VA_ARGS__)
#else
#define ORRERY_TENSOR(...)
#endif

/// Computes d = a b for FP16 matrices with k = 8; d is in FP32.
__device__ inline void multiply_k8(float (&d)[4], const std::uint32_t (&a)[2], std::uint32_t b) {
  ORRERY_TENSOR("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
                : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                : "r"(a[0]), "r"(a[1]), "r"(b), "f"(0.0f));
}

/// Adds a b to d for FP16 matrices with k = 16; d is in FP32.
__device__ inline void add_product_k16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  ORRERY_TENSOR(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Adds a b to d in TF32, which ignores the 13 low bits of each number. `a` is a result fragment of another product:
/// its columns 2t and 2t + 1 are k = t and t + 4 of this one.
__device__ inline void add_product_tf32(float (&d)[4], const float (&a)[4], const std::uint32_t (&b)[2]) {
  ORRERY_TENSOR(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[3])),
        "r"(b[0]), "r"(b[1]));
}

__device__ inline float nearest_tf32(float value) {
  const float rounded = __uint_as_float((__float_as_uint(value) + 0x1000u) & 0xffffe000u);
  return isfinite(value) ? rounded : value;
}

/// Copies 16 bytes from global to shared memory asynchronously. wait_for_copies() waits for this thread's copies.
__device__ inline void copy_in_background(void* shared, const void* global) {
  ORRERY_TENSOR(
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))),
      "l"(global)
      : "memory");
}
__device__ inline void wait_for_copies() {
  ORRERY_TENSOR("cp.async.wait_all;" ::: "memory");
}

#undef ORRERY_TENSOR

#endif

}  // namespace orrery::tensor
