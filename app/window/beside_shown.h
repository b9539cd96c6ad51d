// Rules for what is measured beside the shown simulation.
#pragma once

#include <vector>

#include "compute/sim/simulation.h"

namespace orrery {

/// Pauses the shown simulation while something else is measured.
class ShownPause {
 public:
  void begin(Simulation& shown);
  /// The simulation goes on if it ran before.
  void end(Simulation& shown);

 private:
  bool resume_ = false;
};

/// The law, its constants, the time step and the digits of the shown simulation, for another one.
std::vector<Command> shown_physics(const Status& shown);

/// Whether a command would run steps of the shown system or measure kernels: a measurement beside it would measure that
/// work, too.
bool needs_machine(const Command& command, const Status& shown);

}  // namespace orrery
