#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "app/overlays/overlay_lines.h"

namespace orrery {
namespace {

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

}  // namespace
}  // namespace orrery
