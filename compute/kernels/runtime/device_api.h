#pragma once

#include "compute/core/law.h"
#include "compute/kernels/epilogue.h"

// Argument types of the __global__ function of a kernel file. The compiler reads this header before the file.
namespace orrery {

/// Sources of the forces: all bodies.
struct Sources {
  const Vec4* bodies;  ///< x, y, z, m of `count` bodies, in device memory
  int count;           ///< >= 1
};

/// Pair law of an evaluation, with constants in float, for add_pull(). `law` has the values that they were made from.
template <class PairLaw>
struct LawArgument : PairLaw {
  Law law;

  /// Returns the same pair law for another number type: double or a DeviceFloat.
  template <class Real>
  ORRERY_HD auto in() const;
};
using GravityArgument = LawArgument<Gravity<float>>;
using AttractRepelArgument = LawArgument<AttractRepel<float>>;

template <>
template <class Real>
ORRERY_HD auto GravityArgument::in() const {
  return Gravity<Real>{static_cast<Real>(law.softening) * static_cast<Real>(law.softening)};
}
template <>
template <class Real>
ORRERY_HD auto AttractRepelArgument::in() const {
  return AttractRepel<Real>{static_cast<Real>(law.softening) * static_cast<Real>(law.softening),
                            static_cast<Real>(law.repulsion), static_cast<Real>(1.0f)};
}

#if defined(__CUDACC_RTC__)
#if !defined(INFINITY)
#define INFINITY __int_as_float(0x7f800000)  // <cmath> of NVRTC lacks it
#endif

/// The law that this kernel is compiled for, as a constant.
inline constexpr LawId law_id = static_cast<LawId>(ORRERY_LAW);

template <LawId law>
struct LawArgumentOf {
  using Type = GravityArgument;
};
template <>
struct LawArgumentOf<LawId::attract_repel> {
  using Type = AttractRepelArgument;
};
using PairLaw = LawArgumentOf<law_id>::Type;

/// True if the function has the parameters that a kernel file needs.
template <class Function>
inline constexpr bool is_force_kernel = false;
template <>
inline constexpr bool is_force_kernel<void (*)(Targets, Sources, PairLaw, Epilogue)> = true;
#endif

}  // namespace orrery

#if defined(__CUDACC_RTC__)
using namespace orrery;
#endif
