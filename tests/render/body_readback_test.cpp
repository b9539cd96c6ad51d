#include "render/passes/body_readback.h"

#include <gtest/gtest.h>

#include <stdexcept>
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
  BodyReadback readback{3};
};

TEST_F(BodyReadbackTest, ReturnsTheBodiesAsTheyWereWhenRequested) {
  EXPECT_FALSE(readback.poll());
  const int indices[] = {42, 0, count - 1};
  move(1);
  EXPECT_TRUE(readback.request(bodies, indices, 0.5));
  move(2);
  glFinish();
  const auto sample = readback.poll();
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->time, 0.5);
  ASSERT_EQ(sample->bodies.size(), 3u);
  for (int i = 0; i < 3; ++i) expect(sample->bodies[static_cast<std::size_t>(i)], indices[i], 1);
  EXPECT_FALSE(readback.poll()) << "it was returned";
  const BodySample now = readback.read(bodies, {indices, 2}, 7);
  ASSERT_EQ(now.bodies.size(), 2u);
  expect(now.bodies[1], 0, 2);
  EXPECT_FALSE(readback.poll()) << "it was returned";
  EXPECT_THROW(readback.request(bodies, std::vector<int>(100, 1), 0), std::logic_error);
}

TEST_F(BodyReadbackTest, ReturnsTheNewestAndMakesNoMoreCopiesThanItHasRoomFor) {
  const int index = 7;
  for (int frame = 0; frame < 2 * BodyReadback::capacity; ++frame) {
    move(static_cast<float>(frame));
    EXPECT_EQ(readback.request(bodies, {&index, 1}, frame), frame < BodyReadback::capacity);
  }
  glFinish();
  const auto sample = readback.poll();
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->time, BodyReadback::capacity - 1);
  expect(sample->bodies.front(), 7, BodyReadback::capacity - 1);
}

TEST_F(BodyReadbackTest, DropsCopiesInFlight) {
  const int first = 3, second = 4;
  move(1);
  readback.request(bodies, {&first, 1}, 1);
  readback.cancel();
  move(2);
  readback.request(bodies, {&second, 1}, 2);
  glFinish();
  const auto sample = readback.poll();
  ASSERT_TRUE(sample);
  expect(sample->bodies.front(), 4, 2);
}

}  // namespace
}  // namespace orrery::render::test
