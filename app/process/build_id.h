#pragma once

#include <string>

namespace orrery {

/// Returns the id that the linker computed from the contents of this program, in hexadecimal digits. Different builds
/// have different ids. "unknown" if the linker wrote none.
std::string build_id();

}  // namespace orrery
