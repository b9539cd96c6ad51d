#include "render/passes/box_renderer.h"

#include <gtest/gtest.h>

#include "tests/render/stage.h"

namespace orrery::render::test {
namespace {

class Boxes : public testing::Test, public Stage {
 protected:
  Boxes() {
    camera.look_from(0, 0);
    camera.frame({0, 0, 0}, 2);
  }
  ~Boxes() override { EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR)); }

  Image drawn(std::span<const DrawnBox> boxes) {
    const RenderTarget target{GL_RGBA8, size, size};
    constexpr float dark[4] = {};
    glClearNamedFramebufferfv(target.framebuffer(), GL_COLOR, 0, dark);
    renderer_.set(boxes);
    renderer_.draw(camera, {target.framebuffer(), size, size});
    return read_framebuffer(target.framebuffer(), size, size);
  }
  static int lit(const Image& image) {
    int count = 0;
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) count += brightness(pixel(image, x, y)) > 0;
    }
    return count;
  }

  static constexpr int size = 257;

 private:
  BoxRenderer renderer_;
};

TEST_F(Boxes, AreLinesAroundTheirMiddle) {
  const DrawnBox box{{0, 0, 0}, 1, 0};
  const Image image = drawn({&box, 1});
  EXPECT_EQ(brightness(pixel(image, size / 2, size / 2)), 0) << "no face is filled";
  EXPECT_EQ(brightness(pixel(image, 0, 0)), 0);
  const int some = lit(image);
  EXPECT_GT(some, size);  // two squares and four lines between them
  EXPECT_LT(some, size * size / 8);
}

TEST_F(Boxes, NoneLeaveThePictureAlone) {
  EXPECT_EQ(lit(drawn({})), 0);
  const DrawnBox box{{0, 0, 0}, 1, 0};
  EXPECT_GT(lit(drawn({&box, 1})), 0);
  EXPECT_EQ(lit(drawn({})), 0) << "those of before are gone";
}

TEST_F(Boxes, OfFewPixelsFadeAway) {
  const DrawnBox tiny{{0, 0, 0}, 0.01f, 0};
  EXPECT_EQ(lit(drawn({&tiny, 1})), 0);
}

TEST_F(Boxes, DeeperOnesAreFainterAndOfAnotherColour) {
  const auto brightest = [&](float level) {
    const DrawnBox boxes[] = {{{0, 0, 0}, 1, level}, {{1e6f, 0, 0}, 1, 8}};  // the other one only sets the scale
    const Image image = drawn(boxes);
    glm::ivec3 most{0};
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) most = glm::max(most, pixel(image, x, y));
    }
    return most;
  };
  const glm::ivec3 root = brightest(0), leaf = brightest(8);
  EXPECT_GT(root.b, root.r);
  EXPECT_GT(leaf.r, leaf.b);
  EXPECT_GT(brightness(root), brightness(leaf));
}

}  // namespace
}  // namespace orrery::render::test
