#pragma once

#include <stdexcept>

namespace orrery {

/// A request that cannot be met as asked (an unknown name, a value out of range). The message is one line that names
/// the cause and the valid choices; the program exits with status 2. Anything else thrown is a run-time failure:
/// status 1.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace orrery
