#pragma once

#include <cmath>

#include "compute/core/law.h"
#include "compute/core/vec.h"

namespace orrery {

/// Computation of 1 / sqrt(x). `fast`: rsqrt.approx (2 ulp); `exact`: correctly rounded square root and division.
enum class Rsqrt { fast, exact };

/// Float type for the pair laws in CUDA kernels. Its parameters choose the reciprocal square root, and whether every
/// operation flushes denormal numbers to zero, as nvcc's -ftz=true does for a whole file (docs/literature.md, row 20).
/// On the host, denormal numbers are always kept.
template <Rsqrt rsqrt, bool flushes>
class DeviceFloat {
 public:
  ORRERY_HD constexpr DeviceFloat(float value = 0) : value_{value} {}
  ORRERY_HD constexpr float value() const { return value_; }

// Without .rn, ptxas may fuse a multiplication and an addition, as nvcc does by default.
#if defined(__CUDA_ARCH__)
#define ORRERY_FLUSHING(instruction, ...)              \
  if constexpr (flushes) {                             \
    float result;                                      \
    asm(instruction ";" : "=f"(result) : __VA_ARGS__); \
    return result;                                     \
  }
#else
#define ORRERY_FLUSHING(instruction, ...)
#endif
  ORRERY_HD friend DeviceFloat operator+(DeviceFloat a, DeviceFloat b) {
    ORRERY_FLUSHING("add.ftz.f32 %0, %1, %2", "f"(a.value_), "f"(b.value_))
    return a.value_ + b.value_;
  }
  ORRERY_HD friend DeviceFloat operator-(DeviceFloat a, DeviceFloat b) {
    ORRERY_FLUSHING("sub.ftz.f32 %0, %1, %2", "f"(a.value_), "f"(b.value_))
    return a.value_ - b.value_;
  }
  ORRERY_HD friend DeviceFloat operator*(DeviceFloat a, DeviceFloat b) {
    ORRERY_FLUSHING("mul.ftz.f32 %0, %1, %2", "f"(a.value_), "f"(b.value_))
    return a.value_ * b.value_;
  }
  ORRERY_HD friend DeviceFloat multiply_add(DeviceFloat a, DeviceFloat b, DeviceFloat c) {
    ORRERY_FLUSHING("fma.rn.ftz.f32 %0, %1, %2, %3", "f"(a.value_), "f"(b.value_), "f"(c.value_))
    return a.value_ * b.value_ + c.value_;
  }
  ORRERY_HD friend DeviceFloat reciprocal_sqrt(DeviceFloat x) {
    if constexpr (rsqrt == Rsqrt::fast) {
      ORRERY_FLUSHING("rsqrt.approx.ftz.f32 %0, %1", "f"(x.value_))
#if defined(__CUDA_ARCH__)
      return rsqrtf(x.value_);
#endif
    }
    return reciprocal(square_root(x));
  }

 private:
  ORRERY_HD static DeviceFloat square_root(DeviceFloat x) {
    ORRERY_FLUSHING("sqrt.rn.ftz.f32 %0, %1", "f"(x.value_))
    return sqrtf(x.value_);
  }
  ORRERY_HD static DeviceFloat reciprocal(DeviceFloat x) {
    ORRERY_FLUSHING("rcp.rn.ftz.f32 %0, %1", "f"(x.value_))
    return 1.0f / x.value_;
  }
#undef ORRERY_FLUSHING

  float value_;
};

/// Converts a kernel's sum to floats, for the epilogue.
template <Rsqrt rsqrt, bool flushes>
ORRERY_HD Vec3 values(const Vec3Of<DeviceFloat<rsqrt, flushes>>& sum) {
  return {sum.x.value(), sum.y.value(), sum.z.value()};
}

/// Constants of the pair laws. CUDA kernels take them as a kernel argument, which is in constant memory.
template <class Real>
struct PairConstantsOf {
  Real softening_sq;
  Real repulsion;

  ORRERY_HD explicit PairConstantsOf(const Law& law)
      : softening_sq{static_cast<Real>(law.softening) * static_cast<Real>(law.softening)}, repulsion{law.repulsion} {}
};

using PairConstants = PairConstantsOf<float>;

template <LawId law, class Real, class Stored>
ORRERY_HD auto pair_law(const PairConstantsOf<Stored>& constants) {
  if constexpr (law == LawId::attract_repel) {
    return AttractRepel<Real>{constants.softening_sq, constants.repulsion, 1.0f};
  } else {
    return Gravity<Real>{constants.softening_sq};
  }
}

}  // namespace orrery
