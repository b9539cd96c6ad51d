// Calls that may never return.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <stdexcept>

#include "compute/core/threads.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;

TEST(ResultWithin, IsWhatTheWorkReturnsOrThrows) {
  const auto keep = [](int&) { ADD_FAILURE() << "it came in time"; };
  EXPECT_EQ(result_within<int>(
                20s, [] { return 7; }, keep),
            7);
  test::expect_failure(
      test::Failure::runtime,
      [&] {
        (void)result_within<int>(
            20s, []() -> int { throw std::runtime_error("a bad day"); }, keep);
      },
      "a bad day");
}

TEST(ResultWithin, ComesTooLate) {
  std::promise<void> go_on;
  std::promise<int> late;
  std::future<int> result = late.get_future();
  const auto work = [wait = go_on.get_future().share()] {
    wait.wait();
    return 7;
  };
  EXPECT_EQ(result_within<int>(10ms, work, [&](int& value) { late.set_value(value); }), std::nullopt);
  go_on.set_value();
  ASSERT_EQ(result.wait_for(20s), std::future_status::ready) << "the thread has ended without a word";
  EXPECT_EQ(result.get(), 7);
}

}  // namespace
}  // namespace orrery
