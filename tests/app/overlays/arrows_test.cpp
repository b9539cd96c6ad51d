#include <gtest/gtest.h>

#include <limits>

#include "app/overlays/overlay_lines.h"
#include "app/ui_state/overlays_commands.h"

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

/// A camera for which the longest arrow is this long.
render::OrbitCamera camera_for(float longest) {
  render::OrbitCamera camera;
  camera.place({}, 0.3f, 0.2f, camera.distance() * 10 * longest / camera.world_per_height());
  return camera;
}

void expect_near(glm::vec3 place, glm::vec3 expected) {
  EXPECT_LT(glm::distance(place, expected), 1e-5f) << place.x << ' ' << place.y << ' ' << place.z;
}

/// The sum over all heads.
float opacity_of(const Arrows& arrows) {
  float sum = 0;
  for (const render::DrawnLine& line : arrows.lines) sum += line.to.width_px == 0 ? line.to.colour.a : 0;
  return sum;
}

TEST(Arrows, TheLongestIsAsLongAsAsked) {
  const BodyTracks tracks = tracks_of({{0, 2, 0}, {0, 0, -4}, {0, 0, 0}});
  const Arrows arrows = arrows_of(tracks, 0, Vectors::velocity, {}, camera_for(0.5f), dark);
  EXPECT_FLOAT_EQ(arrows.value_per_length, 8);
  ASSERT_EQ(arrows.lines.size(), 4u) << "a shaft and a head of each body that moves";
  EXPECT_EQ(arrows.lines[0].from.place, glm::vec3(0, 0, 0));
  expect_near(arrows.lines[1].to.place, {0, 0.25f, 0});
  EXPECT_EQ(arrows.lines[1].to.width_px, 0);
  expect_near(arrows.lines[3].to.place, {1, 0, -0.5f});
}

TEST(Arrows, StartWhereTheBodiesAreNow) {
  const Arrows arrows = arrows_of(tracks_of({{0, 2, 0}}), 0.5, Vectors::velocity, {}, camera_for(1), dark);
  EXPECT_EQ(arrows.lines[0].from.place, glm::vec3(0, 1, 0));
}

TEST(Arrows, OfAccelerationsNeedTwoReadings) {
  BodyTracks tracks = tracks_of({{1, 0, 0}});
  EXPECT_TRUE(arrows_of(tracks, 0, Vectors::acceleration, {}, camera_for(1), dark).lines.empty());
  EXPECT_EQ(arrows_of(tracks, 0, Vectors::acceleration, {}, camera_for(1), dark).value_per_length, 0);
  tracks.add({.time = 0.5, .bodies = {{0, {0.5f, 0, 0, 1}, {1, 3, 0, 0}}}}, 1);
  const Arrows arrows = arrows_of(tracks, 0.5, Vectors::acceleration, {}, camera_for(1), dark);
  EXPECT_FLOAT_EQ(arrows.value_per_length, 6);
  expect_near(arrows.lines.back().to.place, {0.5f, 1, 0});
}

TEST(Arrows, LeaveOutWhatIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  const BodyTracks tracks = tracks_of({{nan, 0, 0}, {0, infinite, 0}, {0, 0, 3}});
  const Arrows arrows = arrows_of(tracks, 0, Vectors::velocity, {}, camera_for(1), dark);
  EXPECT_FLOAT_EQ(arrows.value_per_length, 3);
  EXPECT_EQ(arrows.lines.size(), 2u);
}

TEST(Arrows, OfThePickedBodyStandOut) {
  const BodyTracks tracks = tracks_of({{1, 0, 0}, {1, 0, 0}});
  const Arrows arrows = arrows_of(tracks, 0, Vectors::velocity, 1, camera_for(1), dark);
  EXPECT_GT(arrows.lines[2].to.width_px, arrows.lines[0].to.width_px);
  EXPECT_TRUE(arrows_of(tracks, 0, Vectors::none, 1, camera_for(1), dark).lines.empty());
}

TEST(Arrows, LeaveACrowdVisible) {
  BodyTracks crowd, field;
  render::BodySample dense{.time = 0, .bodies = {}}, sparse{.time = 0, .bodies = {}};
  for (int i = 0; i < 400; ++i) {
    const auto x = static_cast<float>(i % 20 - 10), y = static_cast<float>(i / 20 - 10);
    dense.bodies.push_back({i, {0.001f * x, 0.001f * y, 0, 1}, {0, 1, 0, 0}});
    sparse.bodies.push_back({i, {3 * x, 3 * y, 0, 1}, {0, 1, 0, 0}});
  }
  crowd.add(dense, 1);
  field.add(sparse, 1);
  const render::OrbitCamera camera = camera_for(1);
  const float all = opacity_of(arrows_of(field, 0, Vectors::velocity, {}, camera, dark));
  EXPECT_GT(all, 0.7f * 400) << "each has its place";
  const Arrows some = arrows_of(crowd, 0, Vectors::velocity, {}, camera, dark);
  EXPECT_LT(opacity_of(some), 0.05f * all);
  EXPECT_GT(opacity_of(some), 1) << "some are drawn in full";
  const Arrows with_picked = arrows_of(crowd, 0, Vectors::velocity, 123, camera, dark);
  EXPECT_GT(opacity_of(with_picked), opacity_of(some) + 0.5f) << "the picked body keeps its arrow";
}

TEST(Arrows, CountACrowdAsTheCameraSeesIt) {
  const render::OrbitCamera camera = camera_for(1);
  const glm::vec3 to_camera = glm::normalize(camera.position()),
                  aside = glm::normalize(glm::cross(to_camera, {0, 0, 1}));
  const float far = std::numeric_limits<float>::infinity();
  const std::vector<Amount> amounts{
      {{}, 1}, {0.5f * to_camera, 2}, {3.0f * aside, 4}, {2.0f * camera.position(), 8}, {{far, 0, 0}, 16}};
  const std::vector<float> crowds = crowd_around(amounts, camera, 0.1f);
  EXPECT_NEAR(crowds[0], 3, 1e-3f) << "one is behind the other";
  EXPECT_NEAR(crowds[1], 3, 1e-3f);
  EXPECT_LE(crowds[2], 4);
  EXPECT_GT(crowds[2], 0.9f);
  EXPECT_EQ(crowds[3], 0) << "behind the camera";
  EXPECT_EQ(crowds[4], 0);
}

TEST(Arrows, FadeWhereACrowdGathers) {
  float before = -1;
  for (float spread = 3; spread > 0.02f; spread *= 0.97f) {
    render::BodySample sample{.time = 0, .bodies = {}};
    for (int i = 0; i < 100; ++i) {
      sample.bodies.push_back(
          {i, {spread * static_cast<float>(i % 10), spread * static_cast<float>(i / 10), 0, 1}, {0, 1, 0, 0}});
    }
    BodyTracks tracks;
    tracks.add(sample, 1);
    const float drawn = opacity_of(arrows_of(tracks, 0, Vectors::velocity, {}, camera_for(1), dark));
    EXPECT_NEAR(drawn, before >= 0 ? before : drawn, 8) << "none appears or disappears at once, at spread " << spread;
    before = drawn;
  }
}

}  // namespace
}  // namespace orrery
