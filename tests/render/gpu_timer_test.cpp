#include "render/gl/gpu_timer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "render/gl/gl.h"
#include "render/passes/body_renderer.h"
#include "tests/render/stage.h"

namespace orrery::render {
namespace {

void draw_something(test::Stage& stage) {
  (void)stage.picture({{0, 0, 0, 1}}, 32, 32);
}

TEST(GpuTimer, ReturnsFiniteTimesInOrder) {
  test::Stage stage;
  GpuTimer timer;
  EXPECT_FALSE(timer.poll());
  for (const int tag : {7, 8, 9}) {
    timer.begin(tag);
    draw_something(stage);
    timer.end();
  }
  glFinish();
  for (const int tag : {7, 8, 9}) {
    const auto time = timer.poll();
    ASSERT_TRUE(time);
    EXPECT_EQ(time->tag, tag);
    EXPECT_TRUE(std::isfinite(time->ms));
    EXPECT_GE(time->ms, 0.0);
  }
  EXPECT_FALSE(timer.poll());
}

TEST(GpuTimer, LeavesOutWhatItCannotHoldAndGoesOnAfterwards) {
  test::Stage stage;
  GpuTimer timer;
  for (int tag = 0; tag < GpuTimer::capacity + 3; ++tag) {
    timer.begin(tag);
    draw_something(stage);
    timer.end();
  }
  glFinish();
  for (int tag = 0; tag < GpuTimer::capacity; ++tag) EXPECT_EQ(timer.poll().value().tag, tag);
  EXPECT_FALSE(timer.poll());
  timer.begin(100);
  draw_something(stage);
  timer.end();
  glFinish();
  EXPECT_EQ(timer.poll().value().tag, 100);
  EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
}

TEST(GpuTimer, CountsComputeShaders) {
  const test::Stage stage;
  const RenderTarget light{GL_RG32F, 1024, 1024};
  Glow glow;
  (void)glow.make(light);  // compiles
  GpuTimer timer;
  timer.begin(1);
  (void)glow.make(light);
  timer.end();
  glFinish();
  EXPECT_GT(timer.poll().value().ms, 0.001);
}

TEST(GpuTimer, AnEmptySpanIsShort) {
  test::Stage stage;
  GpuTimer timer;
  for (int tag = 0; tag < 3; ++tag) {
    timer.begin(tag);
    timer.end();
  }
  glFinish();
  for (int tag = 0; tag < 3; ++tag) {
    const auto time = timer.poll();
    ASSERT_TRUE(time);
    EXPECT_EQ(time->tag, tag);
    EXPECT_LT(time->ms, 1000);
  }
}

TEST(GpuTimer, IgnoresAnEndWithoutABeginning) {
  test::Stage stage;
  GpuTimer timer;
  timer.end();
  EXPECT_FALSE(timer.poll());
  EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
}

}  // namespace
}  // namespace orrery::render
