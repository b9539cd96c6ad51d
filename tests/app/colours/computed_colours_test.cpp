// The values that shaders compute are those that the CPU computes for the legend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "app/colours/body_colour.h"
#include "tests/render/picture.h"
#include "tests/render/stage.h"

namespace orrery {
namespace {

class ComputedColours : public testing::TestWithParam<render::Drawing> {
 protected:
  static constexpr int count = 200;

  ComputedColours() {
    std::mt19937 engine{7};  // NOLINT(cert-msc51-cpp): the same bodies each time
    const auto number = [&] { return static_cast<float>(engine()) / 2147483648.0f - 1; };
    for (int i = 0; i < count; ++i) {
      positions_.push_back({number(), number(), number(), 0.1f + std::abs(number())});
      velocities_.push_back({number(), number(), number(), 0});
    }
    stage_.camera.frame({0, 0, 0}, 1.5f);
    stage_.camera.look_from(0.7f, 0.4f);
    stage_.appearance.drawing = GetParam();
  }

  std::vector<float> values_of(const BodyColour& colour) const {
    const auto plain = [](const glm::vec4& v) { return Vec4{v.x, v.y, v.z, v.w}; };
    const glm::vec3 sight = stage_.camera.sight();
    std::vector<float> values;
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      values.push_back(colour.computed.of(plain(positions_[i]), plain(velocities_[i]), {sight.x, sight.y, sight.z}));
    }
    return values;
  }
  render::Image picture_by(const render::ColourBy& by) {
    stage_.appearance.colour_by = &by;
    return stage_.picture(positions_, velocities_, 160, 90);
  }

  render::test::Stage stage_;
  std::vector<glm::vec4> positions_, velocities_;
};

TEST_P(ComputedColours, AreThoseOfTheSameValuesInABuffer) {
  for (const BodyColour* colour : body_colours()) {
    if (!colour->computed.of) continue;
    SCOPED_TRACE(colour->id);
    const std::vector<float> values = values_of(*colour);
    const auto [low, high] = std::ranges::minmax(values);
    ASSERT_LT(low, high);
    stage_.ranges.*colour->by->range = {low, high};
    stage_.ranges.mass.high = 1;  // or bodies would have other sizes
    stage_.ranges.value = stage_.ranges.*colour->by->range;
    stage_.values.clear();
    const render::Image computed = picture_by(*colour->by);
    stage_.values = values;
    const render::ColourBy given{.logarithmic = colour->by->logarithmic, .map = colour->by->map};
    EXPECT_TRUE(render::test::difference(picture_by(given), computed).small());
    std::ranges::reverse(stage_.values);
    EXPECT_FALSE(render::test::difference(picture_by(given), computed).small()) << "colours make a difference";
  }
}

INSTANTIATE_TEST_SUITE_P(Drawn, ComputedColours, testing::Values(render::Drawing::sprites, render::Drawing::splats),
                         [](const auto& info) {
                           return info.param == render::Drawing::sprites ? "BySprites" : "BySplats";
                         });

}  // namespace
}  // namespace orrery
