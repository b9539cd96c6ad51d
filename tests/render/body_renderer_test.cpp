#include "render/passes/body_renderer.h"

#include "tests/render/stage.h"
#include "tests/test.h"

namespace orrery::render::test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr int middle = 64;  // of the Stage's 129 pixels

/// However they are drawn.
class Bodies : public testing::TestWithParam<Drawing>, public Stage {
 protected:
  Bodies() { appearance.drawing = GetParam(); }
  ~Bodies() override { EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR)); }

  /// Brightest pixel, column and row.
  static glm::ivec2 brightest(const Image& image) {
    glm::ivec2 found{0};
    int most = -1;
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) {
        if (brightness(pixel(image, x, y)) > most) {
          most = brightness(pixel(image, x, y));
          found = {x, y};
        }
      }
    }
    return found;
  }
  static double mean(const Image& image) {
    double sum = 0;
    for (const auto value : image.rgb) sum += value;
    return sum / static_cast<double>(image.rgb.size());
  }
  /// Where a place of the world is in a picture of this size: column and row.
  glm::vec2 place_in(glm::ivec2 size, glm::vec3 place) const {
    const glm::vec2 pixels{size};
    const glm::vec4 clip = camera.projection(pixels.x / pixels.y) * camera.view() * glm::vec4{place, 1.0f};
    return {0.5f * (1.0f + clip.x / clip.w) * pixels.x - 0.5f, 0.5f * (1.0f - clip.y / clip.w) * pixels.y - 0.5f};
  }
  /// Brightness between pixels.
  static float light_at(const Image& image, glm::vec2 at) {
    const glm::ivec2 low{glm::floor(at)};
    const glm::vec2 share = at - glm::floor(at);
    const auto light = [&](int x, int y) { return static_cast<float>(brightness(pixel(image, low.x + x, low.y + y))); };
    return glm::mix(glm::mix(light(0, 0), light(1, 0), share.x), glm::mix(light(0, 1), light(1, 1), share.x), share.y);
  }
  /// Evenly over a disc that faces the camera.
  static std::vector<glm::vec4> sunflower(int count) {
    std::vector<glm::vec4> bodies;
    for (int i = 0; i < count; ++i) {
      const float radius = std::sqrt((static_cast<float>(i) + 0.5f) / static_cast<float>(count));
      const float angle = 2.3999632f * static_cast<float>(i);
      bodies.emplace_back(radius * std::cos(angle), radius * std::sin(angle), 0.0f, 1.0f);
    }
    return bodies;
  }
};

TEST_P(Bodies, OneInTheMiddleIsASymmetricLightOnDarkGround) {
  const Image image = picture({{0, 0, 0, 1}});
  EXPECT_EQ(brightest(image), glm::ivec2(middle, middle));
  EXPECT_GT(brightness(pixel(image, middle, middle)), 400);
  EXPECT_LT(brightness(pixel(image, 0, 0)), 45);
  for (const int off : {1, 2, 3, 5, 9, 20}) {
    const glm::ivec3 right = pixel(image, middle + off, middle);
    for (const glm::ivec3 other :
         {pixel(image, middle - off, middle), pixel(image, middle, middle - off), pixel(image, middle, middle + off)}) {
      EXPECT_LE(brightness(glm::abs(right - other)), 6) << off << " pixels off";
    }
  }
}

TEST_P(Bodies, GlowAllAroundAlike) {
  constexpr int directions = 16;
  appearance.exposure = 3.0f;
  for (const glm::ivec2 size : {glm::ivec2{160, 160}, glm::ivec2{161, 135}, glm::ivec2{150, 147}}) {
    for (const glm::vec3 place : {glm::vec3{0.1f, 0, 0}, glm::vec3{0, -0.13f, 0.2f}, glm::vec3{0.17f, 0.1f, -0.2f}}) {
      const Image image = picture({{place, 1}}, size.x, size.y);
      const glm::vec2 centre = place_in(size, place);
      for (const float off : {8.0f, 12.0f, 16.0f, 20.0f, 24.0f, 28.0f}) {
        float least = 1e9f, most = 0;
        for (int i = 0; i < directions; ++i) {
          const float angle = 6.2831853f * static_cast<float>(i) / directions;
          const float light = light_at(image, centre + off * glm::vec2{std::cos(angle), std::sin(angle)});
          least = std::min(least, light);
          most = std::max(most, light);
        }
        EXPECT_LT(most, 1.06f * least + 4) << off << " pixels from the body, picture of " << size.x << " x " << size.y;
      }
    }
  }
}

TEST_P(Bodies, AppearWhereTheCameraPutsThem) {
  for (const glm::vec3 place : {glm::vec3{0.5f, 0, 0}, glm::vec3{0, -0.4f, 0.2f}, glm::vec3{0.1f, 0.3f, -0.6f}}) {
    const int width = 240, height = 120;
    const glm::vec2 found{brightest(picture({{place, 1}}, width, height))};
    EXPECT_LE(glm::distance(found, place_in({width, height}, place)), 1.5f);
  }
}

TEST_P(Bodies, TakeTheColoursOfSlowAndFast) {
  const auto colour_at = [&](float speed) {
    return pixel(picture(std::vector<glm::vec4>{{0, 0, 0, 1}}, std::vector<glm::vec4>{{0, speed, 0, 0}}, 129, 129),
                 middle + 1, middle);
  };
  EXPECT_GT(colour_at(0.0f).r, colour_at(0.0f).b + 40);
  EXPECT_GT(colour_at(1.0f).b, colour_at(1.0f).r + 40);
  EXPECT_EQ(colour_at(7.0f), colour_at(1.0f));
}

TEST_P(Bodies, TakeTheColoursOfLightAndHeavy) {
  appearance.colour_by = &by_mass;
  appearance.colour_map = 0;
  ranges.mass = {0.01f, 1.0f};
  const auto colour_at = [&](float mass) { return pixel(picture({{0, 0, 0, mass}}), middle + 1, middle); };
  EXPECT_GT(colour_at(0.01f).r, colour_at(0.01f).b + 40);
  EXPECT_GT(colour_at(1.0f).b, colour_at(1.0f).r + 40);
}

TEST_P(Bodies, NoneLeaveADarkPicture) {
  const Image image = picture({});
  for (const auto value : image.rgb) ASSERT_LE(value, 24);
  EXPECT_GT(mean(image), 0.0);
}

TEST_P(Bodies, WithNumbersThatAreNotFiniteAreLeftOut) {
  const glm::vec4 good{0, 0, 0, 1}, out_of_view{0, 0, 1e6f, 1};
  const Image expected = picture({good, out_of_view});
  for (const glm::vec4 bad : {glm::vec4{nan, 0, 0, 1}, glm::vec4{0, infinity, 0, 1}, glm::vec4{0, 0, -infinity, 1},
                              glm::vec4{0.2f, 0, 0, nan}, glm::vec4{nan, nan, nan, nan}}) {
    EXPECT_EQ(picture({good, bad}).rgb, expected.rgb);
  }
  const std::vector<glm::vec4> positions{good, {0.2f, 0, 0, 1}}, velocities{{}, {nan, 0, 0, 0}};
  EXPECT_EQ(picture(positions, velocities, 129, 129).rgb, expected.rgb);
}

TEST_P(Bodies, ShowTheSameAfterTheCanvasChangedItsSize) {
  const std::vector<glm::vec4> bodies = sunflower(50);
  const Image before = picture(bodies, 64, 48);
  const Image other = picture(bodies, 201, 3);
  EXPECT_EQ(other.width, 201);
  EXPECT_EQ(picture(bodies, 64, 48).rgb, before.rgb);
}

TEST_P(Bodies, GiveAsMuchLightWhateverTheirNumber) {
  camera.look_from(0.0f, 1.5f);
  const double few = mean(picture(sunflower(2000), 300, 300));
  const double many = mean(picture(sunflower(200000), 300, 300));
  EXPECT_GT(few, 25.0);
  EXPECT_NEAR(many / few, 1.0, 0.3);
}

TEST_P(Bodies, GrowBrighterWithExposureAndWiderWithScale) {
  const std::vector<glm::vec4> bodies = sunflower(400);
  const double plain = mean(picture(bodies));
  appearance.exposure = 3.0f;
  EXPECT_GT(mean(picture(bodies)), 1.2 * plain);
  appearance.exposure = 1.0f;
  const int beside = brightness(pixel(picture({{0, 0, 0, 1}}), middle + 4, middle));
  appearance.sprite_scale = 4.0f;
  EXPECT_GT(brightness(pixel(picture({{0, 0, 0, 1}}), middle + 4, middle)), beside + 50);
}

TEST_P(Bodies, AreAsBrightAtAnyDistanceWithAutomaticExposure) {
  const std::vector<glm::vec4> bodies = sunflower(3000);
  const auto brightest_light = [&](float exposure) {
    appearance.exposure = exposure;
    const Image image = picture(bodies, 200, 150);
    const glm::ivec2 at = brightest(image);
    return brightness(pixel(image, at.x, at.y));
  };
  for (const float sprite_scale : {0.1f, 1.0f}) {
    appearance.sprite_scale = sprite_scale;
    appearance.auto_exposure = false;
    picture({});
    appearance.auto_exposure = true;
    const int metered = brightest_light(1.0f);
    EXPECT_GT(metered, 350) << sprite_scale;
    EXPECT_LT(brightest_light(0.1f), metered - 50) << sprite_scale;
  }
}

TEST_P(Bodies, BurnToWhiteWhereTheyCrowd) {
  const glm::ivec3 one = pixel(picture({{0, 0, 0, 1}}), middle, middle);
  const glm::ivec3 crowd = pixel(picture(std::vector<glm::vec4>(4000, {0, 0, 0, 1})), middle, middle);
  EXPECT_GT(crowd.b, one.b + 40);
  EXPECT_GE(crowd.r, 250);
}

TEST_P(Bodies, DrawInAnyColourMap) {
  appearance.colour_map = 10000;
  EXPECT_GT(brightness(pixel(picture({{0, 0, 0, 1}}), middle, middle)), 200);
  appearance.colour_map = -1;
  EXPECT_GT(brightness(pixel(picture({{0, 0, 0, 1}}), middle, middle)), 200);
}

TEST_P(Bodies, AreDrawnAsAsked) {
  picture({{0, 0, 0, 1}});
  EXPECT_EQ(renderer.drawn(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Drawn, Bodies, testing::Values(Drawing::sprites, Drawing::splats),
                         [](const auto& info) { return info.param == Drawing::splats ? "splats" : "sprites"; });

}  // namespace
}  // namespace orrery::render::test
