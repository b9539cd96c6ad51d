#include "app/window/position_bridge.h"

#include <gtest/gtest.h>

#include "compute/sim/simulation.h"
#include "render/gl/gl.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

class PositionBridgeTest : public testing::Test {
 protected:
  render::OffscreenContext context_;
  PositionBridge bridge_{Sharing{.reason = "not tried", .cure = "try"}, test::backends().device()};
};

TEST_F(PositionBridgeTest, WithoutSharingTheSimulationKeepsItsBodies) {
  EXPECT_EQ(bridge_.storage(), nullptr);
  EXPECT_EQ(bridge_.mode(Backend::cpu), Interop::host);
  EXPECT_EQ(bridge_.mode(Backend::cuda), Interop::staged);
  EXPECT_EQ(bridge_.reason(Backend::cuda), "not tried. try");
  EXPECT_FALSE(bridge_.reason(Backend::cpu).empty());
}

TEST_F(PositionBridgeTest, DrawsWhatTheSimulationHolds) {
  Simulation simulation{test::backends(), {.scene = "plummer", .count = 1000}};
  simulation.apply(SelectKernel{"cpu-openmp"});
  ASSERT_TRUE(bridge_.fetch(simulation, simulation.status()));
  bridge_.upload();
  EXPECT_EQ(bridge_.read_drawn(), simulation.bodies());
  simulation.run(3);
  ASSERT_TRUE(bridge_.fetch(simulation, simulation.status()));
  bridge_.upload();
  EXPECT_EQ(bridge_.read_drawn(), simulation.bodies());
}

TEST_F(PositionBridgeTest, FollowsTheCount) {
  Simulation simulation{test::backends(), {.scene = "plummer", .count = 100}};
  simulation.apply(SelectKernel{"cpu-openmp"});
  for (const int count : {100, 4097, 33}) {
    simulation.apply(LoadScene{{.scene = "plummer", .count = count}});
    ASSERT_TRUE(bridge_.fetch(simulation, simulation.status()));
    bridge_.upload();
    EXPECT_EQ(bridge_.drawn().count, count);
    EXPECT_EQ(bridge_.read_drawn(), simulation.bodies());
  }
}

TEST_F(PositionBridgeTest, WhatTheTrialFindsIsConsistent) {
  const Sharing sharing = try_sharing(test::backends());
  EXPECT_EQ(sharing.possible, sharing.reason.empty());
  EXPECT_EQ(sharing.possible, sharing.cure.empty());
  EXPECT_TRUE(!sharing.possible || sharing.same_gpu == true);
}

}  // namespace
}  // namespace orrery
