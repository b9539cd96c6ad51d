#pragma once

#include <algorithm>

#include "compute/scenes/portable_math.h"

namespace orrery {

/// A softening length for `count` bodies, given one that suits 16,384. The distance between bodies falls as
/// count^(-1/3). Half that exponent keeps small systems smooth and the time steps of large ones long enough to watch.
inline double softening_for(int count, double at_16384) {
  return at_16384 * std::clamp(portable::pow(16384.0 / count, 1.0 / 6), 0.25, 3.0);
}

}  // namespace orrery
