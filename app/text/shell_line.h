#pragma once

#include <string>
#include <vector>

namespace orrery {

/// The words as a line of printable characters that Bash reads as the same words, whatever bytes they hold.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace orrery
