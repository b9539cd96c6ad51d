#pragma once

namespace orrery {

/// One line says so, from this call on, if a library ends the program: by a crash, as a graphics driver without memory
/// does, by exit(), as OpenMP without threads does, or by an exception that nobody catches. Call first in main().
void report_early_end();
/// Call when main() ends: exit() is as it should be from here on.
void end_as_planned();

}  // namespace orrery
