// Between evaluations a kernel's threads leave the processors to others: to the window's drawing, for one. What counts
// is the time that they compute, which does not grow on a busy machine.
#include "tests/compute/support/backend.h"
#include "tests/compute/support/cpu_time.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

// A CPU kernel that nobody waits for any more returns, however much it had left to do. Were it to go on, these tests
// would last for minutes or hours and meet ctest's time limit.

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

class CpuKernelThreads : public testing::TestWithParam<KernelPtr> {};

TEST_P(CpuKernelThreads, SleepBetweenEvaluations) {
  if (GetParam()->id == std::string_view{"cpu-openmp"}) GTEST_SKIP() << "its threads wait as the program's start says";
  constexpr int pauses = 20;
  constexpr std::chrono::milliseconds pause{25};
  Settings settings{*GetParam()};
  if (GetParam()->tunable("threads")) settings.set("threads", "2");
  const auto kernel = test::backends().make_kernel(*GetParam(), settings);
  const Bodies bodies = test::random_ball(1000);
  double awake_s = 0;
  for (int i = 0; i < pauses; ++i) {
    (void)test::evaluate(*kernel, bodies, {.law = {}});
    const double before = test::cpu_seconds();
    std::this_thread::sleep_for(pause);
    awake_s += test::cpu_seconds() - before;
  }
  EXPECT_LT(awake_s, 0.025) << "of half a second";
}

INSTANTIATE_TEST_SUITE_P(Kernels, CpuKernelThreads, testing::ValuesIn(test::kernels_under_test()), test::test_name);

}  // namespace
}  // namespace orrery
