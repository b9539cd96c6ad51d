#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "compute/core/vec.h"

namespace orrery {

inline constexpr int density_neighbours = 16;

/// The mass density around each body: the mass of its neighbours nearer than the last of its density_neighbours nearest
/// ones, over the volume of the sphere that reaches to that one (Casertano and Hut 1985, ApJ 298, 80). Infinite where
/// bodies coincide; NaN for a body that is not finite or has fewer than two finite neighbours. Uses at most `threads`
/// threads. Where `cancelled` (may be null) is set, returns soon, with values that mean nothing.
std::vector<float> local_densities(std::span<const Vec4> positions, int threads,
                                   const std::atomic<bool>* cancelled = nullptr);

}  // namespace orrery
