#pragma once

#include <cstdint>

#include "compute/scenes/scene.h"

namespace orrery {

inline constexpr double cosmic_web_radius = 0.25;  ///< of the sphere at the start

/// The scene `cosmic-web` with any strength of its density waves: 1 is the scene's own, 0 leaves an even sphere with
/// the same bodies in the same order.
Scene cosmic_web(int count, std::uint64_t seed, double strength);

}  // namespace orrery
