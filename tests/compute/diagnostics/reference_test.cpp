#include "compute/diagnostics/reference.h"

#include "compute/scenes/scene.h"
#include "tests/test.h"

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

using Float = std::numeric_limits<float>;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(FirstWrongDecimal, IsThatOfTheDifferencesSize) {
  EXPECT_EQ(first_wrong_decimal(0), WrongDigits::none);
  EXPECT_EQ(first_wrong_decimal(0.99e-7), WrongDigits::none);
  EXPECT_EQ(first_wrong_decimal(1e-7), 7);
  EXPECT_EQ(first_wrong_decimal(0.0099), 3);
  EXPECT_EQ(first_wrong_decimal(0.01), 2);
  EXPECT_EQ(first_wrong_decimal(-0.02), 2);
  EXPECT_EQ(first_wrong_decimal(0.1), 1);
  EXPECT_EQ(first_wrong_decimal(0.999), 1);
  EXPECT_EQ(first_wrong_decimal(1), 0);
}

TEST(FirstWrongDecimal, IsTheIntegerPartForWhatIsNotFinite) {
  EXPECT_EQ(first_wrong_decimal(not_a_number), 0);
  EXPECT_EQ(first_wrong_decimal(-std::numeric_limits<double>::infinity()), 0);
}

TEST(WrongDigits, CountEveryCoordinateOfEveryBody) {
  const std::vector<Vec4> reference{{1, 2, 3, 5}, {4, 5, 6, 5}};
  const std::vector<Vec4> positions{{1, 2.25f, 3, 7}, {2.5f, 5, 6.0001f, 7}};
  const WrongDigits digits = wrong_digits(positions, reference);
  EXPECT_EQ(digits.counts[0], 1);
  EXPECT_EQ(digits.counts[1], 1);
  EXPECT_EQ(digits.counts[4] + digits.counts[5], 1) << "6.0001 is no float: the difference is just beside 1e-4";
  EXPECT_EQ(digits.counts[WrongDigits::none], 3) << "masses do not count";
  EXPECT_EQ(digits.largest, 1.5);
  EXPECT_EQ(digits.not_finite, 0);
}

TEST(WrongDigits, AreAcceptedFromTheThirdDecimalOn) {
  const std::vector<Vec4> reference{{0, 0, 0, 0}};
  EXPECT_TRUE(wrong_digits(reference, reference).accepted());
  EXPECT_TRUE(wrong_digits(std::vector<Vec4>{{0.009f, 0, 0, 0}}, reference).accepted());
  EXPECT_FALSE(wrong_digits(std::vector<Vec4>{{0, 0.011f, 0, 0}}, reference).accepted());
  EXPECT_FALSE(wrong_digits(std::vector<Vec4>{{0, 0, -0.5f, 0}}, reference).accepted());
  EXPECT_FALSE(wrong_digits(std::vector<Vec4>{{0, 0, 0, 0}}, std::vector<Vec4>{{2, 0, 0, 0}}).accepted());
}

TEST(WrongDigits, AcceptNoNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Vec4> good{{1, 1, 1, 1}}, bad{{1, nan, 1, 1}};
  for (const auto& [positions, reference] : {std::pair{bad, good}, {good, bad}, {bad, bad}}) {
    const WrongDigits digits = wrong_digits(positions, reference);
    EXPECT_EQ(digits.counts[0], 1);
    EXPECT_EQ(digits.not_finite, 1);
    EXPECT_TRUE(std::isnan(digits.largest));
    EXPECT_FALSE(digits.accepted());
  }
}

TEST(UlpDistance, CountsTheFloatsBetween) {
  EXPECT_EQ(ulp_distance(1, 1), 0);
  EXPECT_EQ(ulp_distance(1, std::nextafter(1.0f, 2.0f)), 1);
  EXPECT_EQ(ulp_distance(1, std::nextafter(1.0f, 0.0f)), 1) << "across a power of two, where their spacing changes";
  EXPECT_EQ(ulp_distance(1, 2), 1 << 23);
  EXPECT_EQ(ulp_distance(-1, -2), 1 << 23);
}

TEST(UlpDistance, LeadsThroughOneZero) {
  EXPECT_EQ(ulp_distance(0.0f, -0.0f), 0);
  EXPECT_EQ(ulp_distance(0.0f, Float::denorm_min()), 1);
  EXPECT_EQ(ulp_distance(-0.0f, Float::denorm_min()), 1);
  EXPECT_EQ(ulp_distance(-Float::denorm_min(), Float::denorm_min()), 2);
  EXPECT_EQ(ulp_distance(-1, 1), 2 * std::int64_t{0x3f800000});
  EXPECT_EQ(ulp_distance(Float::lowest(), Float::max()), 2 * std::int64_t{0x7f7fffff}) << "more than 32 bits hold";
}

TEST(UlpHistogram, HasClassesThatMeetAndReachEveryDistance) {
  EXPECT_EQ(UlpHistogram::least(0), 0);
  EXPECT_EQ(UlpHistogram::most(0), 0);
  for (int index = 1; index < UlpHistogram::classes; ++index) {
    SCOPED_TRACE(index);
    EXPECT_LE(UlpHistogram::least(index), UlpHistogram::most(index));
    EXPECT_EQ(UlpHistogram::class_of(UlpHistogram::least(index)), index);
    EXPECT_EQ(UlpHistogram::class_of(UlpHistogram::most(index)), index);
    EXPECT_EQ(UlpHistogram::least(index), UlpHistogram::most(index - 1) + 1);
  }
  EXPECT_EQ(UlpHistogram::class_of(0), 0);
  EXPECT_EQ(UlpHistogram::most(2), 2);
  EXPECT_EQ(UlpHistogram::least(4), 5);
  EXPECT_EQ(UlpHistogram::most(4), 8);
  EXPECT_GE(UlpHistogram::most(UlpHistogram::classes - 1), ulp_distance(Float::lowest(), Float::max()));
}

std::int64_t components(const UlpHistogram& histogram) {
  return std::accumulate(histogram.counts.begin(), histogram.counts.end(), histogram.not_finite);
}

TEST(UlpHistogram, RoundsTheReferenceAndCountsEachComponentOfTheTargets) {
  const std::vector<Vec4> accelerations{{9, 9, 9, 9}, {1, std::nextafter(1.0f, 2.0f), -0.0f, 0}};
  const std::vector<Vec3d> reference{{1 + 1e-9, 1, 0}};
  const UlpHistogram histogram = ulp_histogram(accelerations, std::vector{1}, reference);
  EXPECT_EQ(histogram.counts[0], 2);
  EXPECT_EQ(histogram.counts[1], 1);
  EXPECT_EQ(components(histogram), 3) << "neither the other body nor the fourth component";
}

TEST(UlpHistogram, PutsWhatIsNotFiniteApart) {
  const std::vector<Vec4> accelerations{{Float::quiet_NaN(), Float::infinity(), -Float::infinity(), 0}, {1, 1, 1, 0}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Vec3d> reference{{1, 1, 1}, {nan, 1e39, 1}};
  const UlpHistogram histogram = ulp_histogram(accelerations, std::vector{0, 1}, reference);
  EXPECT_EQ(histogram.not_finite, 5);
  EXPECT_EQ(histogram.counts[0], 1);
  EXPECT_EQ(components(histogram), 6);
}

}  // namespace
}  // namespace orrery
