#include "app/lab/variant_runner.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

#include "app/lab/variants.h"
#include "compute/core/error.h"
#include "tests/app/support/initial_variant.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

SceneRequest bodies(int count) {
  return {.scene = "plummer", .count = count};
}

StepTiming polled(VariantRunner& runner, int steps) {
  runner.start(steps);
  std::optional<StepTiming> timing;
  while (!(timing = runner.collect())) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  return *timing;
}

TEST(VariantRunner, MakesItsSimulationOnceAndKeepsItForOtherVariants) {
  int prepared = 0;
  VariantRunner runner{test::backends(), bodies(50), [&](Simulation& simulation) {
                         ++prepared;
                         simulation.apply(SelectIntegrator{"euler"});
                       }};
  EXPECT_EQ(runner.simulation(), nullptr) << "nothing needed it";
  for (const char* id : {"cpu-serial", "cpu-simd"}) {
    runner.select(test::initial_variant(id));
    EXPECT_EQ(runner.simulation()->status().kernel_id, id);
  }
  EXPECT_EQ(runner.simulation()->status().integrator_id, "euler");
  EXPECT_EQ(prepared, 1);
}

TEST(VariantRunner, RunsABatchBlockingOrPolled) {
  VariantRunner runner{test::backends(), bodies(50), {}};
  runner.select(test::initial_variant("cpu-serial"));
  EXPECT_EQ(runner.run(3).steps, 3);
  EXPECT_EQ(polled(runner, 4).steps, 4);
  EXPECT_EQ(runner.simulation()->status().step, 7);
  runner.restart();
  EXPECT_EQ(runner.simulation()->status().step, 0);
  EXPECT_GT(runner.step_ms(test::initial_variant("cpu-simd"), 5), 0);
}

TEST(VariantRunner, ReportsARefusalAndGoesOn) {
  VariantRunner runner{test::backends(), {.scene = "two-body", .count = 3}, {}};
  for (int again = 0; again < 2; ++again) {
    const Problem problem = problem_of([&] { runner.select(test::initial_variant("cpu-serial")); });
    EXPECT_TRUE(problem.refused);
    EXPECT_NE(problem.text.find("two-body"), std::string::npos) << problem.text;
    EXPECT_EQ(runner.simulation(), nullptr);
  }
}

TEST(VariantRunner, MakesANewSimulationAfterAFailure) {
  int prepared = 0;
  VariantRunner runner{test::backends(), bodies(50), [&](Simulation&) {
                         if (++prepared == 1) throw std::runtime_error("no\ndevice");
                       }};
  const Problem problem = problem_of([&] { runner.select(test::initial_variant("cpu-serial")); });
  EXPECT_EQ(problem.text, "no device");
  EXPECT_FALSE(problem.refused);
  runner.select(test::initial_variant("cpu-serial"));
  EXPECT_EQ(runner.run(2).steps, 2);
  EXPECT_EQ(prepared, 2);
}

TEST(VariantRunner, ReportsABodyThatIsNotFiniteAndMeasuresTheNextVariant) {
  for (const bool blocking : {true, false}) {
    int prepared = 0;
    VariantRunner runner{test::backends(), bodies(50), [&](Simulation& simulation) {
                           if (++prepared > 1) return;
                           Bodies broken = simulation.bodies();
                           broken.positions[17].x = std::numeric_limits<float>::quiet_NaN();
                           simulation.set_bodies(broken);
                         }};
    runner.select(test::initial_variant("cpu-serial"));
    const Problem problem = problem_of([&] { blocking ? runner.run(2) : polled(runner, 2); });
    EXPECT_NE(problem.text.find("body 17"), std::string::npos) << problem.text;
    EXPECT_NE(problem.text.find("step 0"), std::string::npos) << problem.text;
    EXPECT_FALSE(problem.refused);
    runner.select(test::initial_variant("cpu-simd"));
    EXPECT_EQ(runner.run(2).steps, 2);
    EXPECT_EQ(prepared, 2);
  }
}

TEST(VariantRunner, EndsAtTheNextMeasurementAfterAStopRequest) {
  std::stop_source stop;
  VariantRunner runner{test::backends(), bodies(50), {}, stop.get_token()};
  runner.select(test::initial_variant("cpu-serial"));
  stop.request_stop();
  EXPECT_THROW(runner.run(1), Cancelled);
  EXPECT_THROW(runner.select(test::initial_variant("cpu-simd")), Cancelled);
  EXPECT_THROW(runner.step_ms(test::initial_variant("cpu-simd"), 1), Cancelled);
  VariantRunner late{test::backends(), bodies(50), {}, stop.get_token()};
  EXPECT_THROW(late.select(test::initial_variant("cpu-serial")), Cancelled);
  EXPECT_EQ(late.simulation(), nullptr) << "no bodies were loaded";
}

TEST(VariantRunner, AStopRequestCancelsALongStep) {
  const auto begin = std::chrono::steady_clock::now();
  std::stop_source stop;
  VariantRunner runner{test::backends(), bodies(400'000), {}, stop.get_token()};
  runner.select(test::initial_variant("cpu-serial"));
  const std::jthread asks{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    stop.request_stop();
  }};
  EXPECT_THROW(runner.run(1), Cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{20}) << "the step takes minutes";
}

TEST(VariantRunner, ReportsAStepThatWasCancelled) {
  VariantRunner runner{test::backends(), bodies(200'000), {}};
  runner.select(test::initial_variant("cpu-serial"));
  runner.start(1);
  (void)runner.simulation()->bodies();  // needs the state: cancels the step
  const Problem problem = problem_of([&] { (void)runner.collect(); });
  EXPECT_NE(problem.text.find("cancelled"), std::string::npos) << problem.text;
}

}  // namespace
}  // namespace orrery
