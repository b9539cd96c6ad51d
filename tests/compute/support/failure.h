#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "compute/core/error.h"

namespace orrery::test {

/// An error: a request that cannot be met (exit status 2) or a failure at run time (exit status 1).
struct Failure {
  enum Kind { none, usage, runtime } kind = none;
  std::string message;
};

template <class Action>
Failure failure_of(Action&& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return {Failure::usage, error.what()};
  } catch (const std::runtime_error& error) {
    return {Failure::runtime, error.what()};
  }
  return {};
}

/// Expects a failure of the given kind, in one line that contains all of `parts`.
template <class Action, class... Parts>
void expect_failure(Failure::Kind kind, Action&& action, const Parts&... parts) {
  const Failure failure = failure_of(action);
  EXPECT_EQ(failure.kind, kind) << failure.message;
  EXPECT_EQ(failure.message.find('\n'), std::string::npos) << failure.message;
  for (const std::string& part : {std::string{parts}...}) {
    EXPECT_NE(failure.message.find(part), std::string::npos) << "'" << part << "' is not in: " << failure.message;
  }
}

}  // namespace orrery::test
