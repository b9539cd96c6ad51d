#include "render/passes/body_readback.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/render/stage.h"

namespace orrery::render::test {
namespace {

class BodyReadbackTest : public testing::Test {
 protected:
  static constexpr int count = 100;

  /// Gives body i the position (i, time, 0, 2 i) and the velocity (-i, time, 0, 0).
  void move(float time) {
    std::vector<glm::vec4> arrays;
    for (int i = 0; i < count; ++i) arrays.emplace_back(i, time, 0, 2 * i);
    for (int i = 0; i < count; ++i) arrays.emplace_back(-i, time, 0, 0);
    buffer.upload(std::as_bytes(std::span{arrays}));
  }
  static void expect(const BodyState& state, int index, float time) {
    EXPECT_EQ(state.index, index);
    EXPECT_EQ(state.position, glm::vec4(index, time, 0, 2 * index));
    EXPECT_EQ(state.velocity, glm::vec4(-index, time, 0, 0));
  }

  OffscreenContext context;
  Buffer buffer{2 * count * sizeof(glm::vec4)};
  const DrawnBodies bodies{buffer.id(), count};
  BodyReadback readback;
};

TEST_F(BodyReadbackTest, ReturnsTheBodyAsItWasWhenRequested) {
  EXPECT_FALSE(readback.poll());
  for (const int index : {0, 42, count - 1}) {
    move(1);
    readback.request(bodies, index);
    move(2);
    glFinish();
    const auto state = readback.poll();
    ASSERT_TRUE(state);
    expect(*state, index, 1);
    EXPECT_FALSE(readback.poll()) << "it was returned";
    expect(BodyReadback::read(bodies, index), index, 2);
  }
}

TEST_F(BodyReadbackTest, ReturnsTheNewestAndMakesNoMoreCopiesThanItHasRoomFor) {
  for (int frame = 0; frame < 2 * BodyReadback::capacity; ++frame) {
    move(static_cast<float>(frame));
    readback.request(bodies, 7);
  }
  glFinish();
  const auto state = readback.poll();
  ASSERT_TRUE(state);
  expect(*state, 7, BodyReadback::capacity - 1);
}

TEST_F(BodyReadbackTest, DropsCopiesInFlight) {
  move(1);
  readback.request(bodies, 3);
  readback.cancel();
  move(2);
  readback.request(bodies, 4);
  glFinish();
  const auto state = readback.poll();
  ASSERT_TRUE(state);
  expect(*state, 4, 2);
}

}  // namespace
}  // namespace orrery::render::test
