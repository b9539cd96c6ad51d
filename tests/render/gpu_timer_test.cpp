#include "render/gl/gpu_timer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "render/gl/gl.h"
#include "tests/render/stage.h"

namespace orrery::render {
namespace {

void draw_something(test::Stage& stage) {
  (void)stage.picture({{0, 0, 0, 1}}, 32, 32);
}

/// llvmpipe returns the machine's uptime for the first span of a context, which poll() discards.
void measure_first(GpuTimer& timer, test::Stage& stage) {
  timer.begin(-1);
  draw_something(stage);
  timer.end();
  glFinish();
  (void)timer.poll();
}

TEST(GpuTimer, ReturnsFiniteTimesInOrder) {
  test::Stage stage;
  GpuTimer timer;
  measure_first(timer, stage);
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
  measure_first(timer, stage);
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

TEST(GpuTimer, DiscardsMoreThanTheTimeThatPassed) {
  using std::chrono::milliseconds;
  EXPECT_EQ(plausible_ms(0, milliseconds{0}), 0.0);
  EXPECT_EQ(plausible_ms(2'500'000, milliseconds{3}), 2.5);
  EXPECT_EQ(plausible_ms(3'000'000, milliseconds{3}), 3.0);
  EXPECT_FALSE(plausible_ms(3'000'001, milliseconds{3}));
  EXPECT_FALSE(plausible_ms(17'000'000'000'000, milliseconds{20})) << "the time since the machine started";
}

TEST(GpuTimer, AnEmptySpanTakesNoTimeOrIsDiscarded) {
  test::Stage stage;
  GpuTimer timer;
  const auto begin = std::chrono::steady_clock::now();
  for (int tag = 0; tag < 3; ++tag) {
    timer.begin(tag);
    timer.end();
  }
  glFinish();
  while (const auto time = timer.poll()) {
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin;
    EXPECT_LE(time->ms, passed.count());
  }
  std::optional<GpuTime> latest;
  for (const int tag : {7, 8}) {
    timer.begin(tag);
    draw_something(stage);
    timer.end();
  }
  glFinish();
  while (const auto time = timer.poll()) latest = time;
  EXPECT_EQ(latest.value().tag, 8) << "discarded spans do not stay in the way";
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
