#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "render/gl/gl.h"
#include "render/gl/readback.h"
#include "render/image.h"

namespace orrery::render::test {
namespace {

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
