// Colour maps, and the scale that the picture shows of one.
#include "render/colour_map.h"

#include "tests/render/stage.h"
#include "tests/test.h"

namespace orrery::render::test {
namespace {

TEST(ColourMaps, HaveIdsOfTheirOwnAndStopsFromZeroToOne) {
  std::set<std::string_view> ids;
  for (const ColourMap& map : colour_maps()) {
    EXPECT_TRUE(ids.insert(map.id).second) << map.id;
    EXPECT_FALSE(map.title.empty());
    EXPECT_EQ(map.stops.front().at, 0.0f);
    EXPECT_EQ(map.stops.back().at, 1.0f);
    for (std::size_t i = 1; i < map.stops.size(); ++i) EXPECT_GT(map.stops[i].at, map.stops[i - 1].at) << map.id;
  }
  EXPECT_GE(ids.size(), 5u);
}

TEST(ColourMaps, SuitTheQuantityUnlessOneIsChosen) {
  const auto shown = [](const Appearance& appearance) {
    return colour_maps()[static_cast<std::size_t>(shown_colour_map(appearance))].id;
  };
  EXPECT_EQ(shown({}), "stellar");
  EXPECT_EQ(shown({.colour_by = &test::by_mass}), "viridis");
  EXPECT_EQ(shown({.look = Look::density}), "inferno");
  EXPECT_EQ(shown({.colour_by = &test::by_mass, .colour_map = 2}), "aurora");
}

TEST(ColourMaps, EndInTheirOuterStopsAndStayThere) {
  for (const ColourMap& map : colour_maps()) {
    EXPECT_EQ(linear_colour(map, 0.0f), linear_from_srgb(map.stops.front().colour));
    EXPECT_EQ(linear_colour(map, 1.0f), linear_from_srgb(map.stops.back().colour));
    EXPECT_EQ(linear_colour(map, -3.0f), linear_colour(map, 0.0f));
    EXPECT_EQ(linear_colour(map, 3.0f), linear_colour(map, 1.0f));
  }
}

TEST(ColourMaps, PassThroughEachStopWithoutAJump) {
  for (const ColourMap& map : colour_maps()) {
    for (const ColourStop& stop : map.stops) {
      for (const float beside : {-1e-5f, 1e-5f}) {
        const glm::vec3 apart = linear_colour(map, stop.at + beside) - linear_from_srgb(stop.colour);
        EXPECT_LT(glm::length(apart), 1e-3f) << map.id << " at " << stop.at;
      }
    }
  }
}

TEST(ColourMaps, AreNowhereDarkAsLightsNorPaleAsInks) {
  for (const ColourMap& map : colour_maps()) {
    for (int i = 0; i <= 100; ++i) {
      const float at = static_cast<float>(i) / 100.0f;
      const glm::vec3 light = body_colour(map, at, Theme::dark), ink = body_colour(map, at, Theme::light);
      EXPECT_GT(light.r + light.g + light.b, 0.15f) << map.id << " at " << i;
      EXPECT_LT(glm::dot(ink, glm::vec3{0.2126f, 0.7152f, 0.0722f}), 0.23f) << map.id << " at " << i;
    }
  }
}

TEST(ColourMaps, TheBlackBodyHasEvenSteps) {
  const ColourMap& map = *std::ranges::find(colour_maps(), "black-body", &ColourMap::id);
  for (const ColourStop& stop : map.stops) {
    const float luminance = glm::dot(linear_from_srgb(stop.colour), glm::vec3{0.2126f, 0.7152f, 0.0722f});
    const float lightness = luminance > 0.008856f ? 116 * std::cbrt(luminance) - 16 : 903.3f * luminance;
    EXPECT_NEAR(lightness, 100 * stop.at, 0.5f);
  }
}

TEST(PartColours, AreInksOfTheSameHuesOnWhite) {
  const auto lights = part_colours(Theme::dark), inks = part_colours(Theme::light);
  for (std::size_t i = 0; i < lights.size(); ++i) {
    const glm::vec3 light = linear_from_srgb(lights[i]), ink = linear_from_srgb(inks[i]);
    EXPECT_LT(glm::dot(ink, glm::vec3{0.2126f, 0.7152f, 0.0722f}), 0.23f) << i;
    EXPECT_LT(glm::length(glm::normalize(light) - glm::normalize(ink)), 1e-3f) << i;
  }
}

TEST(ColourMaps, OfADensityBeginWithTheGround) {
  for (const ColourMap& map : colour_maps()) {
    EXPECT_LT(glm::length(density_colour(map, 0, Theme::light) - glm::vec3{1}), 1e-3f) << map.id;
    EXPECT_EQ(density_colour(map, 0.4f, Theme::dark), linear_colour(map, 0.4f));
    EXPECT_LT(glm::length(density_colour(map, 1, Theme::light) - linear_colour(map, 0)), 1e-3f) << map.id;
  }
}

TEST(ColourMaps, LeadFromRedThroughWhiteToBlueAtFirst) {
  const ColourMap& stellar = colour_maps().front();
  const glm::vec3 slow = linear_colour(stellar, 0.0f), fast = linear_colour(stellar, 1.0f);
  EXPECT_GT(slow.r, 3.0f * slow.b);
  EXPECT_GT(fast.b, 3.0f * fast.r);
}

TEST(Srgb, IsTheStandardCurve) {
  EXPECT_NEAR(srgb_from_linear(glm::vec3{0.5f}).x, 0.7354f, 1e-3f);
  EXPECT_NEAR(linear_from_srgb(glm::vec3{0.5f}).x, 0.2140f, 1e-3f);
  EXPECT_NEAR(linear_from_srgb(srgb_from_linear(glm::vec3{0.001f})).x, 0.001f, 1e-6f);
}

const ValueRanges automatic{.speed = {0.0f, 8.0f}, .mass = {1.0f, 4.0f}, .mass_per_area = {10.0f, 1000.0f}};

ColourScale scale_of(const Appearance& appearance) {
  const ColourScale scale = colour_scale(appearance, automatic);
  EXPECT_LT(scale.range.low, scale.range.high);
  EXPECT_TRUE(!scale.logarithmic || scale.range.low > 0);
  return scale;
}

TEST(ColourScale, SuitsTheQuantity) {
  EXPECT_FALSE(scale_of({}).logarithmic);
  EXPECT_EQ(scale_of({}).range.high, 8);
  EXPECT_TRUE(scale_of({.colour_by = &by_mass}).logarithmic);
  EXPECT_EQ(scale_of({.colour_by = &by_mass}).range.low, 1);
  EXPECT_EQ(scale_of({.look = Look::density}).range.low, 10);
  EXPECT_TRUE(scale_of({.look = Look::density}).logarithmic);
}

TEST(ColourScale, IsAsTheUserFixedIt) {
  const ColourScale fixed = scale_of({.scale = Scale::logarithmic, .low = 0.5f, .high = 3.0f});
  EXPECT_TRUE(fixed.logarithmic);
  EXPECT_EQ(fixed.range.low, 0.5f);
  EXPECT_EQ(fixed.range.high, 3.0f);
  const ColourScale one_end = scale_of({.low = 2.0f});
  EXPECT_EQ(one_end.range.low, 2);
  EXPECT_EQ(one_end.range.high, 8) << "automatic";
}

TEST(ColourScale, KeepsAFixedEndBeyondTheAutomaticOne) {
  EXPECT_EQ(scale_of({.low = 20.0f}).range.low, 20);
  EXPECT_EQ(scale_of({.colour_by = &by_mass, .high = 0.25f}).range.high, 0.25f);
}

TEST(ColourScale, OfALogarithmBeginsAboveZero) {
  EXPECT_GT(scale_of({.scale = Scale::logarithmic}).range.low, 0) << "speeds begin at 0";
  EXPECT_FALSE(scale_of({.colour_by = &by_mass, .low = 0.0f}).logarithmic) << "0 has no logarithm";
}

}  // namespace
}  // namespace orrery::render::test
