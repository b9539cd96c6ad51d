#pragma once

namespace orrery {

/// Prints one line if a library ends the program after this call: by a crash (a graphics driver without memory), by
/// exit() (OpenMP without threads) or by an uncaught exception. Call first in main().
void report_early_end();
/// Ends the watch. Call when main() ends: exit() is expected from here on.
void end_as_planned();

}  // namespace orrery
