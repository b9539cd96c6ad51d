#pragma once

#include <string>
#include <vector>

#include "app/text/csv.h"
#include "compute/sim/backends.h"

namespace orrery {

/// Where choices of kernels are kept, and those of this machine and build. `cache` is null where there is no place.
Json choices_json(const Backends& backends);
/// The same for people, in lines.
std::vector<std::string> choices_lines(const Json& choices);

}  // namespace orrery
