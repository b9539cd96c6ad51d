// Errors and their texts.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace orrery {

/// Error for a request that cannot be met (an unknown name, a value out of range). The message is one line that names
/// the cause and the valid choices; the program exits with status 2. Other exceptions are run-time failures: status 1.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns whether a library threw `failure`, so that its text is meant for programmers.
bool is_of_library(const std::exception& failure);

/// Returns what failed, as one line for users. Exceptions of this program give their text, those of libraries the file
/// and the cause that they hold. An unexpected exception is named by its type.
std::string failure_text(const std::exception& failure);

}  // namespace orrery
