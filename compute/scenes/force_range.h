#pragma once

#include "compute/core/bodies.h"

namespace orrery {

/// Whether gravity between these bodies underflows in single precision. A pull below the smallest normal number counts
/// as zero. True if, for more than half of a sample of the bodies, such pulls make up more than half of the sum of all
/// pulls' magnitudes. False for a single body.
bool forces_underflow(const Bodies& bodies, float softening);

}  // namespace orrery
