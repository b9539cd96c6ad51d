#pragma once

#include "compute/core/force_law.h"
#include "compute/kernels/dispatch.h"
#include "compute/kernels/parts/device_float.h"

namespace orrery {

// A CUDA direct sum is a template over everything that would cost time in the inner loop if it were known only at run
// time. All its instances have one signature. A chain of dispatches (kernels/dispatch.h), one per axis, compiles every
// combination and returns a pointer to the requested one.

/// The constants of the pair laws. Every instance takes them as an argument, so that they lie in the constant bank.
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

/// The values of the settings `rsqrt` and `ftz`.
struct Arithmetic {
  Rsqrt rsqrt;
  bool flushes;
};

/// Returns use(law, real). `law` is a constant of type LawId, `real` a value of the inner loop's DeviceFloat type.
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
