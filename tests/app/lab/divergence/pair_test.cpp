// Two runs of the same bodies: their distances, their time steps, and what is measured of them.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "app/lab/divergence/paired_run.h"
#include "compute/core/error.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;

RunVariant run_variant(const char* text) {
  return parse_run_variant(test::catalog(), "--a", text);
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
  expect_failure(
      Failure::usage, [] { (void)lock_step_of(0.01f, 0.004f); }, "0.01", "0.004", "whole multiple");
  expect_failure(
      Failure::usage, [] { (void)lock_step_of(1, 1e-5f); }, "up to 1000");
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
  Simulation simulation{test::backends(), {.scene = "plummer", .count = 10}};
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
    expect_failure(
        Failure::usage, [&] { (void)run_variant(text); }, said...);
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
  PairedRun run{test::backends(), plummer(200, "cpu-serial", "cpu-serial", 50)};
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
  PairedRun run{test::backends(), plummer(200, "cpu-serial", "cpu-serial,nudge=1e-3", 5)};
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
  PairedRun run{test::backends(), plan};
  EXPECT_NEAR(run.taken()[0].distances.rms, 1e-11, 1e-14);
  finish(run);
  EXPECT_GT(run.taken().back().distances.median, 5e-12);
  EXPECT_LT(run.taken().back().distances.median, 1e-10);
  EXPECT_LT(run.growth().floor, 1e-13) << "the nudge counts as a distance";
}

TEST(PairedRun, OfAChaoticSystemGrowsFromRounding) {
  PairPlan plan = plummer(64, "cpu-serial", "cpu-simd", 6000);
  plan.setup = {SetSoftening{1e-3f}, SetTimeStep{2e-3f}};
  PairedRun run{test::backends(), plan};
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
  PairedRun run{test::backends(), plan};
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
  PairedRun run{test::backends(), plummer(50, "cpu-serial", "cpu-simd", 400)};
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
  PairedRun plain{test::backends(), without};
  finish(plain);
  for (const DivergenceSample& sample : plain.taken()) EXPECT_FALSE(sample.energy_error[0]);
}

TEST(PairedRun, NamesTheRunThatFails) {
  PairPlan plan = plummer(50, "cpu-serial", "cpu-simd,dt=1e30", 5);
  plan.setup = {SetTimeStep{1e30f}};
  plan.variants[0].time_step = 1e30f;
  PairedRun run{test::backends(), plan};
  expect_failure(
      Failure::runtime, [&] { finish(run); }, "A (cpu-serial dt=1e+30): body", "not finite");
  PairPlan file = plummer(0, "cpu-serial", "cpu-serial", 5);
  file.scene = {.scene = {}, .file = "/nowhere.bin"};
  expect_failure(
      Failure::runtime,
      [&] {
        PairedRun{test::backends(), file};
      },
      "A (cpu-serial)", "/nowhere.bin");
}

}  // namespace
}  // namespace orrery
