#pragma once

#include "compute/core/vec.h"

namespace orrery {

/// The bodies whose accelerations are wanted. The sources are always all bodies.
struct Targets {
  const int* indices = nullptr;  ///< in memory of the kernel's backend, all different, in any order; null: every body
  int count = 0;                 ///< of `indices`, from 1 to the number of bodies; ignored if they are null
  int first = -1;                ///< >= 0: the indices are first, first + 1, ...; -1: any

  explicit operator bool() const { return indices != nullptr; }
  /// The `place`-th target.
  ORRERY_HD int body(int place) const { return indices ? indices[place] : place; }
};

}  // namespace orrery
