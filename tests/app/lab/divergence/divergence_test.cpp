#include "app/features/compare/divergence.h"

#include <random>

#include "app/features/compare/paired_run.h"
#include "compute/core/error.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
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
  expect_holds(growth_words(growth), {"identical"});
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
  expect_holds(growth_words(growth), {"e-folding time 2.5 "});
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
  expect_holds(growth_words(growth), {"does not grow exponentially"});
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
  expect_holds(growth_words(none), {"and has 0."});
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

// Two runs of the same bodies: their distances, their time steps, and what is measured of them.

RunVariant run_variant(const char* text) {
  return parse_run_variant(catalog(), "--a", text);
}

PairPlan plummer(int count, const char* a, const char* b, std::int64_t steps) {
  return {.scene = {.scene = "plummer", .count = count},
          .setup = {},
          .variants = {run_variant(a), run_variant(b)},
          .steps = steps};
}

void finish(PairedRun& run) {
  while (!run.ended()) {
    if (run.tick()) std::this_thread::sleep_for(std::chrono::microseconds{100});
  }
}

TEST(PairDistances, AreSummedUp) {
  const std::vector<Vec4> a{{0, 0, 0, 1}, {1, 0, 0, 1}, {0, 1, 0, 1}}, b{{0, 0, 3, 1}, {1, 0, 0, 1}, {0, 1, 1, 1}};
  const std::vector<float> each = distances_of(a, b);
  EXPECT_EQ(each, (std::vector<float>{3, 0, 1}));
  const Distances all = summary_of(each);
  EXPECT_DOUBLE_EQ(all.rms, std::sqrt(10.0 / 3));
  EXPECT_EQ(all.median, 1);
  EXPECT_EQ(all.greatest, 3);
  EXPECT_FALSE(all.non_finite);
  EXPECT_EQ(summary_of({}).rms, 0);
}

TEST(PairDistances, CountLowWords) {
  const Bodies a{
      .positions = {{1, 0, 0, 1}}, .velocities = {{}}, .positions_low = {{1e-12f, 0, 0, 0}}, .velocities_low = {{}}};
  Bodies b = a;
  EXPECT_EQ(distances_of(a, b), std::vector<float>{0});
  b.positions_low[0].x = 4e-12f;
  EXPECT_NEAR(distances_of(a, b)[0], 3e-12f, 1e-15f);
  b.positions[0].y = 2;
  EXPECT_EQ(distances_of(a, b)[0], 2);
}

TEST(PairDistances, NameTheFirstBodyThatIsNotFinite) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const Distances all = summary_of(std::vector<float>{0, 1, bad, bad});
    EXPECT_EQ(all.non_finite, 2);
    EXPECT_TRUE(std::isnan(all.median));
  }
  EXPECT_TRUE(std::isnan(median_radius(std::vector<Vec4>{{0, 0, 0, 1}, {NAN, 0, 0, 1}})));
}

TEST(PairDistances, OfTheSizeOfASystem) {
  EXPECT_EQ(median_radius({}), 0);
  EXPECT_DOUBLE_EQ(median_radius(std::vector<Vec4>{{1, 5, 0, 1}, {3, 5, 0, 1}, {2, 5, 0, 1}}), 1);
}

TEST(LockStep, NeedsTimeStepsThatMeet) {
  EXPECT_EQ(lock_step_of(0.01f, 0.01f).a, 1);
  EXPECT_EQ(lock_step_of(0.01f, 0.002f).b, 5);
  EXPECT_EQ(lock_step_of(0.01f, 0.002f).a, 1);
  EXPECT_EQ(lock_step_of(0.01f, 0.07f).a, 7);
  expect_usage_error({"0.01", "0.004", "whole multiple"}, [] { (void)lock_step_of(0.01f, 0.004f); });
  expect_usage_error({"up to 1000"}, [] { (void)lock_step_of(1, 1e-5f); });
}

TEST(RunVariant, IsAKernelWithWhatDiffers) {
  const RunVariant bare = run_variant("cpu-simd");
  EXPECT_STREQ(bare.variant.kernel->id, "cpu-simd");
  EXPECT_FALSE(bare.integrator_id || bare.time_step);
  EXPECT_EQ(bare.name(), "cpu-simd");
  for (const char* text :
       {"cpu-tree,theta=0.5,integrator=euler,dt=0.01", "cpu-tree theta=0.5  integrator=euler dt=0.01"}) {
    const RunVariant full = run_variant(text);
    EXPECT_EQ(full.variant.settings.text("theta"), "0.5");
    EXPECT_EQ(full.integrator_id, "euler");
    EXPECT_EQ(full.time_step, 0.01f);
    EXPECT_EQ(full.name(), "cpu-tree theta=0.5 euler dt=0.01");
  }
}

TEST(RunVariant, TakesAKernelAndAnIntegratorThatGoTogether) {
  Simulation simulation{backends(), {.scene = "plummer", .count = 10}};
  run_variant("cpu-jerk,integrator=hermite4").apply_to(simulation);
  run_variant("cpu-simd,integrator=leapfrog-blocks").apply_to(simulation);
  EXPECT_EQ(simulation.status().kernel_id, "cpu-simd");
  EXPECT_EQ(simulation.status().integrator_id, "leapfrog-blocks");
}

TEST(RunVariant, TakesAutoWhoseKernelIsChosenLater) {
  const RunVariant run = run_variant("auto,dt=0.01,nudge=1e-6");
  EXPECT_FALSE(run.variant.kernel);
  EXPECT_EQ(run.time_step, 0.01f);
  EXPECT_EQ(run.nudge, 1e-6);
}

TEST(RunVariant, RefusesWhatItDoesNotKnow) {
  const auto refused = [](const char* text, const auto&... said) {
    expect_usage_error({said...}, [&] { (void)run_variant(text); });
  };
  refused("", "--a needs a kernel");
  refused("cpu-fast", "unknown kernel 'cpu-fast'", "cpu-simd");
  refused("auto,rows=2", "rows cannot be set with --a auto", "cpu-simd");
  refused("cpu-simd,rows", "--a cannot be 'rows'", "NAME=VALUE");
  refused("cpu-simd,theta=0.7", "theta", "rows");
  refused("cpu-simd,integrator=rk4", "rk4", "leapfrog");
  refused("cpu-simd,dt=0", "--a dt cannot be '0'", "above 0");
  refused("cpu-simd,dt=nan", "--a dt");
  refused("cpu-simd,dt=0.1,dt=0.2", "sets dt twice");
}

TEST(PairedRun, OfTheSameVariantStaysTogether) {
  PairedRun run{backends(), plummer(200, "cpu-serial", "cpu-serial", 50)};
  finish(run);
  ASSERT_EQ(run.taken().size(), 51u);
  for (const DivergenceSample& sample : run.taken()) EXPECT_EQ(sample.distances.greatest, 0);
  EXPECT_EQ(run.growth().kind, Growth::Kind::identical);
  EXPECT_EQ(run.taken().back().steps, (std::array<std::int64_t, 2>{50, 50}));
  EXPECT_NEAR(run.taken().back().time, 50 * double{run.member(0).time_step}, 1e-7)
      << "times count steps of the dt as named, and the status has it rounded to float";
  EXPECT_GT(run.member(0).step_ms.median, 0);
  EXPECT_EQ(run.taken()[0].energy_error[0], 0);
  ASSERT_TRUE(run.taken().back().energy_error[0]);
  EXPECT_EQ(run.taken().back().energy_error[0], run.taken().back().energy_error[1]);
  EXPECT_EQ(run.done(), 1);
}

TEST(PairedRun, StartsWithANudge) {
  PairedRun run{backends(), plummer(200, "cpu-serial", "cpu-serial,nudge=1e-3", 5)};
  const Distances first = run.taken()[0].distances;
  EXPECT_NEAR(first.rms, 1e-3, 1e-6);
  EXPECT_NEAR(first.greatest, 1e-3, 1e-6);
  finish(run);
  EXPECT_GT(run.taken().back().distances.median, 5e-4);
  EXPECT_EQ(run.taken().size(), 6u);
  EXPECT_EQ(run.taken()[0].energy_error[1], 0) << "relative to its own first energy";
}

TEST(PairedRun, OfCompensatedDigitsShowsANudgeBelowFloats) {
  PairPlan plan = plummer(100, "cpu-fp64", "cpu-fp64,nudge=1e-11", 20);
  plan.setup = {SetDigits{Digits::compensated}};
  PairedRun run{backends(), plan};
  EXPECT_NEAR(run.taken()[0].distances.rms, 1e-11, 1e-14);
  finish(run);
  EXPECT_GT(run.taken().back().distances.median, 5e-12);
  EXPECT_LT(run.taken().back().distances.median, 1e-10);
  EXPECT_LT(run.growth().floor, 1e-13) << "the nudge counts as a distance";
}

TEST(PairedRun, OfAChaoticSystemGrowsFromRounding) {
  PairPlan plan = plummer(64, "cpu-serial", "cpu-simd", 6000);
  plan.setup = {SetSoftening{1e-3f}, SetTimeStep{2e-3f}};
  PairedRun run{backends(), plan};
  finish(run);
  EXPECT_LT(run.taken()[1].distances.median, 1e-4);
  EXPECT_GT(run.taken().back().distances.median, 1e3 * run.taken()[1].distances.median);
  const Growth growth = run.growth();
  ASSERT_EQ(growth.kind, Growth::Kind::exponential) << growth_words(growth);
  EXPECT_GT(growth.e_folding_time, 0.1);
  EXPECT_LT(growth.e_folding_time, 3);
}

TEST(PairedRun, KeepsEqualTimesWithOtherTimeSteps) {
  PairPlan plan = plummer(100, "cpu-serial", "cpu-serial,dt=0.0025", 20);
  plan.setup = {SetTimeStep{0.01f}};
  plan.every = 8;
  PairedRun run{backends(), plan};
  finish(run);
  ASSERT_EQ(run.taken().size(), 4u);
  EXPECT_EQ(run.taken()[1].steps, (std::array<std::int64_t, 2>{8, 32}));
  EXPECT_EQ(run.taken().back().steps, (std::array<std::int64_t, 2>{20, 80}));
  EXPECT_NEAR(run.taken().back().time, 0.2, 1e-6);
  EXPECT_EQ(run.status(1).step, 80);
  EXPECT_NEAR(run.status(0).sim_time, run.status(1).sim_time, 1e-6);
  EXPECT_GT(run.taken().back().distances.median, 0) << "a longer time step has another error";
}

TEST(PairedRun, SelectsFewSamplesForEnergies) {
  PairedRun run{backends(), plummer(50, "cpu-serial", "cpu-simd", 400)};
  finish(run);
  std::size_t measured = 0;
  for (std::size_t i = 0; i < run.taken().size(); ++i) {
    EXPECT_EQ(run.taken()[i].energy_error[1].has_value(), run.is_selected(i)) << i;
    measured += run.is_selected(i);
  }
  EXPECT_EQ(measured, 21u);
  EXPECT_TRUE(run.is_selected(run.taken().size() - 1)) << "the last";
  PairPlan without = plummer(50, "cpu-serial", "cpu-simd", 3);
  without.energy_bodies = 49;
  PairedRun plain{backends(), without};
  finish(plain);
  for (const DivergenceSample& sample : plain.taken()) EXPECT_FALSE(sample.energy_error[0]);
}

TEST(PairedRun, NamesTheRunThatFails) {
  PairPlan plan = plummer(50, "cpu-serial", "cpu-simd,dt=1e30", 5);
  plan.setup = {SetTimeStep{1e30f}};
  plan.variants[0].time_step = 1e30f;
  PairedRun run{backends(), plan};
  expect_runtime_error({"A (cpu-serial dt=1e+30): body", "not finite"}, [&] { finish(run); });
  PairPlan file = plummer(0, "cpu-serial", "cpu-serial", 5);
  file.scene = {.scene = {}, .file = "/nowhere.bin"};
  expect_runtime_error({"A (cpu-serial)", "/nowhere.bin"}, [&] { PairedRun{backends(), file}; });
}

}  // namespace
}  // namespace orrery::test
