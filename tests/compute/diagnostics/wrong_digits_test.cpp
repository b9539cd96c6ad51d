#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "compute/diagnostics/reference.h"

namespace orrery {
namespace {

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
