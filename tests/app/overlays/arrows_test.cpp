#include "app/overlays/arrows.h"

#include <gtest/gtest.h>

#include <limits>

namespace orrery {
namespace {

BodyTracks tracks_of(const std::vector<glm::vec3>& velocities, double time = 0) {
  BodyTracks tracks;
  render::BodySample sample{.time = time, .bodies = {}};
  for (const glm::vec3& v : velocities) {
    const int index = static_cast<int>(sample.bodies.size());
    sample.bodies.push_back({index, {index, 0, 0, 1}, {v, 0}});
  }
  tracks.add(sample, 1);
  return tracks;
}

constexpr auto dark = render::Theme::dark;

TEST(Arrows, TheLongestIsAsLongAsAsked) {
  const BodyTracks tracks = tracks_of({{0, 2, 0}, {0, 0, -4}, {0, 0, 0}});
  const Arrows arrows = arrows_of(tracks, 0, Vectors::velocity, {}, 0.5f, dark);
  EXPECT_EQ(arrows.value_per_length, 8);
  ASSERT_EQ(arrows.lines.size(), 4u) << "a shaft and a head of each body that moves";
  EXPECT_EQ(arrows.lines[0].from.place, glm::vec3(0, 0, 0));
  EXPECT_EQ(arrows.lines[1].to.place, glm::vec3(0, 0.25f, 0));
  EXPECT_EQ(arrows.lines[1].to.width_px, 0);
  EXPECT_EQ(arrows.lines[3].to.place, glm::vec3(1, 0, -0.5f));
}

TEST(Arrows, StartWhereTheBodiesAreNow) {
  const Arrows arrows = arrows_of(tracks_of({{0, 2, 0}}), 0.5, Vectors::velocity, {}, 1, dark);
  EXPECT_EQ(arrows.lines[0].from.place, glm::vec3(0, 1, 0));
}

TEST(Arrows, OfAccelerationsNeedTwoReadings) {
  BodyTracks tracks = tracks_of({{1, 0, 0}});
  EXPECT_TRUE(arrows_of(tracks, 0, Vectors::acceleration, {}, 1, dark).lines.empty());
  EXPECT_EQ(arrows_of(tracks, 0, Vectors::acceleration, {}, 1, dark).value_per_length, 0);
  tracks.add({.time = 0.5, .bodies = {{0, {0.5f, 0, 0, 1}, {1, 3, 0, 0}}}}, 1);
  const Arrows arrows = arrows_of(tracks, 0.5, Vectors::acceleration, {}, 1, dark);
  EXPECT_EQ(arrows.value_per_length, 6);
  EXPECT_EQ(arrows.lines.back().to.place, glm::vec3(0.5f, 1, 0));
}

TEST(Arrows, LeaveOutWhatIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  const BodyTracks tracks = tracks_of({{nan, 0, 0}, {0, infinite, 0}, {0, 0, 3}});
  const Arrows arrows = arrows_of(tracks, 0, Vectors::velocity, {}, 1, dark);
  EXPECT_EQ(arrows.value_per_length, 3);
  EXPECT_EQ(arrows.lines.size(), 2u);
}

TEST(Arrows, OfThePickedBodyStandOut) {
  const BodyTracks tracks = tracks_of({{1, 0, 0}, {1, 0, 0}});
  const Arrows arrows = arrows_of(tracks, 0, Vectors::velocity, 1, 1, dark);
  EXPECT_GT(arrows.lines[2].to.width_px, arrows.lines[0].to.width_px);
  EXPECT_TRUE(arrows_of(tracks, 0, Vectors::none, 1, 1, dark).lines.empty());
}

}  // namespace
}  // namespace orrery
