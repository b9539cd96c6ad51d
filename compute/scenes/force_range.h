#pragma once

#include "compute/core/bodies.h"

namespace orrery {

/// Whether gravity between these bodies, softened by `softening`, is more than single precision can hold: for more than
/// half of a sample of them, pulls below its smallest normal number, which count as zero, make up more than half of the
/// sum of all pulls' magnitudes. False for a single body.
bool forces_underflow(const Bodies& bodies, float softening);

}  // namespace orrery
