// CUDA kernels in GL's own buffers, on a GPU that has both.
#include "compute/interop/gl_bodies.h"

#include <gtest/gtest.h>

#include <optional>

#include "compute/sim/backends.h"
#include "compute/sim/simulation.h"
#include "render/gl_objects.h"
#include "render/offscreen_context.h"

namespace orrery {
namespace {

/// The smallest storage that lives in GL buffers.
class GlStorage final : public DeviceStorage {
 public:
  void resize(int count) override {
    shared_.reset();
    positions_ = render::Buffer{static_cast<std::size_t>(count) * sizeof(Vec4)};
    velocities_ = render::Buffer{static_cast<std::size_t>(count) * sizeof(Vec4)};
    shared_.emplace(positions_.id(), velocities_.id());
  }
  DeviceBodies map(CUstream_st* stream) override { return shared_->map(stream); }
  void unmap(CUstream_st* stream) override { shared_->unmap(stream); }

  const render::Buffer& positions() const { return positions_; }
  const render::Buffer& velocities() const { return velocities_; }

 private:
  render::Buffer positions_, velocities_;
  std::optional<GlBodies> shared_;
};

class GlBodiesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto& cuda = backend_status(Backend::cuda); !cuda.available) GTEST_SKIP() << cuda.reason;
    context_.emplace();
    if (select_gl_device() < 0) GTEST_SKIP() << "no CUDA device drives " << context_->info().renderer;
  }

  std::optional<render::OffscreenContext> context_;
};

TEST_F(GlBodiesTest, StepsInGlBuffersAreTheStepsInDeviceMemory) {
  GlStorage storage;
  Simulation shared{{.scene = "plummer", .count = 1000}, &storage}, own{{.scene = "plummer", .count = 1000}};
  shared.run(10);
  own.run(10);
  const Bodies expected = own.bodies();
  EXPECT_EQ(shared.bodies(), expected);

  // GL sees what CUDA wrote, without any copy by us.
  std::vector<Vec4> positions(1000), velocities(1000);
  storage.positions().download(std::as_writable_bytes(std::span{positions}));
  storage.velocities().download(std::as_writable_bytes(std::span{velocities}));
  EXPECT_EQ(positions, expected.positions);
  EXPECT_EQ(velocities, expected.velocities);
}

TEST_F(GlBodiesTest, AnotherCountGetsBuffersOfItsOwn) {
  GlStorage storage;
  Simulation sim{{.scene = "plummer", .count = 1000}, &storage};
  sim.run(2);
  sim.apply(LoadScene{{.scene = "plummer", .count = 4097}});
  sim.run(2);
  EXPECT_EQ(sim.bodies().count(), 4097);
  EXPECT_EQ(storage.positions().size_bytes(), 4097 * sizeof(Vec4));
}

TEST_F(GlBodiesTest, MappingIsTimedAndKernelsOfBothBackendsTakeTurns) {
  GlStorage storage;
  Simulation sim{{.scene = "plummer", .count = 257}, &storage};
  const StepTiming mapped = sim.run(1);
  EXPECT_GT(mapped.map_ms, 0);
  EXPECT_GT(mapped.unmap_ms, 0);
  const Bodies state = sim.bodies();
  sim.apply(SelectKernel{"cpu-simd"});
  EXPECT_EQ(sim.bodies(), state);
  sim.apply(SelectKernel{"cuda-naive"});
  EXPECT_EQ(sim.bodies(), state);
}

}  // namespace
}  // namespace orrery
