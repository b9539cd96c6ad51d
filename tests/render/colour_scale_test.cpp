#include <gtest/gtest.h>

#include "render/colour_map.h"
#include "tests/render/colours.h"

namespace orrery::render::test {
namespace {

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
