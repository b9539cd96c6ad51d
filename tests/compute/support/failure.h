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

/// Says whether `action` fails in the given way, in one line that contains all of `parts`.
template <class Action, class... Parts>
testing::AssertionResult fails(Failure::Kind kind, Action&& action, const Parts&... parts) {
  const Failure failure = failure_of(action);
  testing::AssertionResult differs = testing::AssertionFailure() << "the failure: '" << failure.message << "'";
  if (failure.kind != kind) return differs << " is not of the expected kind";
  if (failure.message.find('\n') != std::string::npos) return differs << " has several lines";
  for (const std::string& part : {std::string{}, std::string{parts}...}) {
    if (failure.message.find(part) == std::string::npos) return differs << " lacks '" << part << "'";
  }
  return testing::AssertionSuccess();
}

template <class Action, class... Parts>
void expect_failure(Failure::Kind kind, Action&& action, const Parts&... parts) {
  EXPECT_TRUE(fails(kind, action, parts...));
}

}  // namespace orrery::test

/// EXPECT_USAGE_ERROR(sim.apply(ProbeForces{0}), "1 to 4096"): expects that the expression throws that error, in one
/// line that contains all of the texts.
#define EXPECT_USAGE_ERROR(expression, ...) \
  EXPECT_TRUE(                              \
      ::orrery::test::fails(::orrery::test::Failure::usage, [&] { (void)(expression); } __VA_OPT__(, ) __VA_ARGS__))
#define EXPECT_RUNTIME_ERROR(expression, ...) \
  EXPECT_TRUE(                                \
      ::orrery::test::fails(::orrery::test::Failure::runtime, [&] { (void)(expression); } __VA_OPT__(, ) __VA_ARGS__))
