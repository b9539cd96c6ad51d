#pragma once

#include <cstdint>

#include "compute/scenes/galaxy.h"
#include "compute/scenes/scene.h"

namespace orrery {

/// Toomre's Q of the scene `spiral`, at 2.2 scale lengths of the disc. Below 1 a thin disc is unstable to rings.
inline constexpr double spiral_toomre_q = cold_disc_design.toomre_q;
inline constexpr double spiral_scale_length = 0.4;  ///< of the exponential disc

/// The scene `spiral` with any Q. The disc's bodies come first, see spiral_disc_count().
Scene spiral_galaxy(int count, std::uint64_t seed, double toomre_q);
int spiral_disc_count(int count);

}  // namespace orrery
