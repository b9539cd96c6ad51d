#pragma once

#include <string>

#include "compute/sim/simulation.h"

namespace orrery {

/// Prints on stderr what was assumed about the bodies of the scene's file, such as velocities that it lacks: one line
/// each. Returns the same in one line; empty if nothing was.
std::string print_scene_notes(const Simulation& simulation);

}  // namespace orrery
