#include <gtest/gtest.h>

#include <algorithm>

#include "render/passes/strokes.h"
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

  Image drawn(std::span<const DrawnBox> boxes) { return drawn(boxes, renderer_); }
  Image drawn(std::span<const DrawnBox> boxes, BoxRenderer& renderer) {
    const RenderTarget target{GL_RGBA8, size, size};
    constexpr float dark[4] = {};
    glClearNamedFramebufferfv(target.framebuffer(), GL_COLOR, 0, dark);
    renderer.set(boxes);
    renderer.draw(camera, {target.framebuffer(), size, size});
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
  static constexpr glm::vec4 white{1};

 private:
  BoxRenderer renderer_;
};

TEST_F(Boxes, AreLinesAroundTheirMiddle) {
  const DrawnBox box{{0, 0, 0}, 1, white};
  const Image image = drawn({&box, 1});
  EXPECT_EQ(brightness(pixel(image, size / 2, size / 2)), 0) << "no face is filled";
  EXPECT_EQ(brightness(pixel(image, 0, 0)), 0);
  const int some = lit(image);
  EXPECT_GT(some, size);  // two squares and four lines between them
  EXPECT_LT(some, size * size / 8);
}

TEST_F(Boxes, NoneLeaveThePictureAlone) {
  EXPECT_EQ(lit(drawn({})), 0);
  const DrawnBox box{{0, 0, 0}, 1, white};
  EXPECT_GT(lit(drawn({&box, 1})), 0);
  EXPECT_EQ(lit(drawn({})), 0) << "those of before are gone";
}

TEST_F(Boxes, OfFewPixelsFadeAway) {
  const DrawnBox tiny{{0, 0, 0}, 0.01f, white};
  EXPECT_EQ(lit(drawn({&tiny, 1})), 0);
}

TEST_F(Boxes, ThatAreTooWideFadeAwayIfAsked) {
  BoxRenderer any{}, narrow{0.3f};
  const auto brightest = [&](float half_size, BoxRenderer& renderer) {
    const DrawnBox box{{0, 0, 0}, half_size, white};
    const Image image = drawn({&box, 1}, renderer);
    return *std::ranges::max_element(image.rgb);
  };
  EXPECT_EQ(brightest(0.1f, narrow), brightest(0.1f, any));
  EXPECT_LT(brightest(0.35f, narrow), brightest(0.35f, any)) << "it fades";
  EXPECT_GT(brightest(0.35f, narrow), 0);
  EXPECT_EQ(brightest(1, narrow), 0);
}

TEST_F(Boxes, HaveTheirColours) {
  const DrawnBox boxes[] = {{{0, -1, 0}, 0.5f, {1, 0, 0, 1}}, {{0, 1, 0}, 0.5f, {0, 0, 1, 0.5f}}};
  const Image image = drawn(boxes);
  glm::ivec3 left{0}, right{0};
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x)
      (x < size / 2 ? left : right) = glm::max(x < size / 2 ? left : right, pixel(image, x, y));
  }
  EXPECT_GT(left.r, 200);
  EXPECT_EQ(left.b, 0);
  EXPECT_EQ(right.r, 0);
  EXPECT_NEAR(right.b, left.r / 2, 60);
}

}  // namespace
}  // namespace orrery::render::test
