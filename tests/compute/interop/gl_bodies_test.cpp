// CUDA kernels in GL's own buffer, on a GPU that has both.
#include "compute/interop/gl_bodies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>

#include "compute/sim/simulation.h"
#include "render/gl/gl_objects.h"
#include "render/gl/offscreen_context.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

/// The smallest storage that lives in a GL buffer.
class GlStorage final : public DeviceStorage {
 public:
  void resize(int count) override {
    if (buffer_.size_bytes() == 2 * static_cast<std::size_t>(count) * sizeof(Vec4)) return;
    shared_.reset();
    buffer_ = render::Buffer{2 * static_cast<std::size_t>(count) * sizeof(Vec4)};
    shared_.emplace(*test::backends().device(), buffer_.id(), count);
  }
  DeviceBodies map(CUstream_st* stream) override { return shared_->map(stream); }
  void unmap(CUstream_st* stream) override { shared_->unmap(stream); }

  const render::Buffer& buffer() const { return buffer_; }

 private:
  render::Buffer buffer_;
  std::optional<GlBodies> shared_;
};

class GlBodiesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto& cuda = test::backends().status(Backend::cuda); !cuda.available) GTEST_SKIP() << cuda.reason;
    context_.emplace();
    if (gl_device() != test::backends().device()->ordinal()) {
      GTEST_SKIP() << "the first CUDA device does not drive " << context_->info().renderer;
    }
  }

  std::optional<render::OffscreenContext> context_;
};

TEST_F(GlBodiesTest, StepsInAGlBufferAreTheStepsInDeviceMemory) {
  GlStorage storage;
  Simulation shared{test::backends(), {.scene = "plummer", .count = 1000}, nullptr, &storage},
      own{test::backends(), {.scene = "plummer", .count = 1000}};
  shared.run(10);
  own.run(10);
  const Bodies expected = own.bodies();
  EXPECT_EQ(shared.bodies(), expected);

  // GL sees what CUDA wrote, without any copy by us.
  std::vector<Vec4> both(2000);
  storage.buffer().download(std::as_writable_bytes(std::span{both}));
  EXPECT_TRUE(std::ranges::equal(std::span{both}.first(1000), expected.positions));
  EXPECT_TRUE(std::ranges::equal(std::span{both}.last(1000), expected.velocities));
}

TEST_F(GlBodiesTest, AnotherCountGetsABufferOfItsOwn) {
  GlStorage storage;
  Simulation sim{test::backends(), {.scene = "plummer", .count = 1000}, nullptr, &storage};
  sim.run(2);
  sim.apply(LoadScene{{.scene = "plummer", .count = 4097}});
  sim.run(2);
  EXPECT_EQ(sim.bodies().count(), 4097);
  EXPECT_EQ(storage.buffer().size_bytes(), 2 * 4097 * sizeof(Vec4));
}

TEST_F(GlBodiesTest, MappingIsTimedAndKernelsOfBothBackendsTakeTurns) {
  GlStorage storage;
  Simulation sim{test::backends(), {.scene = "plummer", .count = 257}, nullptr, &storage};
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
