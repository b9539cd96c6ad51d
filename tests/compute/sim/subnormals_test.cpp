// Steps on the CPU flush subnormals to zero on every thread, and what they are held against does not.
#include <gtest/gtest.h>

#include <cmath>

#include "compute/core/threads.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"

namespace orrery {
namespace {

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
  simulation_.apply(SetTimeStep{1e-6f});
  simulation_.apply(ProbeForces{64});
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
