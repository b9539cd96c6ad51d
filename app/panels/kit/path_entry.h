#pragma once

#include <string>
#include <string_view>

namespace orrery {

/// The path of a file as it is typed: a leading "~" or "~/" stands for the home folder, as in a shell.
std::string path_of(std::string_view entry);

}  // namespace orrery
