#include <gtest/gtest.h>

#include <vector>

#include "render/gl/gl.h"
#include "render/gl/readback.h"

namespace orrery::render {
namespace {

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

}  // namespace
}  // namespace orrery::render
