// Races of kernels, integrators and time steps to the same time.
#include "app/features/race/race.h"

#include <cstdio>

#include "app/features/race/measure_race.h"
#include "compute/core/error.h"
#include "compute/integrators/integrator.h"
#include "compute/kernels/catalog.h"
#include "tests/app/support/initial_variant.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

RaceRun result(double seconds, double energy_error) {
  RaceRun run{planned(initial_variant("cpu-serial"), 0)};
  run.integrator_id = "leapfrog";
  run.seconds = seconds;
  run.energy_error = energy_error;
  return run;
}

std::vector<RaceRun> run(RacePlan plan) {
  Race race{backends(), std::move(plan)};
  double done = 0;
  while (!race.ended()) {
    (void)race.tick();
    EXPECT_GE(race.done(), done);
    done = race.done();
  }
  EXPECT_EQ(done, 1);
  return race.results();
}

TEST(Race, RunsEachCombinationToTheSameTime) {
  const std::vector<RaceRun> results = run({.scene = {.scene = "plummer", .count = 100},
                                            .variants = {initial_variant("cpu-serial")},
                                            .integrators = {"leapfrog", "yoshida4"},
                                            .time_steps = {0.02f, 0.03f, 5},
                                            .until = 0.1});
  ASSERT_EQ(results.size(), 6u);
  const std::int64_t steps[] = {5, 4, 1};
  for (std::size_t i = 0; i < results.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(results[i].steps, steps[i % 3]);
    EXPECT_NEAR(results[i].time_step * static_cast<double>(results[i].steps), 0.1, 1e-7);
    EXPECT_EQ(results[i].integrator_id, i < 3 ? "leapfrog" : "yoshida4");
    const std::int64_t all = results[i].steps * find_integrator(results[i].integrator_id).evaluations_per_step;
    EXPECT_GE(results[i].evaluations, all);
    EXPECT_LE(results[i].evaluations, all + 1) << "the first one";
    EXPECT_NEAR(results[i].interactions, 1e4 * static_cast<double>(results[i].evaluations), 1);
    EXPECT_GT(results[i].seconds, 0);
    EXPECT_GT(results[i].energy_error, 0);
    EXPECT_LT(results[i].energy_error, 0.1);
    EXPECT_EQ(results[i].problem.text, "");
  }
}

TEST(Race, ShowsTheOrderOfAnIntegrator) {
  const std::vector<RaceRun> results = run({.scene = {.scene = "two-body"},
                                            .setup = {SetSoftening{1e-3f}},
                                            .variants = {initial_variant("cpu-serial")},
                                            .integrators = {"leapfrog", "yoshida4"},
                                            .time_steps = {0.04f, 0.02f},
                                            .until = 4});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_NEAR(results[0].energy_error / results[1].energy_error, 4, 1.5) << "leapfrog";
  EXPECT_GT(results[2].energy_error / results[3].energy_error, 8) << "yoshida4, down to the rounding of float";
  EXPECT_LT(results[3].energy_error, results[1].energy_error);
}

TEST(Race, TakesMultiplesOfTheScenesTimeStepIfNoneIsGiven) {
  Race race{backends(),
            {.scene = {.scene = "plummer", .count = 10},
             .variants = {initial_variant("cpu-serial")},
             .integrators = {"euler"},
             .until = 1e-3}};
  const float usual = race.status().time_step;
  std::vector<float> steps;
  for (; !race.ended(); (void)race.tick()) {
    if (steps.size() > race.results().size()) continue;
    float step = 0;
    const std::string present = race.present();
    EXPECT_EQ(std::sscanf(present.c_str(), "cpu-serial, euler, dt %f", &step), 1) << present;
    steps.push_back(step);
  }
  ASSERT_EQ(steps.size(), std::size(usual_factors));
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_LE(steps[i], usual_factors[i] * usual * 1.001f);
}

TEST(Race, PairsIntegratorsWithKernelsThatSuitThem) {
  const KernelPtr with_jerks = find_kernel("cpu-jerk");
  const Variant jerk{with_jerks, Settings{*with_jerks}};
  const auto plan = [](std::vector<Variant> variants) {
    return RacePlan{.scene = {.scene = "plummer", .count = 50},
                    .variants = std::move(variants),
                    .integrators = {"leapfrog", "hermite4", "hermite4-blocks"},
                    .time_steps = {0.05f},
                    .until = 0.1};
  };
  const auto pairs_of = [](const std::vector<RaceRun>& results) {
    std::string pairs;
    for (const RaceRun& result : results) {
      EXPECT_EQ(result.problem.text, "");
      pairs += result.kernel_id + ' ' + result.integrator_id + '\n';
    }
    return pairs;
  };
  EXPECT_EQ(pairs_of(run(plan({jerk, initial_variant("cpu-serial")}))),
            "cpu-jerk hermite4\ncpu-jerk hermite4-blocks\ncpu-serial leapfrog\n");
  EXPECT_EQ(pairs_of(run(plan({jerk}))), "cpu-jerk leapfrog\ncpu-jerk hermite4\ncpu-jerk hermite4-blocks\n");
  EXPECT_THROW((Race{backends(), plan({initial_variant("cpu-serial")})}), UsageError);
}

TEST(Race, GoesOnAfterARunThatFails) {
  KernelCatalog catalog;
  KernelInfo broken = *catalog.find("cpu-serial");
  broken.id = "broken";
  broken.create = [](const Settings&, const cuda::Device*) -> std::unique_ptr<ForceKernel> {
    throw std::runtime_error("it broke");
  };
  const KernelPtr broken_kernel = catalog.put(broken), sound_kernel = catalog.find("cpu-serial");
  const Backends backends{catalog};
  Race race{backends,
            {.scene = {.scene = "plummer", .count = 10},
             .variants = {{broken_kernel, Settings{*broken_kernel}}, {sound_kernel, Settings{*sound_kernel}}},
             .integrators = {"leapfrog"},
             .time_steps = {0.1f},
             .until = 0.1}};
  while (!race.ended()) (void)race.tick();
  ASSERT_EQ(race.results().size(), 2u);
  expect_holds(race.results()[0].problem.text, {"it broke"});
  EXPECT_TRUE(std::isnan(race.results()[0].seconds));
  EXPECT_TRUE(std::isnan(race.results()[0].energy_error));
  EXPECT_EQ(race.results()[1].problem.text, "");
  EXPECT_GT(race.results()[1].seconds, 0);
}

TEST(Race, RefusesMoreStepsThanThereCanBe) {
  EXPECT_THROW((Race{backends(),
                     {.scene = {.scene = "two-body"},
                      .variants = {initial_variant("cpu-serial")},
                      .integrators = {"leapfrog"},
                      .time_steps = {1e-6f},
                      .until = 1e9}}),
               UsageError);
}

TEST(Race, FindsTheFrontAndTheCheapest) {
  const std::vector<RaceRun> results{result(1, 1e-3), result(2, 1e-4), result(3, 2e-4), result(0.5, nan),
                                     result(nan, 1e-9)};
  EXPECT_EQ(race_front(results), (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(cheapest_within(results, 1e-2), 0u);
  EXPECT_EQ(cheapest_within(results, 5e-4), 1u);
  EXPECT_EQ(cheapest_within(results, 1e-5), std::nullopt)
      << "what did not reach the end, or has no error, wins nothing";
}

}  // namespace
}  // namespace orrery::test
