#pragma once

#include <string>
#include <vector>

#include "app/text/csv.h"
#include "compute/sim/backends.h"

namespace orrery {

/// The cache's file, and the choices of this machine and build. `cache` is null if there is no file.
Json choices_json(const Backends& backends);
/// The same for people, in lines.
std::vector<std::string> choices_lines(const Json& choices);

}  // namespace orrery
