// The CPU engine: steps that outlast many frames, their times, and subnormals, which its threads flush to zero.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "compute/core/threads.h"
#include "compute/sim/engine.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/backends.h"
#include "tests/test.h"

namespace orrery {
namespace {

TEST(CpuEngine, ACommandAbandonsALongStepAndKeepsTheLastWholeOne) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 65'536}};
  sim.apply(SelectKernel{"cpu-serial"});
  const Bodies start = sim.bodies();
  ASSERT_EQ(sim.advance_frame(1), 1);  // many seconds of work
  EXPECT_EQ(sim.status().step, 0) << "it has not run yet";
  EXPECT_TRUE(sim.status().busy);
  EXPECT_EQ(sim.advance_frame(2), 0) << "busy";
  sim.apply(SetTimeStep{0.002f});
  EXPECT_EQ(sim.status().step, 0);
  EXPECT_EQ(sim.status().sim_time, 0);
  EXPECT_FALSE(sim.status().busy);
  EXPECT_EQ(sim.bodies(), start);
}

TEST(CpuEngine, KeepingAGoodStateLeavesAStepUnderWayAlone) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 65'536}};
  sim.apply(SelectKernel{"cpu-serial"});
  ASSERT_EQ(sim.advance_frame(1), 1);  // many seconds of work
  test::apply(sim, ProbeForces{64}, MeasureConserved{}, KeepCheckpoint{});
  EXPECT_TRUE(sim.status().busy);
  EXPECT_FALSE(sim.status().checkpoint_step) << "when the step has ended";
  sim.apply(SetTimeStep{0.002f});  // abandons it
  EXPECT_EQ(sim.status().checkpoint_step, 0);
  EXPECT_FALSE(sim.status().force_probe);
  EXPECT_FALSE(sim.status().conserved);
}

/// In a process of its own, that may start no thread; root may start any, and so becomes nobody.
void start_without_threads() {
  const rlimit one{1, 1};
  constexpr uid_t nobody = 65534;
  if (setrlimit(RLIMIT_NPROC, &one) != 0 || (geteuid() == 0 && setresuid(nobody, nobody, nobody) != 0)) _exit(2);
  try {
    const Simulation sim{test::backends(), {.scene = "plummer", .count = 8}, test::find_kernel("cpu-serial")};
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    _exit(1);
  }
  _exit(0);
}

TEST(CpuEngine, SaysWhyNoThreadCanBeStarted) {
  EXPECT_EXIT(start_without_threads(), testing::ExitedWithCode(1), "no thread can be started.*ulimit -u");
}

TEST(BatchTiming, IsPerStepAndCountsEveryEvaluation) {
  const StepTiming timing = batch_timing(17, 4, 5, 8.0, 1.0, 100);  // 8 ms for 4 steps with 5 evaluations of 1 ms
  EXPECT_EQ(timing.tag, 17);
  EXPECT_EQ(timing.steps, 4);
  EXPECT_EQ(timing.evaluations, 5);
  EXPECT_DOUBLE_EQ(timing.step_ms, 2);
  EXPECT_DOUBLE_EQ(timing.force_ms, 1.25);
  EXPECT_DOUBLE_EQ(timing.integrate_ms, 0.75);
  EXPECT_DOUBLE_EQ(timing.interactions_per_evaluation, 100);
  EXPECT_DOUBLE_EQ(timing.interactions_per_s, 62'500) << "500 interactions in 8 ms";
}

TEST(BatchTiming, NoPartIsLongerThanTheStep) {
  const StepTiming timing = batch_timing(0, 4, 4, 8.0, 2.5, 100);  // the sampled evaluations were slower than all
  EXPECT_DOUBLE_EQ(timing.force_ms, 2);
  EXPECT_DOUBLE_EQ(timing.integrate_ms, 0);
}

TEST(BatchTiming, OfNoStepIsZero) {
  const StepTiming timing = batch_timing(3, 0, 1, 8.0, 1.0, 100);
  EXPECT_EQ(timing.tag, 3);
  EXPECT_EQ(timing.step_ms, 0);
  EXPECT_EQ(timing.interactions_per_s, 0);
}

/// A lattice of bodies so light and far apart that their pulls are subnormal.
Bodies faint_bodies() {
  Bodies bodies;
  for (int i = 0; i < 4096; ++i) {
    const auto at = [](int place) { return 1e6f * static_cast<float>(place); };
    bodies.positions.push_back({at(i % 16), at(i / 16 % 16), at(i / 256), 1e-27f});
  }
  bodies.velocities.resize(bodies.positions.size());
  return bodies;
}

class EveryCpuKernelsSteps : public testing::TestWithParam<KernelPtr> {
 protected:
  void SetUp() override {
    if (FloatControl::flush == 0) GTEST_SKIP() << "this processor's are kept";
    if (GetParam()->tunable("threads")) simulation_.apply(SetTunable{"threads", "4"});
    simulation_.set_bodies(faint_bodies());
  }
  Simulation simulation_{test::backends(), {.scene = "two-body"}, GetParam()};
};

TEST_P(EveryCpuKernelsSteps, FlushSubnormalsOnEveryThread) {
  int subnormal = 0;
  for (const Vec4& a : simulation_.accelerations()) {
    for (const float component : {a.x, a.y, a.z}) subnormal += std::fpclassify(component) == FP_SUBNORMAL;
  }
  EXPECT_EQ(subnormal, 0);
  EXPECT_EQ(subnormals_here(), Subnormals::kept) << "the caller's own";
}

TEST_P(EveryCpuKernelsSteps, AreHeldAgainstSumsThatKeepThem) {
  test::apply(simulation_, SetTimeStep{1e-6f}, ProbeForces{64});
  simulation_.run(1);
  const auto probe = simulation_.status().force_probe;
  ASSERT_TRUE(probe);
  EXPECT_GT(probe->error.median, 0) << "zero in place of a faint pull";
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryCpuKernelsSteps, testing::ValuesIn(test::kernels_under_test()), test::test_name);

TEST(SubnormalsOfHermiteSteps, AreFlushedWhereBodiesAreWritten) {
  if (FloatControl::flush == 0) GTEST_SKIP() << "this processor's are kept";
  Simulation simulation{test::backends(), {.scene = "two-body"}, test::find_kernel("cpu-jerk")};
  simulation.apply(SetTunable{"precision", "fp64"});  // whose pulls are not subnormal
  simulation.apply(SelectIntegrator{"hermite4"});
  simulation.set_bodies(faint_bodies());
  simulation.run(1);
  int subnormal = 0;
  for (const Vec4& v : simulation.bodies().velocities) {
    for (const float component : {v.x, v.y, v.z}) subnormal += std::fpclassify(component) == FP_SUBNORMAL;
  }
  EXPECT_EQ(subnormal, 0);
}

}  // namespace
}  // namespace orrery
