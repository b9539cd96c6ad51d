#include <gtest/gtest.h>

#include "app/overlays/overlay_lines.h"
#include "app/ui_state/overlays_commands.h"

namespace orrery {
namespace {

constexpr render::ValueRanges ranges{.speed = {0, 2}, .mass = {1, 1}};

/// Bodies 0, 4 and 9 move along x; body i at the speed i / 10.
BodyTracks moving() {
  BodyTracks tracks;
  for (int step = 0; step <= 100; ++step) {
    render::BodySample sample{.time = step * 0.1, .bodies = {}};
    for (const int i : {0, 4, 9}) {
      const auto speed = static_cast<float>(i) / 10;
      sample.bodies.push_back({i, {speed * static_cast<float>(sample.time), i, 0, 1}, {speed, 0, 0, 0}});
    }
    tracks.add(sample, 0.1);
  }
  return tracks;
}

TEST(Trails, LeadFromTheBodyBackInTimeAndFade) {
  const BodyTracks tracks = moving();
  const auto lines = trail_lines(tracks, tracks.time(), TrailsOf::picked, 4, {}, ranges);
  ASSERT_EQ(std::ssize(lines), BodyTracks::most_points);
  EXPECT_NEAR(lines.front().from.place.x, 0.4 * tracks.time(), 1e-4);
  EXPECT_NEAR(lines.back().to.place.x, 0.4 * (tracks.latest_point() - 63 * 0.1), 1e-3);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_GE(lines[i].from.colour.a, lines[i].to.colour.a);
    if (i == 0) continue;
    EXPECT_EQ(lines[i].from.place, lines[i - 1].to.place);
  }
  EXPECT_GT(lines.front().from.colour.a, 0.8f);
  EXPECT_LT(lines.back().to.colour.a, 0.02f);
}

TEST(Trails, EndWhereTheBodiesAreNow) {
  const BodyTracks tracks = moving();
  const auto lines = trail_lines(tracks, tracks.time() + 0.05, TrailsOf::picked, 9, {}, ranges);
  EXPECT_NEAR(lines.front().from.place.x, 0.9 * (tracks.time() + 0.05), 1e-4);
}

TEST(Trails, AreThoseOfTheSampleOrOfThePickedBody) {
  const BodyTracks tracks = moving();
  const auto count = [&](TrailsOf of, std::optional<int> picked) {
    return std::ssize(trail_lines(tracks, tracks.time(), of, picked, {}, ranges));
  };
  EXPECT_EQ(count(TrailsOf::sample, {}), 3 * BodyTracks::most_points);
  EXPECT_EQ(count(TrailsOf::picked, 4), BodyTracks::most_points);
  EXPECT_EQ(count(TrailsOf::picked, {}), 0);
  EXPECT_EQ(count(TrailsOf::picked, 5), 0) << "it is not known yet";
}

TEST(Trails, HaveTheColourOfTheSpeedIfBodiesHave) {
  const BodyTracks tracks = moving();
  const auto colours = [&](const render::Appearance& appearance) {
    const auto lines = trail_lines(tracks, tracks.time(), TrailsOf::sample, {}, appearance, ranges);
    return std::pair{glm::vec3{lines.front().from.colour}, glm::vec3{lines.back().from.colour}};
  };
  const auto [slow, fast] = colours({.colour_map = 6});
  EXPECT_NE(slow, fast);
  const auto [one, other] = colours({.colour_by = find_body_colour("none").by});
  EXPECT_EQ(one, other);
}

TEST(Trails, LastAsLongAsAFastBodyNeedsToCrossAPartOfTheScene) {
  EXPECT_NEAR(usual_trail_length(10, ranges), 3, 1e-6);
  EXPECT_GT(usual_trail_length(10, {.speed = {0, 0}, .mass = {}}), 0);
  EXPECT_TRUE(std::isfinite(usual_trail_length(1e30f, {.speed = {0, 0}, .mass = {}})));
}

}  // namespace
}  // namespace orrery
