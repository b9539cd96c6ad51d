#include "compute/diagnostics/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "compute/scenes/scene.h"

namespace orrery {
namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

/// The pair law in the widest type, written from its formula: F = m1 m2 / r^2 - H m1 m2 / r^4 with a softened r.
Vec3d naive_acceleration(std::span<const Vec4> bodies, std::size_t target, long double softening,
                         long double repulsion) {
  long double sum[3] = {0, 0, 0};
  for (const Vec4& body : bodies) {
    const long double d[3] = {static_cast<long double>(body.x) - bodies[target].x,
                              static_cast<long double>(body.y) - bodies[target].y,
                              static_cast<long double>(body.z) - bodies[target].z};
    const long double r_sq = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening * softening;
    const long double pull = body.w / r_sq - repulsion * body.w / (r_sq * r_sq);
    for (int k = 0; k < 3; ++k) sum[k] += pull * d[k] / std::sqrt(r_sq);
  }
  return {static_cast<double>(sum[0]), static_cast<double>(sum[1]), static_cast<double>(sum[2])};
}

class EveryLaw : public testing::TestWithParam<LawId> {};

TEST_P(EveryLaw, ReferenceMatchesANaiveSum) {
  const Law law{.id = GetParam(), .softening = 0.05f, .repulsion = 0.01f};
  const auto bodies = find_scene("plummer").generate(37, 5).bodies.positions;
  const std::vector<int> targets{0, 1, 17, 36};
  const auto accelerations = reference_accelerations(bodies, targets, law);
  ASSERT_EQ(accelerations.size(), targets.size());
  const long double repulsion = law.id == LawId::attract_repel ? static_cast<long double>(law.repulsion) : 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Vec3d expected = naive_acceleration(bodies, static_cast<std::size_t>(targets[i]), law.softening, repulsion);
    EXPECT_NEAR(accelerations[i].x, expected.x, 1e-13);
    EXPECT_NEAR(accelerations[i].y, expected.y, 1e-13);
    EXPECT_NEAR(accelerations[i].z, expected.z, 1e-13);
  }
}

TEST_P(EveryLaw, ABodyAloneFeelsNothing) {
  const std::vector<Vec4> bodies{{1, 2, 3, 4}};
  const auto accelerations =
      reference_accelerations(bodies, std::vector<int>{0}, Law{.id = GetParam(), .softening = Law::min_softening});
  EXPECT_EQ(accelerations.front(), Vec3d{});
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryLaw, testing::Values(LawId::gravity, LawId::attract_repel),
                         [](const auto& instance) {
                           return instance.param == LawId::gravity ? "gravity" : "attract_repel";
                         });

TEST(SampleTargets, AreDifferentAscendingAndTheSameOnEveryCall) {
  for (const auto& [count, size] : {std::pair{1000, 10}, {1000, 999}, {7, 3}, {2147483647, 5}}) {
    SCOPED_TRACE(count);
    const auto targets = sample_targets(count, size);
    ASSERT_EQ(targets.size(), static_cast<std::size_t>(size));
    EXPECT_GE(targets.front(), 0);
    EXPECT_LT(targets.back(), count);
    EXPECT_TRUE(std::ranges::adjacent_find(targets, std::greater_equal{}) == targets.end());
    EXPECT_EQ(targets, sample_targets(count, size));
  }
}

TEST(SampleTargets, AreAllBodiesWhereThereAreFewer) {
  std::vector<int> everyone(5);
  std::iota(everyone.begin(), everyone.end(), 0);
  EXPECT_EQ(sample_targets(5, 5), everyone);
  EXPECT_EQ(sample_targets(5, 100), everyone);
  EXPECT_TRUE(sample_targets(0, 3).empty());
}

TEST(SampleTargets, OfAllTurnsAreAllBodies) {
  for (const auto& [count, size] : {std::pair{100, 7}, {100, 100}, {1000, 64}, {5, 9}}) {
    std::set<int> seen;
    const int turns = (count + size - 1) / size;
    for (int turn = 3; turn < 3 + turns; ++turn) {
      const auto targets = sample_targets(count, size, turn);
      EXPECT_TRUE(std::ranges::is_sorted(targets));
      seen.insert(targets.begin(), targets.end());
    }
    EXPECT_EQ(std::ssize(seen), count) << size;
  }
}

TEST(ForceErrorTest, TakesNearestRanksOfRelativeErrors) {
  // Body k is wrong by (k + 1) / 1000 of its acceleration of 2.
  std::vector<Vec4> accelerations;
  std::vector<Vec3d> reference;
  std::vector<int> targets;
  for (int k = 0; k < 200; ++k) {
    accelerations.push_back({2.0f + 2.0f * static_cast<float>(k + 1) / 1000, 0, 0, 0});
    reference.push_back({2, 0, 0});
    targets.push_back(k);
  }
  const ForceError error = force_error(accelerations, targets, reference);
  EXPECT_NEAR(error.median, 0.100, 1e-6);
  EXPECT_NEAR(error.p99, 0.198, 1e-6);
  EXPECT_NEAR(error.max, 0.200, 1e-6);
  EXPECT_NEAR(error.rms, std::sqrt(200 * 201 * 401 / 6.0 / 200) / 1000, 1e-6);
}

TEST(ForceErrorTest, ComparesTheTargetsNotTheirPlaces) {
  const std::vector<Vec4> accelerations{{9, 9, 9, 0}, {1, 0, 0, 0}, {9, 9, 9, 0}, {0, 3, 0, 0}};
  const ForceError error = force_error(accelerations, std::vector{1, 3}, std::vector<Vec3d>{{1, 0, 0}, {0, 3, 0}});
  EXPECT_EQ(error.max, 0);
}

TEST(ForceErrorTest, NamesTheWorstBody) {
  const std::vector<Vec3d> reference{{1, 0, 0}, {1, 0, 0}, {10, 0, 0}};
  const std::vector targets{1, 2, 4};
  std::vector<Vec4> accelerations{{9, 9, 9, 0}, {1.1f, 0, 0, 0}, {1.2f, 0, 0, 0}, {9, 9, 9, 0}, {11, 0, 0, 0}};
  EXPECT_EQ(force_error(accelerations, targets, reference).worst, 2);
  accelerations[3].y = nan_value;
  EXPECT_EQ(force_error(accelerations, targets, reference).worst, 3) << "not finite, though outside the sample";
}

TEST(ForceErrorTest, OfTheTargetsAloneIsTheSame) {
  const std::vector<Vec4> accelerations{{9, 9, 9, 0}, {1.5f, 0, 0, 0}, {9, nan_value, 9, 0}, {0, 3, 0, 0}};
  const std::vector targets{1, 3};
  const std::vector<Vec3d> reference{{1, 0, 0}, {0, 3, 0}};
  const std::vector<Vec4> chosen = entries(accelerations, targets);
  EXPECT_EQ(chosen, (std::vector<Vec4>{{1.5f, 0, 0, 0}, {0, 3, 0, 0}}));
  const ForceError error = target_error(chosen, targets, reference);
  EXPECT_EQ(error.max, 0.5);
  EXPECT_EQ(error.worst, 1);
  EXPECT_TRUE(std::isnan(force_error(accelerations, targets, reference).max)) << "there, every body counts";
}

TEST(ForceErrorTest, CountsTheAccelerationItselfWhereTheReferenceIsZero) {
  const ForceError error = force_error(std::vector<Vec4>{{0, 3, 4, 0}}, std::vector{0}, std::vector<Vec3d>{{}});
  EXPECT_EQ(error.max, 5);
}

TEST(ForceErrorTest, FailsEveryComparisonWhereAnythingIsNotFinite) {
  const auto passes_any = [](const ForceError& e) {
    return e.rms <= 1e9 || e.median <= 1e9 || e.p99 <= 1e9 || e.max <= 1e9;
  };
  const std::vector<Vec3d> reference{{1, 0, 0}};
  const std::vector targets{0};
  EXPECT_TRUE(passes_any(force_error(std::vector<Vec4>{{1, 0, 0, 0}}, targets, reference)));
  for (const float bad : {nan_value, std::numeric_limits<float>::infinity()}) {
    EXPECT_FALSE(passes_any(force_error(std::vector<Vec4>{{1, bad, 0, 0}}, targets, reference)));
    EXPECT_FALSE(passes_any(force_error(std::vector<Vec4>{{1, 0, 0, 0}, {0, 0, bad, 0}}, targets, reference)))
        << "a body outside the sample";
    EXPECT_FALSE(passes_any(force_error(std::vector<Vec4>{{1, 0, 0, 0}}, targets, std::vector<Vec3d>{{bad, 0, 0}})));
  }
  EXPECT_FALSE(passes_any(force_error(std::vector<Vec4>{{1, 0, 0, 0}}, {}, {}))) << "nothing was compared";
}

}  // namespace
}  // namespace orrery
