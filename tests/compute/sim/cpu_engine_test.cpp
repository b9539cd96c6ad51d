// A step that outlasts many frames.
#include <gtest/gtest.h>

#include "compute/sim/simulation.h"

namespace orrery {
namespace {

TEST(CpuEngine, ACommandAbandonsALongStepAndKeepsTheLastWholeOne) {
  Simulation sim{{.scene = "plummer", .count = 65'536}};
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
  Simulation sim{{.scene = "plummer", .count = 65'536}};
  sim.apply(SelectKernel{"cpu-serial"});
  ASSERT_EQ(sim.advance_frame(1), 1);  // many seconds of work
  sim.apply(ProbeForces{64});
  sim.apply(MeasureConserved{});
  sim.apply(KeepGoodState{});
  EXPECT_TRUE(sim.status().busy);
  EXPECT_FALSE(sim.status().good_step) << "when the step has ended";
  sim.apply(SetTimeStep{0.002f});  // abandons it
  EXPECT_EQ(sim.status().good_step, 0);
  EXPECT_FALSE(sim.status().force_probe);
  EXPECT_FALSE(sim.status().conserved);
}

}  // namespace
}  // namespace orrery
