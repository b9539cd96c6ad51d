// CUDA kernels in the drawn buffer itself, on a GPU that has CUDA and draws.
#include "app/window/position_bridge.h"
#include "compute/sim/simulation.h"
#include "render/gl/gl.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

struct MappedBodies : testing::Test {
  void SetUp() override {
    if (const auto& cuda = backends().status(Backend::cuda); !cuda.available) GTEST_SKIP() << cuda.reason;
    context_.emplace();
    const Sharing sharing = try_sharing(backends());
    if (sharing.same_gpu != true) GTEST_SKIP() << sharing.reason;
    bridge_.emplace(sharing, backends().device());
    ASSERT_EQ(bridge_->mode(Backend::cuda), Interop::mapped) << bridge_->reason(Backend::cuda);
    ASSERT_EQ(bridge_->storage(), &*bridge_);
  }

  /// A simulation whose bodies lie in the drawn buffer.
  Simulation drawn(int count) {
    return {backends(), {.scene = "plummer", .count = count}, find_kernel("cuda-tiled"), bridge_->storage()};
  }

  std::optional<render::OffscreenContext> context_;
  std::optional<PositionBridge> bridge_;
};

TEST_F(MappedBodies, AreDrawnWithoutACopy) {
  Simulation simulation = drawn(1000);
  simulation.run(10);
  EXPECT_FALSE(bridge_->fetch(simulation, simulation.status())) << "there is nothing to copy";
  EXPECT_EQ(bridge_->drawn().count, 1000);
  EXPECT_EQ(bridge_->read_drawn(), simulation.bodies());
  EXPECT_EQ(bridge_->reason(Backend::cuda), "");
}

TEST_F(MappedBodies, StepAsInDeviceMemory) {
  Simulation shared = drawn(1000);
  Simulation own{backends(), {.scene = "plummer", .count = 1000}, find_kernel("cuda-tiled")};
  shared.run(10);
  own.run(10);
  EXPECT_EQ(bridge_->read_drawn(), own.bodies());
}

TEST_F(MappedBodies, FollowTheCount) {
  Simulation simulation = drawn(1000);
  simulation.run(2);
  for (const int count : {4097, 33}) {
    simulation.apply(LoadScene{{.scene = "plummer", .count = count}});
    simulation.run(2);
    EXPECT_EQ(bridge_->drawn().count, count);
    EXPECT_EQ(bridge_->read_drawn(), simulation.bodies());
  }
}

TEST_F(MappedBodies, TimesTheMapping) {
  Simulation simulation = drawn(257);
  const StepTiming mapped = simulation.run(1);
  EXPECT_GT(mapped.map_ms, 0);
  EXPECT_GT(mapped.unmap_ms, 0);
}

TEST_F(MappedBodies, KernelsOfBothBackendsTakeTurns) {
  Simulation simulation = drawn(257);
  simulation.run(1);
  const Bodies state = simulation.bodies();
  simulation.apply(SelectKernel{"cpu-simd"});
  EXPECT_EQ(simulation.bodies(), state);
  simulation.apply(LoadScene{{.scene = "plummer", .count = 4097}});
  simulation.run(1);
  ASSERT_TRUE(bridge_->fetch(simulation, simulation.status()));
  bridge_->upload();
  EXPECT_EQ(bridge_->read_drawn(), simulation.bodies());

  const Bodies later = simulation.bodies();
  simulation.apply(SelectKernel{"cuda-naive"});
  EXPECT_EQ(simulation.bodies(), later);
  simulation.run(1);
  EXPECT_EQ(bridge_->read_drawn(), simulation.bodies());
}

}  // namespace
}  // namespace orrery::test
