// The list of body colours, and the values that need no window.
#include "app/colours/body_colour.h"
#include "compute/sim/results.h"
#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

using Source = render::ColourBy::Source;

TEST(BodyColours, SayWhatTheyAre) {
  std::set<std::string_view> ids, titles;
  std::set<const render::ColourBy*> ways;
  for (const BodyColour* colour : body_colours()) {
    SCOPED_TRACE(colour->id);
    EXPECT_TRUE(ids.insert(colour->id).second);
    EXPECT_TRUE(titles.insert(colour->title).second);
    EXPECT_TRUE(ways.insert(colour->by).second) << "or appearances would not differ";
    EXPECT_TRUE(std::string_view{colour->notes}.ends_with('.'));
    EXPECT_EQ(&find_body_colour(colour->id), colour);
    EXPECT_EQ(&body_colour({.colour_by = colour->by}), colour);
    const Source source = colour->by->source;
    EXPECT_EQ(*colour->quantity == 0, source == Source::none);
    EXPECT_EQ(*colour->unit == 0, source == Source::none || source == Source::parts);
    EXPECT_EQ(colour->computed.of != nullptr, source == Source::computed);
    EXPECT_EQ(!colour->by->glsl.empty(), source == Source::computed);
    EXPECT_EQ(colour->create != nullptr, source == Source::values || source == Source::parts);
    EXPECT_EQ(colour->parts != nullptr, source == Source::parts);
    EXPECT_NE(std::ranges::find(render::colour_map_ids, colour->by->map), render::colour_map_ids.end());
  }
  EXPECT_EQ(body_colours().front()->by, render::Appearance{}.colour_by);
}

TEST(BodyColours, HaveTheValueOfTheirExample) {
  for (const BodyColour* colour : body_colours()) {
    if (!colour->computed.of) continue;
    const auto& [position, velocity, sight, value] = colour->computed.example;
    EXPECT_FLOAT_EQ(colour->computed.of(position, velocity, sight), value) << colour->id;
    EXPECT_NE(value, 0) << colour->id;
  }
}

/// The value of the colour for a body with this acceleration.
float suitable_time_step(float time_step, float softening, float acceleration) {
  Status status;
  status.time_step = time_step;
  status.law.softening = softening;
  status.accelerations = std::make_shared<const Accelerations>(Accelerations{.magnitudes = {acceleration}});
  std::vector<float> values(1);
  EXPECT_TRUE(find_body_colour("time-step-class").create()->renew({status, {}, 1, true, 0, true}, values));
  return values[0];
}

TEST(SuitableTimeStep, IsThePowerOfTwoOfDtThatTheAccelerationAllows) {
  // The criterion gives sqrt(0.05 * 0.2 / 1) = 0.1.
  EXPECT_EQ(suitable_time_step(0.08f, 0.2f, 1.0f), 0.08f);
  EXPECT_EQ(suitable_time_step(0.15f, 0.2f, 1.0f), 0.075f);
  EXPECT_EQ(suitable_time_step(0.75f, 0.2f, 1.0f), 0.09375f);
  EXPECT_EQ(suitable_time_step(0.02f, 0.2f, 1.0f), 0.08f);
  EXPECT_EQ(suitable_time_step(1.0f, 0.2f, 0.0f), 1048576.0f) << "nothing pulls";
  EXPECT_TRUE(std::isnan(suitable_time_step(0.15f, 0.2f, std::nanf(""))));
}

TEST(DensityInterval, IsASecondUnlessThatTakesTooMuch) {
  EXPECT_DOUBLE_EQ(density_interval_s(0.002), 0.1) << "2 % of the time";
  EXPECT_DOUBLE_EQ(density_interval_s(0.1), 1);
  EXPECT_DOUBLE_EQ(density_interval_s(2), 8) << "a quarter of the time";
}

}  // namespace
}  // namespace orrery::test
