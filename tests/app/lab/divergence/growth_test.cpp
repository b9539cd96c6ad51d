#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "app/features/compare/divergence.h"

namespace orrery {
namespace {

using Kind = Growth::Kind;

std::vector<GrowthPoint> points_of(int count, double step, double (*distance)(double time)) {
  std::vector<GrowthPoint> points;
  for (int i = 0; i < count; ++i) points.push_back({i * step, distance(i * step)});
  return points;
}

double saturating(double time) {
  return std::min(1e-7 * std::exp(time / 2.5), 0.8);
}

TEST(Growth, OfRunsThatStayTogetherIsNone) {
  std::vector<DivergenceSample> samples(50);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].time = 0.1 * static_cast<double>(i);
  const Growth growth = growth_of(samples, 1);
  EXPECT_EQ(growth.kind, Kind::identical);
  EXPECT_NE(growth_words(growth).find("identical"), std::string::npos) << growth_words(growth);
  samples.back().distances = {.rms = 1e-9, .median = 0, .greatest = 1e-8};
  EXPECT_EQ(growth_of(samples, 1).kind, Kind::too_few) << "one body is apart";
  EXPECT_EQ(growth_of({}, 1).kind, Kind::too_few);
}

TEST(Growth, FindsTheRateOfAnExponential) {
  const auto points = points_of(200, 0.25, saturating);
  const Growth growth = fit_growth(points, 1);
  ASSERT_EQ(growth.kind, Kind::exponential);
  EXPECT_NEAR(growth.e_folding_time, 2.5, 1e-9);
  EXPECT_NEAR(growth.at_zero, 1e-7, 1e-15);
  EXPECT_GT(growth.begin, 2.5) << "below the floor, a distance is a few units in the last place";
  EXPECT_LT(growth.end, 2.5 * std::log(1e6)) << "a tenth of the size is the end of the phase";
  EXPECT_NE(growth_words(growth).find("e-folding time 2.5 "), std::string::npos) << growth_words(growth);
}

TEST(Growth, FindsTheRateInNoise) {
  std::mt19937 random{7};
  std::normal_distribution<double> noise{0, 0.1};
  auto points = points_of(200, 0.25, saturating);
  for (GrowthPoint& p : points) p.distance *= std::exp(noise(random));
  const Growth growth = fit_growth(points, 1);
  ASSERT_EQ(growth.kind, Kind::exponential);
  EXPECT_NEAR(growth.e_folding_time, 2.5, 0.1);
}

TEST(Growth, LeavesOutABeginningThatIsNotExponential) {
  const auto points =
      points_of(400, 0.05, [](double time) { return 2e-6 * time * time + 1e-6 * std::expm1(time / 1.2); });
  const Growth growth = fit_growth(points, 1);
  ASSERT_EQ(growth.kind, Kind::exponential);
  EXPECT_NEAR(growth.e_folding_time, 1.2, 0.25);
}

TEST(Growth, LeavesOutAFlatBeginning) {
  const auto points = points_of(200, 0.03, [](double time) { return 1e-6 * (1 + 0.05 * std::exp(time / 0.4)); });
  const Growth growth = fit_growth(points, 1);
  ASSERT_EQ(growth.kind, Kind::exponential);
  EXPECT_NEAR(growth.e_folding_time, 0.4, 0.02);
  EXPECT_GT(growth.begin, 1);
}

TEST(Growth, CallsAPowerLawWhatItIs) {
  const auto points = points_of(200, 0.25, [](double time) { return 1e-5 * time * time; });
  const Growth growth = fit_growth(points, 1);
  ASSERT_EQ(growth.kind, Kind::power);
  EXPECT_NEAR(growth.exponent, 2, 1e-6);
  EXPECT_NE(growth_words(growth).find("does not grow exponentially"), std::string::npos) << growth_words(growth);
}

TEST(Growth, OfDistancesThatJumpAboutIsIrregular) {
  std::mt19937 random{3};
  std::normal_distribution<double> noise{0, 2};
  auto points = points_of(100, 0.1, [](double) { return 1e-3; });
  for (GrowthPoint& p : points) p.distance = std::clamp(p.distance * std::exp(noise(random)), 1e-6, 0.09);
  points[1].distance = 1e-5;
  points.back().distance = 0.05;
  EXPECT_EQ(fit_growth(points, 1).kind, Kind::irregular);
}

/// A growth by `decades`, with normal deviations of the logarithm that persist over some samples, as encounters cause.
std::vector<GrowthPoint> uneven_growth(double decades, double deviation, unsigned seed) {
  std::mt19937 random{seed};
  std::normal_distribution<double> noise{0, deviation};
  std::vector<GrowthPoint> points;
  double off = 0;
  for (int i = 1; i <= 200; ++i) {
    if (i % 8 == 1) off = noise(random);
    points.push_back({0.1 * i, 1e-12 * std::pow(10, decades * i / 200.0) * std::exp(off)});
  }
  return points;
}

TEST(Growth, IsExponentialOverManyDecadesHoweverUneven) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const auto points = uneven_growth(7.9, 0.52, seed);  // a factor of 7.4e7 with R^2 of about 0.99
    const Growth growth = fit_growth(points, 1, Digits::compensated);
    ASSERT_EQ(growth.kind, Kind::exponential) << "seed " << seed << ": " << growth_words(growth);
    EXPECT_NEAR(growth.e_folding_time, 20 / (7.9 * std::log(10)), 0.15);
  }
}

TEST(Growth, LeavesOutASaturationBelowTheCeiling) {
  for (const double plateau : {0.02, 0.05, 0.09, 0.3}) {
    std::vector<GrowthPoint> points;
    for (int i = 1; i <= 200; ++i) {
      const double free = 1e-6 * std::exp(0.25 * i / 1.5);
      points.push_back({0.25 * i, free / (1 + free / plateau)});
    }
    const Growth growth = fit_growth(points, 1);
    ASSERT_EQ(growth.kind, Kind::exponential) << plateau << ": " << growth_words(growth);
    EXPECT_NEAR(growth.e_folding_time, 1.5, 0.15) << plateau;
  }
}

TEST(Growth, OfPowersOfTheTimeIsNeverExponentialEvenWithNoise) {
  for (const double power : {1.0, 1.5, 2.0, 4.0}) {
    for (unsigned seed = 1; seed <= 10; ++seed) {
      std::mt19937 random{seed};
      std::normal_distribution<double> noise{0, 0.05};
      std::vector<GrowthPoint> points;
      for (int i = 1; i <= 200; ++i) {
        const double time = 0.1 * i;
        points.push_back({time, 0.05 * std::pow(time / 20, power) * std::exp(noise(random))});
      }
      const Growth growth = fit_growth(points, 1);
      ASSERT_EQ(growth.kind, Kind::power) << power << ", seed " << seed << ": " << growth_words(growth);
      EXPECT_NEAR(growth.exponent, power, 0.1);
    }
  }
}

TEST(Growth, OfRoundingAloneIsTooLittle) {
  std::mt19937 random{5};
  std::uniform_real_distribution<double> rounding{1e-7, 9e-7};
  std::vector<GrowthPoint> points;
  for (int i = 1; i <= 200; ++i) points.push_back({0.1 * i, rounding(random)});
  EXPECT_EQ(fit_growth(points, 1).kind, Kind::too_few) << "around the floor of 4.8e-7";
  for (GrowthPoint& p : points) p.distance = 1e-4;
  EXPECT_EQ(fit_growth(points, 1).kind, Kind::too_few) << "constant";
}

TEST(Growth, NeedsEnoughSamplesAndGrowth) {
  const Growth none = fit_growth({}, 1);
  EXPECT_EQ(none.kind, Kind::too_few);
  EXPECT_NE(growth_words(none).find("and has 0."), std::string::npos) << growth_words(none);
  const auto few = points_of(7, 1, [](double time) { return 1e-5 * std::exp(time); });
  EXPECT_EQ(fit_growth(few, 1).kind, Kind::too_few);
  const auto flat = points_of(100, 0.1, [](double time) { return 1e-5 * (1 + 0.1 * time); });
  const Growth little = fit_growth(flat, 1);
  EXPECT_EQ(little.kind, Kind::too_few);
  EXPECT_EQ(growth_words(little),
            "The runs hardly part: an e-folding time is known once the median distance has grown 7.4 times. "
            "Until now: 2 times (t = 0.1 to 9.9, 99 samples).");
  const auto jump = points_of(100, 0.1, [](double time) { return time > 0 ? 0.9 : 0; });
  EXPECT_EQ(fit_growth(jump, 1).kind, Kind::too_few) << "apart at once";
}

TEST(Growth, LeavesOutWhatIsNotFinite) {
  auto points = points_of(200, 0.25, saturating);
  points[40].distance = std::numeric_limits<double>::quiet_NaN();
  const Growth growth = fit_growth(points, 1);
  ASSERT_EQ(growth.kind, Kind::exponential);
  EXPECT_NEAR(growth.e_folding_time, 2.5, 1e-9);
  EXPECT_NE(fit_growth(points, std::numeric_limits<double>::quiet_NaN()).kind, Kind::exponential);
}

}  // namespace
}  // namespace orrery
