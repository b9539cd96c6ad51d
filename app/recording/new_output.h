#pragma once

#include <string>

namespace orrery {

/// `name` in the folder for files without a given name, orrery-out, which is made if it is missing. An existing file of
/// that name must be kept.
std::string new_output(const std::string& name);

}  // namespace orrery
