#pragma once

#include <string>

namespace orrery {

/// What the linker computed from the contents of this program, in hexadecimal digits: builds that differ have different
/// ones. "unknown" if it did not.
std::string build_id();

}  // namespace orrery
