#pragma once

#include "compute/core/vec.h"
#include "compute/kernels/division_facet.h"

namespace orrery {

/// Where each domain begins.
struct FirstBodies {
  int of[most_devices] = {};  ///< the number of its first body among all, in the order of their keys
  int domains = 0;

  ORRERY_HD int domain_of(int body) const {
    int domain = 0;
    while (domain + 1 < domains && body >= of[domain + 1]) ++domain;
    return domain;
  }
};

}  // namespace orrery
