#include "app/overlays/overlays.h"

#include "app/ui_state/overlays_commands.h"
#include "tests/app/support/test.h"

namespace orrery::test {
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

Axes axes_at(float radius, float zoom = 0, glm::vec3 centre = {0, 0, 0}) {
  render::OrbitCamera camera;
  camera.frame(centre, radius);
  camera.zoom(zoom);
  return axes_of(centre, radius, camera, 1280, 720, render::Theme::dark);
}

bool has_label(const Axes& axes, const std::string& text) {
  return std::ranges::count(axes.labels, text, &PictureLabel::text) > 0;
}

TEST(Axes, HaveNamesAndRoundLengths) {
  for (const float radius : {0.03f, 1.0f, 7.0f, 2e5f}) {
    const Axes axes = axes_at(radius);
    for (const char* name : {"x", "y", "z"}) EXPECT_TRUE(has_label(axes, name)) << radius;
    const double decade = std::pow(10, std::floor(std::log10(axes.tick * 1.0001)));
    const double factor = axes.tick / decade;
    EXPECT_TRUE(std::abs(factor - 1) < 1e-9 || std::abs(factor - 2) < 1e-9 || std::abs(factor - 5) < 1e-9) << factor;
    EXPECT_LT(axes.tick, radius);
    EXPECT_GT(axes.tick, 0.05 * radius);
    for (const PictureLabel& label : axes.labels) {
      EXPECT_GT(label.place[0], 0);
      EXPECT_LT(label.place[0], 1);
    }
  }
}

TEST(Axes, StandInTheMiddleOfTheSceneAndReachItsEdge) {
  const glm::vec3 centre{10, -20, 30};
  const Axes axes = axes_at(4, 0, centre);
  EXPECT_EQ(axes.lines.front().from.place, centre);
  float farthest = 0;
  for (const render::DrawnLine& line : axes.lines) farthest = std::max(farthest, glm::distance(line.to.place, centre));
  EXPECT_GT(farthest, 3);
  EXPECT_LT(farthest, 6);
}

TEST(Axes, HaveFinerTicksNearerAndNeverTooMany) {
  EXPECT_LT(axes_at(1, 20).tick, axes_at(1).tick);
  EXPECT_GT(axes_at(1, -20).tick, axes_at(1).tick);
  for (const float zoom : {-60.0f, 0.0f, 60.0f}) EXPECT_LT(axes_at(1, zoom).lines.size(), 50u);
}

TEST(Axes, SeenFromTheirEndHaveNoTicks) {
  render::OrbitCamera camera;
  camera.frame({0, 0, 0}, 1);
  const auto lines = [&](float azimuth) {
    camera.look_from(azimuth, 0);
    return axes_of({0, 0, 0}, 1, camera, 720, 720, render::Theme::dark).lines.size();
  };
  EXPECT_LT(lines(0), lines(0.7f));
}

/// Body `index` on a circle of radius 1 + index about z, one radian per unit of time.
render::BodyState circling(int index, double time) {
  const auto radius = static_cast<float>(1 + index), at = static_cast<float>(time);
  return {index,
          {radius * std::cos(at), radius * std::sin(at), 0, 1},
          {-radius * std::sin(at), radius * std::cos(at), 0, 0}};
}

render::BodySample sample(double time, const std::vector<int>& indices = {0, 5}) {
  render::BodySample all{.time = time, .bodies = {}};
  for (const int index : indices) all.bodies.push_back(circling(index, time));
  return all;
}

TEST(BodyTracks, PointsAreExactlyAnIntervalApartHoweverItIsRead) {
  constexpr double interval = 0.1;
  BodyTracks tracks;
  for (double time = 0; time < 2; time += time < 1 ? 0.037 : 0.31) tracks.add(sample(time), interval);
  EXPECT_NEAR(std::remainder(tracks.latest_point(), interval), 0, 1e-9);
  EXPECT_LE(tracks.latest_point(), tracks.time());
  EXPECT_GT(tracks.latest_point(), tracks.time() - interval);
  for (const auto& [index, track] : tracks.tracks()) {
    ASSERT_EQ(std::ssize(track.points), 1 + std::lround(tracks.latest_point() / interval));
    double time = 0;
    for (const glm::vec3& point : track.points) {
      EXPECT_LT(glm::distance(point, glm::vec3{circling(index, time).position}), 3e-3f * static_cast<float>(1 + index));
      time += interval;
    }
  }
}

TEST(BodyTracks, KeepTheLatestPointsAlone) {
  BodyTracks tracks;
  for (int step = 0; step <= 300; ++step) tracks.add(sample(step * 0.1), 0.1);
  const BodyTracks::Track& track = tracks.tracks().at(0);
  ASSERT_EQ(std::ssize(track.points), BodyTracks::most_points);
  EXPECT_LT(glm::distance(track.points.back(), glm::vec3{circling(0, tracks.latest_point()).position}), 1e-3f);
  tracks.add(sample(1e6), 0.1);
  EXPECT_EQ(std::ssize(tracks.tracks().at(0).points), BodyTracks::most_points) << "a long jump costs no more";
}

TEST(BodyTracks, TakeAnIntervalThatIsTooShortToChangeTheTime) {
  BodyTracks tracks;
  for (const double time : {1.0, 2.0, 3.0}) tracks.add(sample(time), 1e-30);
  EXPECT_LE(std::ssize(tracks.tracks().at(0).points), BodyTracks::most_points);
  EXPECT_LT(glm::distance(tracks.tracks().at(0).points.back(), glm::vec3{circling(0, 3).position}), 1e-4f);
}

TEST(BodyTracks, AccelerationIsTheMeanSinceTheReadingBefore) {
  BodyTracks tracks;
  tracks.add(sample(0), 1);
  EXPECT_FALSE(tracks.tracks().at(5).acceleration);
  tracks.add(sample(0.01), 1);
  const auto acceleration = tracks.tracks().at(5).acceleration;
  ASSERT_TRUE(acceleration);
  EXPECT_NEAR(acceleration->x, -6, 0.01);
  EXPECT_NEAR(acceleration->y, 0, 0.05);
  tracks.add(sample(0.01), 1);
  EXPECT_TRUE(tracks.tracks().at(5).acceleration) << "while paused it stays";
}

TEST(BodyTracks, BeginAnewWithEarlierBodiesAndAnotherInterval) {
  BodyTracks tracks;
  const auto run = [&] {
    for (int step = 1; step <= 10; ++step) tracks.add(sample(tracks.time() + 0.1), 0.1);
    EXPECT_GT(tracks.tracks().at(0).points.size(), 8u);
  };
  run();
  tracks.add(sample(0.2), 0.1);
  EXPECT_EQ(tracks.tracks().at(0).points.size(), 1u);
  EXPECT_FALSE(tracks.tracks().at(0).acceleration);
  run();
  tracks.add(sample(tracks.time() + 0.1), 0.05);
  EXPECT_EQ(tracks.tracks().at(0).points.size(), 1u);
  tracks.clear();
  EXPECT_TRUE(tracks.tracks().empty());
}

TEST(BodyTracks, ForgetBodiesThatAreNoLongerReadAndTakeUpOthers) {
  BodyTracks tracks;
  tracks.add(sample(0, {1, 2}), 0.125);
  tracks.add(sample(0.5, {1, 2}), 0.125);
  tracks.add(sample(0.5, {2, 3}), 0.125);
  EXPECT_FALSE(tracks.tracks().contains(1));
  EXPECT_EQ(tracks.tracks().at(2).points.size(), 5u);
  tracks.add(sample(0.75, {2, 3}), 0.125);
  EXPECT_EQ(tracks.tracks().at(3).points.size(), 2u);
}

TEST(SampleOfBodies, HasAtMost1024AndThePickedOne) {
  for (const int count : {1, 500, 1023, 1024, 16384, 10'000'000}) {
    for (const int picked : {0, count / 2, count - 1}) {
      const std::vector<int> sample = sample_of(count, true, picked);
      EXPECT_LE(sample.size(), 1024u);
      EXPECT_GE(std::ssize(sample), std::min(count, 500));
      EXPECT_EQ(std::set<int>(sample.begin(), sample.end()).size(), sample.size()) << "none twice";
      EXPECT_EQ(std::count(sample.begin(), sample.end(), picked), 1);
      EXPECT_LT(*std::max_element(sample.begin(), sample.end()), count);
    }
  }
  EXPECT_EQ(sample_of(5000, false, 17), std::vector<int>{17});
  EXPECT_TRUE(sample_of(5000, false, {}).empty());
  EXPECT_TRUE(sample_of(0, true, {}).empty());
}

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
}  // namespace orrery::test
