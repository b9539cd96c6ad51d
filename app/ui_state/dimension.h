#pragma once

namespace orrery {

/// Of a number with a unit.
enum class Dimension { length, mass, time, velocity, acceleration, density, mass_per_area };

}  // namespace orrery
