// A run that is continued from its state goes the way that it would have gone.
#include <gtest/gtest.h>

#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/run_setup.h"

namespace orrery {
namespace {

class ResumedRun : public testing::TestWithParam<KernelPtr> {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }
};

void expect_to_go_on_bit_for_bit(const KernelPtr& kernel, Digits digits) {
  Simulation first{test::backends(), {.scene = "plummer", .count = 300, .seed = 5}, kernel};
  first.apply(SetDigits{digits});
  first.apply(SetTimeStep{0.003f});
  first.apply(SetSoftening{0.05f});
  first.run(3);
  first.run(2);
  const RunSetup setup = test::setup_of(first.status());
  const Snapshot state = first.snapshot();

  Simulation second{test::backends(), {.scene = "two-body"}, kernel};
  second.resume(setup, state, first.status().step);
  const Status& now = second.status();
  EXPECT_EQ(now.step, 5);
  EXPECT_EQ(now.sim_time, first.status().sim_time);
  EXPECT_EQ(now.scene, first.status().scene);
  EXPECT_EQ(now.law, first.status().law);
  EXPECT_EQ(now.time_step, 0.003f);
  first.run(4);
  second.run(1);
  second.run(3);
  EXPECT_EQ(second.status().step, 9);
  if (kernel->repeatable) {
    EXPECT_EQ(second.bodies(), first.bodies());
  }
  second.apply(Restart{});
  EXPECT_EQ(second.bodies(), with_digits(find_scene("plummer").generate(300, 5).bodies, digits))
      << "the scene's first state";
}

TEST_P(ResumedRun, GoesOnBitForBit) {
  expect_to_go_on_bit_for_bit(GetParam(), Digits::single);
}

TEST_P(ResumedRun, GoesOnBitForBitWithLowWords) {
  expect_to_go_on_bit_for_bit(GetParam(), Digits::compensated);
}

INSTANTIATE_TEST_SUITE_P(Kernels, ResumedRun, testing::ValuesIn(test::kernels_under_test()), test::test_name);

TEST(Resuming, ChangesNothingWhereItFails) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const KernelPtr kernel = test::kernels_under_test().front();
  Simulation sim{test::backends(), {.scene = "plummer", .count = 40}, kernel};
  sim.run(2);
  const Bodies before = sim.bodies();
  Snapshot state = sim.snapshot();
  state.bodies.positions.pop_back();
  state.bodies.velocities.pop_back();
  const RunSetup run{.scene = {.scene = "plummer", .count = 40},
                     .physics = {.integrator_id = "leapfrog", .law = {}, .time_step = 0.01f},
                     .kernel_id = kernel->id,
                     .settings = {}};
  test::expect_failure(
      test::Failure::runtime, [&] { sim.resume(run, state, 2); }, "40", "39");
  EXPECT_EQ(sim.bodies(), before);
  EXPECT_EQ(sim.status().step, 2);
}

TEST(Resuming, DoesWithoutTheFileOfTheScene) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const KernelPtr kernel = test::kernels_under_test().front();
  Simulation sim{test::backends(), {.scene = "plummer", .count = 40}, kernel};
  sim.run(2);
  const Snapshot state = sim.snapshot();
  const RunSetup run{.scene = {.file = "no/such/galaxy.tipsy"},
                     .physics = {.integrator_id = "leapfrog", .law = {}, .time_step = 0.01f},
                     .kernel_id = kernel->id,
                     .settings = {}};
  sim.resume(run, state, 2);
  EXPECT_EQ(sim.status().scene_name, "galaxy.tipsy");
  sim.run(1);
  sim.apply(Restart{});
  EXPECT_EQ(sim.bodies(), state.bodies) << "the state that it continued from";
}

}  // namespace
}  // namespace orrery
