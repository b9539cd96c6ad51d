#pragma once

#include "compute/kernels/division_facet.h"

namespace orrery {

/// Memory of the same kind on each of several devices that reach each other's. Kernels take it by value.
template <class T>
struct OnAll {
  T* of[most_devices] = {};
  int devices = 0;
};

}  // namespace orrery
