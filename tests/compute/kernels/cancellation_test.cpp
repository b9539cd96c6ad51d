// A CPU kernel that nobody waits for any more returns, however much it had left to do. Were it to go on, these tests
// would last for minutes or hours and meet ctest's time limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "tests/compute/support/backend.h"
#include "tests/compute/support/force.h"

namespace orrery {
namespace {

/// Bodies in one place, made quickly: for a tree, too, each meets all others.
Bodies coincident_bodies(int count) {
  Bodies bodies;
  bodies.positions.assign(static_cast<std::size_t>(count), Vec4{1, 2, 3, 1});
  bodies.velocities.resize(bodies.positions.size());
  return bodies;
}

bool all_written(const std::vector<Vec4>& accelerations) {
  return std::ranges::none_of(accelerations, [](const Vec4& a) { return std::isnan(a.x); });
}

class EveryCpuKernel : public testing::TestWithParam<KernelPtr> {};

TEST_P(EveryCpuKernel, DoesNotStartWhenCancelled) {
  const std::atomic<bool> cancelled = true;
  const auto kernel = test::backends().make_kernel(*GetParam(), Settings{*GetParam()});
  for (const int count : {100, 300'000}) {
    const auto result = test::evaluate(*kernel, coincident_bodies(count), {.law = {}, .cancelled = &cancelled});
    EXPECT_FALSE(all_written(result.accelerations));
  }
}

TEST_P(EveryCpuKernel, StopsWhenCancelledOnTheWay) {
  std::atomic<bool> cancelled = false;
  const auto kernel = test::backends().make_kernel(*GetParam(), Settings{*GetParam()});
  std::jthread canceller{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    cancelled = true;
  }};
  const auto result = test::evaluate(*kernel, coincident_bodies(1'000'000), {.law = {}, .cancelled = &cancelled});
  EXPECT_TRUE(cancelled);
  EXPECT_FALSE(all_written(result.accelerations));
}

TEST_P(EveryCpuKernel, FinishesWhenNotCancelled) {
  const std::atomic<bool> cancelled = false;
  const auto kernel = test::backends().make_kernel(*GetParam(), Settings{*GetParam()});
  EXPECT_TRUE(
      all_written(test::evaluate(*kernel, coincident_bodies(100), {.law = {}, .cancelled = &cancelled}).accelerations));
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryCpuKernel, testing::ValuesIn(test::kernels_under_test()), test::test_name);

}  // namespace
}  // namespace orrery
