// Bodies, buffers and pixels that are read back from the GPU without waiting.
#include "render/gl/readback.h"

#include "render/gl/gl.h"
#include "render/image.h"
#include "render/passes/body_readback.h"
#include "tests/render/stage.h"
#include "tests/test.h"

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

TEST(BufferReadback, CopiesPartsAsTheyWereWhenAskedFor) {
  const OffscreenContext context;
  std::vector<glm::vec4> values;
  for (int i = 0; i < 100; ++i) values.emplace_back(static_cast<float>(i));
  Buffer buffer{values.size() * sizeof(glm::vec4)};
  buffer.upload(std::as_bytes(std::span{values}));
  BufferReadback readback;
  EXPECT_FALSE(readback.in_flight());
  const BufferReadback::Part parts[] = {{2, 3}, {90, 1}};
  readback.request(buffer.id(), parts);
  EXPECT_TRUE(readback.in_flight());
  const std::vector<glm::vec4> later(100);
  buffer.upload(std::as_bytes(std::span{later}));
  const auto copy = readback.poll(true);
  ASSERT_TRUE(copy);
  EXPECT_EQ(*copy, (std::vector<glm::vec4>{glm::vec4{2}, glm::vec4{3}, glm::vec4{4}, glm::vec4{90}}));
  EXPECT_FALSE(readback.in_flight());
  readback.request(buffer.id(), std::span{parts}.last(1));
  readback.cancel();
  EXPECT_FALSE(readback.in_flight());
}

TEST(PixelReader, CopiesPicturesInOrderWhileLaterOnesAreDrawn) {
  const OffscreenContext context;
  const int width = 33, height = 7;
  const RenderTarget target{GL_RGBA8, width, height};
  PixelReader reader{width, height};
  std::vector<Image> wanted;
  std::vector<std::uint8_t> rgba(4 * 33 * 7);
  for (int frame = 0; frame < 5; ++frame) {
    const float shade = static_cast<float>(frame) / 5;
    const float all[]{shade, 0.25f, 1 - shade, 1}, corner[]{1, 1, 1, 0};
    glClearNamedFramebufferfv(target.framebuffer(), GL_COLOR, 0, all);
    glBindFramebuffer(GL_FRAMEBUFFER, target.framebuffer());
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, 3 + frame, 2);
    glClearNamedFramebufferfv(target.framebuffer(), GL_COLOR, 0, corner);
    glDisable(GL_SCISSOR_TEST);
    wanted.push_back(read_framebuffer(target.framebuffer(), width, height));
    if (reader.in_flight() == PixelReader::most) {
      reader.take(rgba);
      EXPECT_EQ(upright_image(rgba, width, height).rgb, wanted[static_cast<std::size_t>(frame) - 2].rgb) << frame;
    }
    reader.begin(target.framebuffer());
  }
  for (std::size_t frame = 3; frame < 5; ++frame) {
    reader.take(rgba);
    EXPECT_EQ(upright_image(rgba, width, height).rgb, wanted[frame].rgb);
  }
  EXPECT_EQ(reader.in_flight(), 0u);
  EXPECT_THROW(reader.take(rgba), std::logic_error);
}

}  // namespace
}  // namespace orrery::render::test
