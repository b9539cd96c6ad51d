#include "render/passes/body_renderer.h"
#include "tests/render/stage.h"
#include "tests/test.h"

namespace orrery::render::test {
namespace {

/// Bodies in two clumps and a wide cloud, at rest or moving.
struct Cloud {
  std::vector<glm::vec4> positions, velocities;
};
Cloud clumps(int count) {
  std::mt19937 random{7};
  std::normal_distribution<float> normal;
  Cloud cloud;
  for (int i = 0; i < count; ++i) {
    const float size = i % 3 == 0 ? 0.5f : 0.12f;
    const glm::vec3 middle{i % 3 == 1 ? -0.5f : 0.4f, 0.1f, 0.0f};
    const glm::vec3 offset{normal(random), normal(random), normal(random)};
    cloud.positions.emplace_back(middle + size * offset, 1.0f);
    cloud.velocities.emplace_back(0.5f * std::abs(normal(random)), 0.0f, 0.0f, 0.0f);
  }
  return cloud;
}

/// The image of light that Sprites or Splats make.
class Light : public testing::Test {
 protected:
  OffscreenContext context;
  OrbitCamera camera;
  Sprites sprites;
  Splats splats;

  struct Sums {
    double light = 0, coloured = 0;
  };
  struct Pixels {
    int width = 0, height = 0;
    std::vector<glm::vec2> values;

    Sums sums() const {
      Sums sums;
      for (const glm::vec2 value : values) {
        sums.light += value.x;
        sums.coloured += value.y;
      }
      return sums;
    }
  };

  template <class Pass>
  Pixels draw(Pass& pass, const Cloud& cloud, int width, int height) {
    std::vector<glm::vec4> arrays = cloud.positions;
    arrays.insert(arrays.end(), cloud.velocities.begin(), cloud.velocities.end());
    Buffer buffer{std::as_bytes(std::span{arrays}).size()};
    buffer.upload(std::as_bytes(std::span{arrays}));
    const DrawnBodies bodies{buffer.id(), static_cast<int>(cloud.positions.size())};
    const RenderTarget target{GL_RG32F, width, height};
    pass.draw(bodies, body_light(bodies, camera, {}, {{0.0f, 1.0f}, {1.0f, 1.0f}}, width, height), target);
    Pixels pixels{width, height,
                  std::vector<glm::vec2>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height))};
    glGetTextureImage(target.texture(), 0, GL_RG, GL_FLOAT, static_cast<GLsizei>(8 * pixels.values.size()),
                      pixels.values.data());
    return pixels;
  }

  /// The sums over the picture of all light, and of the red, green and blue light of bodies in eight colours.
  template <class Pass>
  glm::dvec4 draw_parts(Pass& pass, const Cloud& cloud) {
    std::vector<glm::vec4> arrays = cloud.positions;
    arrays.insert(arrays.end(), cloud.velocities.begin(), cloud.velocities.end());
    std::vector<float> parts;
    for (std::size_t i = 0; i < cloud.positions.size(); ++i) parts.push_back(static_cast<float>(i % 8));
    Buffer buffer{std::as_bytes(std::span{arrays}).size()}, values{std::as_bytes(std::span{parts}).size()};
    buffer.upload(std::as_bytes(std::span{arrays}));
    values.upload(std::as_bytes(std::span{parts}));
    const DrawnBodies bodies{buffer.id(), static_cast<int>(cloud.positions.size()), values.id()};
    const RenderTarget target{GL_RGBA32F, 320, 240};
    const Appearance appearance{.colour_by = &by_part};
    pass.draw(bodies, body_light(bodies, camera, appearance, {{0.0f, 1.0f}, {1.0f, 1.0f}}, 320, 240), target);
    std::vector<glm::vec4> pixels(320 * 240);
    glGetTextureImage(target.texture(), 0, GL_RGBA, GL_FLOAT, static_cast<GLsizei>(16 * pixels.size()), pixels.data());
    glm::dvec4 sums{0.0};
    for (const glm::dvec4 pixel : pixels) sums += pixel;
    return sums;
  }

  /// Sums over blocks of 8 x 8 pixels: what remains of two pictures whose bodies have slightly different outlines.
  static std::vector<double> blocks(const Pixels& pixels) {
    const int columns = pixels.width / 8;
    std::vector<double> sums(static_cast<std::size_t>(columns * (pixels.height / 8)));
    for (int y = 0; y < pixels.height; ++y) {
      for (int x = 0; x < pixels.width; ++x) {
        sums[static_cast<std::size_t>((y / 8) * columns + x / 8)] +=
            pixels.values[static_cast<std::size_t>(y * pixels.width + x)].x;
      }
    }
    return sums;
  }
};

TEST_F(Light, IsTheSameOfSpritesAndOfSplats) {
  for (const int count : {300, 200000}) {  // large bodies, and small ones
    for (const float notches : {-6.0f, 0.0f, 8.0f}) {
      SCOPED_TRACE(testing::Message() << count << " bodies, " << notches << " notches nearer");
      camera.reset();
      camera.zoom(notches);
      const Pixels drawn = draw(sprites, clumps(count), 320, 240), splatted = draw(splats, clumps(count), 320, 240);
      const Sums expected = drawn.sums(), found = splatted.sums();
      EXPECT_NEAR(found.light / expected.light, 1.0, 0.01);
      EXPECT_NEAR(found.coloured / expected.coloured, 1.0, 0.01);
      const std::vector<double> a = blocks(drawn), b = blocks(splatted);
      double differences = 0;
      for (std::size_t i = 0; i < a.size(); ++i) differences += std::abs(a[i] - b[i]);
      EXPECT_LT(differences, 0.06 * expected.light);
    }
  }
}

TEST_F(Light, OfPartsIsTheSameOfSpritesAndOfSplats) {
  for (const int count : {300, 200000}) {
    const glm::dvec4 drawn = draw_parts(sprites, clumps(count)), splatted = draw_parts(splats, clumps(count));
    for (int sum = 0; sum < 4; ++sum) {
      EXPECT_GT(drawn[sum], 0);
      EXPECT_NEAR(splatted[sum] / drawn[sum], 1.0, 0.02) << count << " bodies, sum " << sum;
    }
  }
}

TEST_F(Light, OfABodyIsKeptAtAnyPlaceAndZoom) {
  Cloud one{{{0, 0, 0, 1}}, {{}}};
  // Bodies that are not seen make the one small.
  one.positions.resize(140000, {0, 0, 1e6f, 1});
  one.velocities.resize(140000);
  for (const float notches : {-20.0f, -10.0f, 0.0f}) {
    camera.reset();
    camera.zoom(notches);
    const double distance = camera.distance();
    double least = 1e30, most = 0, dimmest_peak = 1e30, brightest_peak = 0;
    for (int step = 0; step < 40; ++step) {
      one.positions.front() = {0.003f * static_cast<float>(step), 0.0017f * static_cast<float>(step), 0, 1};
      const Pixels pixels = draw(splats, one, 200, 150);
      const double light = pixels.sums().light * distance * distance;
      least = std::min(least, light);
      most = std::max(most, light);
      const double peak = std::ranges::max(pixels.values, {}, &glm::vec2::x).x;
      dimmest_peak = std::min(dimmest_peak, peak);
      brightest_peak = std::max(brightest_peak, peak);
    }
    EXPECT_GT(least, 0.0);
    EXPECT_LT(most, 1.1 * least) << notches << " notches nearer";
    EXPECT_LT(brightest_peak, 1.1 * dimmest_peak) << "it flickers, " << notches << " notches nearer";
  }
}

TEST_F(Light, OfSplatsHasTheSameBitsEveryTime) {
  Cloud bodies = clumps(140000);
  const auto expected = draw(splats, bodies, 160, 120).values;
  EXPECT_EQ(draw(splats, bodies, 160, 120).values, expected);
}

TEST_F(Light, DoesNotDependOnTheSizeOfThePicture) {
  const Cloud bodies = clumps(140000);
  const double small = draw(splats, bodies, 160, 120).sums().light, large = draw(splats, bodies, 640, 480).sums().light;
  EXPECT_NEAR(large / small / 16, 1.0, 0.02);
}

}  // namespace
}  // namespace orrery::render::test
