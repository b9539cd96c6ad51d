#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "compute/diagnostics/wrong_digits.h"

namespace orrery {
namespace {

using Float = std::numeric_limits<float>;

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
