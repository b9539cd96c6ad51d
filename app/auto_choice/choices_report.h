#pragma once

#include <string>

#include "app/recording/csv.h"

namespace orrery {

/// Where choices of kernels are kept, and those of this machine and build. `cache` is null where there is no place.
Json choices_json();
/// The same for people.
std::string choices_text(const Json& choices);

}  // namespace orrery
