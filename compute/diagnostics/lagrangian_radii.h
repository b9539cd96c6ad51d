#pragma once

#include <span>
#include <vector>

#include "compute/core/bodies.h"

namespace orrery {

/// The radii of spheres about the centre of mass that hold these `shares` of the mass, 0 to 1 and rising. A sphere
/// ends at a body. NaN where a body is not finite.
std::vector<double> lagrangian_radii(const Bodies& bodies, std::span<const double> shares);

}  // namespace orrery
