// The automatic ranges of the colours, of bodies in a buffer.
#include "app/window/colouring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "render/gl/gl.h"

namespace orrery {
namespace {

class ColouringTest : public testing::Test {
 protected:
  static constexpr int count = 1000;

  static render::ValueRanges up_to_one() {
    render::ValueRanges ranges;
    ranges.speed = {0, 1};
    return ranges;
  }
  /// A frame of bodies with speeds of up to `most`; returns the share of them above the range.
  double frame_of(float most) {
    std::vector<glm::vec4> bodies(2 * count);
    for (int i = 0; i < count; ++i) {
      bodies[static_cast<std::size_t>(count + i)].y = most * static_cast<float>(i + 1) / count;
    }
    buffer_.upload(std::as_bytes(std::span{bodies}));
    now_s_ += 1.0 / 60;
    colouring_.follow({.buffer = buffer_.id(), .count = count}, {}, {1, 0, 0}, true, now_s_);
    const float high = colouring_.ranges().speed.high;
    return static_cast<double>(std::count_if(bodies.begin() + count, bodies.end(),
                                             [&](const glm::vec4& velocity) { return velocity.y > high; })) /
           count;
  }

  render::OffscreenContext context_;
  render::Buffer buffer_{2 * count * sizeof(glm::vec4)};
  Colouring colouring_{true};
  double now_s_ = 100;
};

TEST_F(ColouringTest, FollowsSpeedsThatDoubleEveryFewFrames) {
  colouring_.restart(up_to_one());
  int since_measured = 0, measured = 0;
  for (int i = 0; i < 60; ++i) {
    const double above = frame_of(std::exp2(static_cast<float>(i) / 4));
    since_measured = above <= 0.1 ? 0 : since_measured + 1;
    measured += above <= 0.1 ? 1 : 0;
    EXPECT_LT(since_measured, 9) << i;  // 0.1 s are six frames; the first time is a little longer
  }
  EXPECT_GE(measured, 8);
}

TEST_F(ColouringTest, KeepsItsRangeWhileSpeedsAreSteady) {
  colouring_.restart(up_to_one());
  for (int i = 0; i < 30; ++i) frame_of(1);
  const render::ValueRange before = colouring_.ranges().speed;
  for (int i = 0; i < 240; ++i) {
    frame_of(1);
    EXPECT_NEAR(colouring_.ranges().speed.high, before.high, 0.02f) << "no flicker";
  }
}

}  // namespace
}  // namespace orrery
