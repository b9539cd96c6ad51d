// Lines and boxes.
#include "render/passes/strokes.h"
#include "tests/render/stage.h"
#include "tests/test.h"

namespace orrery::render::test {
namespace {

/// Looks along the x axis: y is to the right, z up.
class Lines : public testing::Test, public Stage {
 protected:
  Lines() {
    camera.look_from(0, 0);
    camera.frame({0, 0, 0}, 2);
  }
  ~Lines() override { EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR)); }

  Image drawn(std::span<const DrawnLine> lines) {
    const RenderTarget target{GL_RGBA8, size, size};
    constexpr float dark[4] = {};
    glClearNamedFramebufferfv(target.framebuffer(), GL_COLOR, 0, dark);
    renderer_.set(lines);
    renderer_.draw(camera, {target.framebuffer(), size, size});
    return read_framebuffer(target.framebuffer(), size, size);
  }
  Image drawn(const DrawnLine& line) { return drawn({&line, 1}); }
  static DrawnLine line(glm::vec3 from, glm::vec3 to, float width_px) {
    return {{from, width_px, white}, {to, width_px, white}};
  }
  /// The light of a column of pixels, in full pixels.
  static float light(const Image& image, int x) {
    int sum = 0;
    for (int y = 0; y < size; ++y) sum += pixel(image, x, y).g;
    return static_cast<float>(sum) / 255;
  }

  static constexpr int size = 257, middle = size / 2;
  static constexpr glm::vec4 white{1};

 private:
  LineRenderer renderer_;
};

TEST_F(Lines, AreAsWideAsAskedInAnyDirection) {
  for (const float width : {0.5f, 1.0f, 3.0f, 8.0f}) {
    const Image level = drawn(line({0, -1, 0.013f}, {0, 1, 0.013f}, width));
    EXPECT_NEAR(light(level, middle), width, 0.15f);
    EXPECT_EQ(light(level, 2), 0) << "beyond its end";
    const Image slanted = drawn(line({0, -1, -1}, {0, 1, 1}, width));
    EXPECT_NEAR(light(slanted, middle), width * 1.414f, 0.25f);
  }
}

TEST_F(Lines, FadeAndTaperFromEndToEnd) {
  const Image fading = drawn({{{0, -1, 0}, 4, {1, 1, 1, 0}}, {{0, 1, 0}, 4, {1, 1, 1, 1}}});
  EXPECT_NEAR(light(fading, middle), 2, 0.3f);
  EXPECT_LT(light(fading, middle - 30), light(fading, middle));
  EXPECT_GT(light(fading, middle + 30), light(fading, middle));
  const Image tapering = drawn({{{0, -1, 0}, 0, white}, {{0, 1, 0}, 8, white}});
  EXPECT_NEAR(light(tapering, middle), 4, 0.3f);
}

TEST_F(Lines, AreCutBeforeTheCamera) {
  const glm::vec3 behind = camera.position() + glm::vec3{1, 0.2f, 0};
  EXPECT_NEAR(light(drawn(line({0, 0.4f, 0}, behind, 2)), middle + 60), 2, 0.4f);
  EXPECT_EQ(brightness(pixel(drawn(line(behind, behind + glm::vec3{1, 0, 0}, 2)), middle, middle)), 0);
}

TEST_F(Lines, ThatAreNotFiniteAreNotDrawn) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const Image image = drawn(line({0, bad, 0}, {0, 1, 0}, 3));
    for (int x = 0; x < size; ++x) ASSERT_EQ(light(image, x), 0);
  }
}

TEST_F(Lines, NoneLeaveThePictureAlone) {
  EXPECT_GT(light(drawn(line({0, -1, 0}, {0, 1, 0}, 1)), middle), 0);
  EXPECT_EQ(light(drawn(std::span<const DrawnLine>{}), middle), 0) << "those of before are gone";
}

TEST_F(Lines, OfAPixelAreWiderInALargePicture) {
  const RenderTarget target{GL_RGBA8, 1600, 1600};
  constexpr float dark[4] = {};
  glClearNamedFramebufferfv(target.framebuffer(), GL_COLOR, 0, dark);
  LineRenderer renderer;
  const DrawnLine one = line({0, -1, 0}, {0, 1, 0}, 1);
  renderer.set({&one, 1});
  renderer.draw(camera, {target.framebuffer(), 1600, 1600});
  const Image image = read_framebuffer(target.framebuffer(), 1600, 1600);
  int sum = 0;
  for (int y = 0; y < 1600; ++y) sum += pixel(image, 800, y).g;
  EXPECT_NEAR(sum / 255.0, 2, 0.1);
}

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
