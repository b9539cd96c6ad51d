#pragma once

#include "compute/core/force_law.h"
#include "compute/kernels/dispatch.h"
#include "compute/kernels/parts/device_float.h"

namespace orrery {

// A CUDA direct sum is a template over what must be known at compile time to cost nothing in the inner loop. Its
// instances all have one signature, so that a choice at run time ends in a plain function pointer: a chain of
// dispatches (kernels/dispatch.h), one per axis, names every instance of the product and returns the one asked for.

/// The constants of the pair laws: an argument of every instance, whatever its law, so that they lie in the constant
/// bank.
template <class Real>
struct PairConstantsOf {
  Real softening_sq;
  Real repulsion;

  explicit PairConstantsOf(const Law& law)
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

inline constexpr Values<LawId::gravity, LawId::attract_repel> law_values{"gravity", "attract-repel"};
inline constexpr Values<Rsqrt::fast, Rsqrt::exact> rsqrt_values{"fast", "exact"};
inline constexpr Values<false, true> switch_values{"off", "on"};

/// The arithmetic that the settings `rsqrt` and `ftz` ask for.
struct Arithmetic {
  Rsqrt rsqrt;
  bool flushes;
};

/// Returns use(law, real): `law` a constant of type LawId, `real` a value of the DeviceFloat type that the inner loop
/// computes with.
template <class Use>
auto dispatch_arithmetic(LawId law, Arithmetic arithmetic, const Use& use) {
  return law_values.dispatch(law, [&](auto chosen_law) {
    return rsqrt_values.dispatch(arithmetic.rsqrt, [&](auto rsqrt) {
      return switch_values.dispatch(arithmetic.flushes, [&](auto flushes) {
        return use(chosen_law, DeviceFloat<decltype(rsqrt)::value, decltype(flushes)::value>{});
      });
    });
  });
}

}  // namespace orrery
