#pragma once

#include <type_traits>

#include "compute/core/force_law.h"
#include "compute/kernels/parts/number.h"

namespace orrery {

// A CUDA direct sum is a template over what must be known at compile time to cost nothing in the inner loop. Its
// instances all have one signature, so that a choice at run time ends in a plain function pointer: a chain of choose()
// calls, one an axis, names every instance of the product and returns the one asked for.

/// Returns use(std::integral_constant<decltype(first), v>) for the v among `first, rest...` that equals `value`, and
/// for the last of them where none does.
template <auto first, auto... rest, class Use>
auto choose(decltype(first) value, Use use) {
  if constexpr (sizeof...(rest) > 0) {
    if (value != first) return choose<rest...>(value, use);
  }
  return use(std::integral_constant<decltype(first), first>{});
}

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

/// Returns use(law) with `law` a constant of type LawId.
template <class Use>
auto choose_law(LawId law, Use use) {
  return choose<LawId::gravity, LawId::attract_repel>(law, use);
}

/// The arithmetic that the settings `rsqrt` and `ftz` ask for.
struct Arithmetic {
  Rsqrt rsqrt;
  bool flushes;
};

/// Returns use(law, number): `law` a constant of type LawId, `number` a value of the Number type that the inner loop
/// computes with.
template <class Use>
auto choose_arithmetic(LawId law, Arithmetic arithmetic, Use use) {
  return choose_law(law, [&](auto chosen_law) {
    return choose<Rsqrt::fast, Rsqrt::exact>(arithmetic.rsqrt, [&](auto rsqrt) {
      return choose<true, false>(arithmetic.flushes, [&](auto flushes) {
        return use(chosen_law, Number<decltype(rsqrt)::value, decltype(flushes)::value>{});
      });
    });
  });
}

/// Returns use(n) with the constant n of the tunable `bodies-per-thread`.
template <class Use>
auto choose_bodies_per_thread(int bodies, Use use) {
  return choose<1, 2, 4>(bodies, use);
}

/// Returns use(n) with the constant n of the tunable `unroll`.
template <class Use>
auto choose_unroll(int unroll, Use use) {
  return choose<1, 2, 4, 8, 16, 24, 32>(unroll, use);
}

}  // namespace orrery
