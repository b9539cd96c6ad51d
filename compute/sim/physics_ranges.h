#pragma once

#include "compute/core/force_law.h"

namespace orrery {

/// Throws UsageError that states the range unless dt is finite and > 0.
void require_time_step(float time_step);
/// Throws UsageError that states the range unless the constants are as Law allows.
void require_law(const Law& law);

}  // namespace orrery
