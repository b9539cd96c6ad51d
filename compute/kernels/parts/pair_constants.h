#pragma once

#include "compute/core/law.h"

namespace orrery {

/// The constants of the pair laws. Every instance takes them as an argument, so that they lie in the constant bank.
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
