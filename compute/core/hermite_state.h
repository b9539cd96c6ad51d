#pragma once

#include <vector>

#include "compute/core/precise_body.h"

namespace orrery {

/// A body at the begin of its own step.
struct alignas(16) HermiteBody {
  PreciseBody body;
  Pull pull;
  double longest_step = 0;  ///< that suits it, see compute/integrators/hermite_update.h
};

/// What a Hermite integrator holds from step to step, beside the bodies that it writes.
struct HermiteState {
  std::vector<HermiteBody> bodies{};  ///< empty: it begins anew
  bool pulls_current = false;         ///< their pulls and longest steps are those of the present kernel and law
};

}  // namespace orrery
