#pragma once

#include <exception>
#include <string>

namespace orrery {

/// Whether a library has thrown `failure`. Its text is then meant for programmers.
bool is_of_library(const std::exception& failure);

/// Returns what failed, as one line for people: the text of an exception of this program, and in place of a library's
/// text the file and the cause that it holds. An exception that no caller expects is named by its type.
std::string failure_text(const std::exception& failure);

}  // namespace orrery
