#pragma once

#include <functional>
#include <string>

namespace orrery {

/// Why a variant was not measured.
struct Problem {
  std::string text{};    ///< one line; empty: no problem
  bool refused = false;  ///< these settings cannot run here, or are ruled out; false: it failed

  explicit operator bool() const { return !text.empty(); }
};

/// Runs `action` and returns the exception that it failed with. A UsageError is a refusal. Passes on what is no
/// std::exception.
Problem problem_of(const std::function<void()>& action);

}  // namespace orrery
