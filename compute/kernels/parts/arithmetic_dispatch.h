#pragma once

#include "compute/core/force_law.h"
#include "compute/kernels/dispatch.h"
#include "compute/kernels/parts/device_float.h"
#include "compute/kernels/parts/pair_constants.h"

namespace orrery {

// A CUDA direct sum is a template over everything that would cost time in the inner loop if it were known only at run
// time. All its instances have one signature. A chain of dispatches (kernels/dispatch.h), one per axis, compiles every
// combination and returns a pointer to the requested one.

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
