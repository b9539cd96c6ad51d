#include "app/viewer/scene_picture.h"

#include <gtest/gtest.h>

#include <array>
#include <span>

#include "tests/render/stage.h"

namespace orrery {
namespace {

TEST(ScenePicture, HasWhatIsAimedAtInTheMiddleOfWhatIsNotCovered) {
  const render::OffscreenContext context;
  constexpr int width = 161, height = 121;
  const struct {
    Covered covered;
    int column, row;  // from the top
  } cases[] = {{{}, 80, 60}, {{.left = 40}, 100, 60}, {{.bottom = 50}, 80, 35}, {{.left = 40, .bottom = 50}, 100, 35}};
  const std::array<glm::vec4, 2> body{glm::vec4{0, 0, 0, 1}, glm::vec4{}};
  render::Buffer buffer{sizeof body};
  buffer.upload(std::as_bytes(std::span{body}));
  const render::RenderTarget target{GL_RGBA8, width, height};
  const render::BoxRenderer no_boxes;
  ScenePicture picture;
  for (const auto& [covered, column, row] : cases) {
    picture.draw({buffer.id(), 1}, true, {}, {}, {}, {target.framebuffer(), width, height}, covered, no_boxes);
    const render::Image seen = render::read_framebuffer(target.framebuffer(), width, height);
    EXPECT_GT(render::test::brightness(render::test::pixel(seen, column, row)), 400) << column << ' ' << row;
    EXPECT_LT(render::test::brightness(render::test::pixel(seen, 10, 110)), 45);
  }
}

}  // namespace
}  // namespace orrery
