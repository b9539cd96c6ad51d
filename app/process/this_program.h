// Build id of this program, and the report of an unplanned end.
#pragma once

#include <string>

namespace orrery {

/// Returns the id that the linker computed from the contents of this program, in hexadecimal digits; different builds
/// have different ids. Returns "unknown" if the linker wrote no id.
std::string build_id();

/// Makes the program print one line if a library ends it after this call: by a crash (a graphics driver without
/// memory), by exit() (OpenMP without threads) or by an uncaught exception. Call first in main().
void report_early_end();
/// Ends what report_early_end() began. Call at the end of main(), where exit() is expected.
void end_as_planned();

}  // namespace orrery
