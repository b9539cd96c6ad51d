// The build of this program, and the report of an end that was not planned.
#pragma once

#include <string>

namespace orrery {

/// Returns the id that the linker computed from the contents of this program, in hexadecimal digits. Different builds
/// have different ids. "unknown" if the linker wrote none.
std::string build_id();

/// Prints one line if a library ends the program after this call: by a crash (a graphics driver without memory), by
/// exit() (OpenMP without threads) or by an uncaught exception. Call first in main().
void report_early_end();
/// Ends the watch. Call when main() ends: exit() is expected from here on.
void end_as_planned();

}  // namespace orrery
