// Between evaluations a kernel's threads leave the processors to others: to the window's drawing, for one. What counts
// is the time that they compute, which does not grow on a busy machine.
#include <gtest/gtest.h>

#include <chrono>
#include <string_view>
#include <thread>

#include "tests/compute/support/backend.h"
#include "tests/compute/support/cpu_time.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

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
