#include "app/lab/divergence/growth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "app/lab/divergence/divergence.h"

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
