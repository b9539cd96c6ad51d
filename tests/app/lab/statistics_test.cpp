#include "app/lab/statistics.h"

#include <new>
#include <numeric>

#include "app/lab/sampling.h"
#include "app/lab/variants.h"
#include "app/text/console.h"
#include "app/text/table.h"
#include "compute/core/error.h"
#include "compute/sim/kernel_chooser.h"
#include "tests/app/support/initial_variant.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

std::vector<double> up_to(int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.rbegin(), values.rend(), 1.0);
  return values;
}

TEST(SampleSummary, FindsMedianAndMinimum) {
  EXPECT_EQ(summarize({3, 1, 2}).median, 2);
  EXPECT_EQ(summarize({4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(summarize({3, 1, 2}).min, 1);
  EXPECT_TRUE(std::isnan(summarize({}).median));
}

// The ranks that tables of the sign test give for 95%.
TEST(SampleSummary, EnclosesTheMedianByOrderStatistics) {
  struct Known {
    int count, low, high;
  };
  for (const auto& [count, low, high] :
       {Known{6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {10, 2, 9}, {20, 6, 15}, {30, 10, 21}, {100, 40, 61}}) {
    const Summary summary = summarize(up_to(count));
    EXPECT_EQ(summary.low, low) << count;
    EXPECT_EQ(summary.high, high) << count;
  }
  EXPECT_TRUE(std::isnan(summarize(up_to(5)).low)) << "five values enclose the median with 93.75% only";
  EXPECT_TRUE(std::isnan(summarize(up_to(1)).high));
}

TEST(Numbers, AreWrittenForPeople) {
  EXPECT_EQ(with_prefix(1.834e12), "1.83 T");
  EXPECT_EQ(with_prefix(999.6), "1 k");
  EXPECT_EQ(with_prefix(12), "12");
  EXPECT_EQ(with_prefix(std::nan("")), "-");
  EXPECT_EQ(significant(0.12345678), "0.1235");
  EXPECT_EQ(significant(INFINITY), "-");
  EXPECT_EQ(significant(6.12e-8, 2), "6.1e-8");
  EXPECT_EQ(significant(6.12e-12, 2), "6.1e-12");
  EXPECT_EQ(scientific(6.1e-8, 3), "6.10e-8");
  EXPECT_EQ(scientific(-1e-100, 2), "-1.0e-100");
  EXPECT_EQ(scientific(INFINITY, 2), "-");
  EXPECT_EQ(short_exponent("6.12e-08"), "6.12e-8");
  EXPECT_EQ(short_exponent("nan"), "nan") << "worth seeing";
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(185), "3 min 5 s");
  EXPECT_EQ(duration_text(7800), "2 h 10 min");
}

TEST(Statistics, TheMedianIsTheMiddleOne) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

using Limits = std::numeric_limits<double>;
using Indices = std::vector<std::size_t>;

TEST(ParetoFront, OfNothingIsNothing) {
  EXPECT_TRUE(pareto_front({}).empty());
}

TEST(ParetoFront, KeepsWhatNothingBeatsFromTheLeastErrorOn) {
  const SpeedError points[] = {{1e-3, 9}, {1e-7, 2}, {1e-5, 5}, {1e-5, 4}, {1e-4, 5}, {1e-2, 8}};
  EXPECT_EQ(pareto_front(points), (Indices{1, 2, 0}));
}

TEST(ParetoFront, AnErrorThatIsNoNumberIsNeverOnIt) {
  const SpeedError points[] = {{Limits::quiet_NaN(), 100},
                               {1e-7, 1},
                               {1e-7, Limits::quiet_NaN()},
                               {Limits::infinity(), 50},
                               {1e-6, Limits::infinity()}};
  EXPECT_EQ(pareto_front(points), Indices{1});
  EXPECT_TRUE(pareto_front(std::span{points}.first(1)).empty());
}

TEST(ParetoFront, EqualPointsStayTogetherAndZeroIsAnError) {
  const SpeedError points[] = {{1e-7, 3}, {0, 1}, {1e-7, 3}, {1e-7, 2}};
  EXPECT_EQ(pareto_front(points), (Indices{1, 0, 2}));
}

TEST(Forecast, GrowsWithThePairsAtTheRateOfTheKernelOrItsPeers) {
  Forecast forecast;
  const KernelInfo &simd = *find_kernel("cpu-simd"), &serial = *find_kernel("cpu-serial");
  forecast.learn(simd, 1000, 0.5);
  EXPECT_DOUBLE_EQ(forecast.seconds(simd, 1000), 0.5);
  EXPECT_DOUBLE_EQ(forecast.seconds(simd, 4000), 8);
  EXPECT_DOUBLE_EQ(forecast.seconds(serial, 1000), 0.5) << "the only one known of the CPU";
  forecast.learn(serial, 1000, 2);
  EXPECT_DOUBLE_EQ(forecast.seconds(serial, 2000), 8);
}

TEST(Forecast, LearnsNothingFromFewPairs) {
  Forecast forecast;
  const KernelInfo& simd = *find_kernel("cpu-simd");
  const double guess = forecast.seconds(simd, 100'000);
  forecast.learn(simd, 1, 1e-3);  // a launch, not a pair
  EXPECT_EQ(forecast.seconds(simd, 100'000), guess);
}

TEST(Forecast, CountsTheReferenceToo) {
  Forecast forecast;
  forecast.learn_reference(1000, 1);
  EXPECT_DOUBLE_EQ(forecast.reference_seconds(2000), 4);
  EXPECT_DOUBLE_EQ(forecast.reference_seconds(100'000), 409.6) << "all pairs of a sample of 4096";

  Forecast every_body{1'000'000};
  every_body.learn_reference(1000, 1);
  EXPECT_DOUBLE_EQ(every_body.reference_seconds(100'000), 10'000);
}

TEST(Problems, AreNoneIfTheActionSucceeds) {
  bool called = false;
  EXPECT_FALSE(problem_of([&] { called = true; }));
  EXPECT_TRUE(called);
}

TEST(Problems, TellARefusalFromAFailure) {
  const Problem refusal = problem_of([] { throw UsageError("no room for\nits rows"); });
  EXPECT_EQ(refusal.text, "no room for its rows") << "one line";
  EXPECT_TRUE(refusal.refused);
  const Problem failure = problem_of([] { throw std::runtime_error("it\nbroke"); });
  EXPECT_EQ(failure.text, "it broke");
  EXPECT_FALSE(failure.refused);
  const Problem memory = problem_of([] { throw std::bad_alloc(); });
  EXPECT_EQ(memory.text, "not enough memory");
  EXPECT_FALSE(memory.refused);
}

TEST(Problems, AreNotWhatCancelsAMeasurement) {
  EXPECT_THROW(problem_of([] { throw Cancelled{}; }), Cancelled);
}

// How many steps each batch of a variant has, with times of the test's own.

TEST(Sampling, MakesABatchLastLongEnough) {
  const auto steps = [](double step_ms) { return steps_for(20, step_ms, 100'000); };
  EXPECT_EQ(steps(100), 1);
  EXPECT_EQ(steps(20), 1);
  EXPECT_EQ(steps(0.15), 134);
  EXPECT_EQ(steps(0), 100'000);
  EXPECT_EQ(steps(std::numeric_limits<double>::quiet_NaN()), 1);
}

/// The steps of all batches until the sampler is complete, at this time per step.
std::vector<int> batches(Sampler& sampler, double step_ms) {
  std::vector<int> steps;
  while (!sampler.complete() && steps.size() < 1000) {
    steps.push_back(sampler.next_steps());
    sampler.add(steps.back(), step_ms);
  }
  return steps;
}

TEST(Sampling, WarmsUpWithAFirstStepAndThenNoMoreStepsThanAskedFor) {
  Sampler fast{{.warmup_steps = 3, .samples = 2}};
  EXPECT_EQ(batches(fast, 1), (std::vector<int>{1, 2, 20, 20}));
  EXPECT_EQ(fast.samples_ms().size(), 2u);
  EXPECT_EQ(fast.steps_per_sample(), 20);
  Sampler slow{{.warmup_steps = 3, .samples = 2}};
  EXPECT_EQ(batches(slow, 30), (std::vector<int>{1, 1, 1, 1, 1}));
  Sampler longer{{.warmup_steps = 50, .samples = 1}};
  EXPECT_EQ(batches(longer, 1), (std::vector<int>{1, 20, 20, 9, 20}));
}

TEST(Sampling, BatchesHaveWholePeriods) {
  Sampler even{{.warmup_steps = 3, .samples = 2, .period = 4}};
  EXPECT_EQ(batches(even, 7), (std::vector<int>{1, 4, 4, 4})) << "3 steps would last 20 ms";
  Sampler uneven{{.warmup_steps = 3, .equal_samples = false, .samples = 2, .period = 8}};
  EXPECT_EQ(batches(uneven, 2), (std::vector<int>{1, 8, 16, 16}));
}

TEST(Sampling, TakesNoTimeFromTheFirstStep) {
  Sampler sampler{{.warmup_steps = 2, .samples = 1}};
  sampler.add(1, 15);  // it also takes memory
  sampler.add(1, 2);
  EXPECT_FALSE(sampler.warming_up());
  EXPECT_EQ(sampler.pilot_step_ms(), 2);
  EXPECT_EQ(sampler.steps_per_sample(), 10);
}

TEST(Sampling, FreshSamplesHaveNoWarmUp) {
  Sampler sampler{{.warmup_steps = 0, .samples = 3, .fresh_steps = 4}};
  EXPECT_FALSE(sampler.warming_up());
  EXPECT_EQ(batches(sampler, 1), (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(sampler.steps_per_sample(), 4);
}

constexpr Sampling with_pilots{.warmup_steps = 1,
                               .pilots = 2,
                               .pilot_ms = 0.5,
                               .slow_ms = 100,
                               .sample_ms = 5,
                               .most_steps = 200,
                               .equal_samples = false,
                               .samples = 2};

TEST(Sampling, CountsPilotsThatWereAsLongAsPlanned) {
  Sampler short_steps{with_pilots};
  EXPECT_EQ(batches(short_steps, 0.1), (std::vector<int>{1, 5, 5, 50, 50}));
  EXPECT_EQ(short_steps.pilots(), 2);
  Sampler long_steps{with_pilots};
  EXPECT_EQ(batches(long_steps, 2), (std::vector<int>{1, 1, 3, 3})) << "the first step is a pilot";
  Sampler shortest{with_pilots};
  EXPECT_EQ(batches(shortest, 1e-6), (std::vector<int>{1, 200, 200, 200, 200}));
}

TEST(Sampling, NeedsNoWarmUpOfAStepThatIsKnownToBeSlow) {
  Sampler known{with_pilots, 250};
  EXPECT_FALSE(known.warming_up());
  EXPECT_EQ(known.fastest_step_ms(), 250);
  EXPECT_EQ(batches(known, 240), (std::vector<int>{1, 1}));
  EXPECT_EQ(known.fastest_step_ms(), 240);
  Sampler one_step{with_pilots};
  EXPECT_EQ(batches(one_step, 120), (std::vector<int>{1, 1, 1})) << "the second pilot would say the same";
}

TEST(Sampling, UnequalSamplesFollowTheFastestTime) {
  Sampler sampler{with_pilots};
  sampler.add(1, 3);  // disturbed
  sampler.add(1, 1);
  EXPECT_EQ(sampler.next_steps(), 5);
  sampler.add(5, 0.5);
  EXPECT_EQ(sampler.next_steps(), 10);
  EXPECT_EQ(sampler.fastest_step_ms(), 0.5);
}

TEST(Sampling, APilotOfTheLengthOfASampleIsAsGoodAsOne) {
  Sampler as_long{with_pilots};
  as_long.add(1, 6);
  as_long.add(1, 6);
  as_long.add(1, 7);
  EXPECT_EQ(as_long.fastest_step_ms(), 6);
  Sampler shorter{with_pilots};
  shorter.add(1, 1);
  shorter.add(1, 1);
  shorter.add(5, 2);
  EXPECT_EQ(shorter.fastest_step_ms(), 2);
}

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
  VariantRunner runner{backends(), bodies(50), [&](Simulation& simulation) {
                         ++prepared;
                         simulation.apply(SelectIntegrator{"euler"});
                       }};
  EXPECT_EQ(runner.simulation(), nullptr) << "nothing needed it";
  for (const char* id : {"cpu-serial", "cpu-simd"}) {
    runner.select(initial_variant(id));
    EXPECT_EQ(runner.simulation()->status().kernel_id, id);
  }
  EXPECT_EQ(runner.simulation()->status().integrator_id, "euler");
  EXPECT_EQ(prepared, 1);
}

TEST(VariantRunner, RunsABatchBlockingOrPolled) {
  VariantRunner runner{backends(), bodies(50), {}};
  runner.select(initial_variant("cpu-serial"));
  EXPECT_EQ(runner.run(3).steps, 3);
  EXPECT_EQ(polled(runner, 4).steps, 4);
  EXPECT_EQ(runner.simulation()->status().step, 7);
  runner.restart();
  EXPECT_EQ(runner.simulation()->status().step, 0);
  EXPECT_GT(runner.step_ms(initial_variant("cpu-simd"), 5), 0);
}

TEST(VariantRunner, ReportsARefusalAndGoesOn) {
  VariantRunner runner{backends(), {.scene = "two-body", .count = 3}, {}};
  for (int again = 0; again < 2; ++again) {
    const Problem problem = problem_of([&] { runner.select(initial_variant("cpu-serial")); });
    EXPECT_TRUE(problem.refused);
    expect_holds(problem.text, {"two-body"});
    EXPECT_EQ(runner.simulation(), nullptr);
  }
}

TEST(VariantRunner, MakesANewSimulationAfterAFailure) {
  int prepared = 0;
  VariantRunner runner{backends(), bodies(50), [&](Simulation&) {
                         if (++prepared == 1) throw std::runtime_error("no\ndevice");
                       }};
  const Problem problem = problem_of([&] { runner.select(initial_variant("cpu-serial")); });
  EXPECT_EQ(problem.text, "no device");
  EXPECT_FALSE(problem.refused);
  runner.select(initial_variant("cpu-serial"));
  EXPECT_EQ(runner.run(2).steps, 2);
  EXPECT_EQ(prepared, 2);
}

TEST(VariantRunner, ReportsABodyThatIsNotFiniteAndMeasuresTheNextVariant) {
  for (const bool blocking : {true, false}) {
    int prepared = 0;
    VariantRunner runner{backends(), bodies(50), [&](Simulation& simulation) {
                           if (++prepared > 1) return;
                           Bodies broken = simulation.bodies();
                           broken.positions[17].x = std::numeric_limits<float>::quiet_NaN();
                           simulation.set_bodies(broken);
                         }};
    runner.select(initial_variant("cpu-serial"));
    const Problem problem = problem_of([&] { blocking ? runner.run(2) : polled(runner, 2); });
    expect_holds(problem.text, {"body 17", "step 0"});
    EXPECT_FALSE(problem.refused);
    runner.select(initial_variant("cpu-simd"));
    EXPECT_EQ(runner.run(2).steps, 2);
    EXPECT_EQ(prepared, 2);
  }
}

TEST(VariantRunner, EndsAtTheNextMeasurementAfterAStopRequest) {
  std::stop_source stop;
  VariantRunner runner{backends(), bodies(50), {}, stop.get_token()};
  runner.select(initial_variant("cpu-serial"));
  stop.request_stop();
  EXPECT_THROW(runner.run(1), Cancelled);
  EXPECT_THROW(runner.select(initial_variant("cpu-simd")), Cancelled);
  EXPECT_THROW(runner.step_ms(initial_variant("cpu-simd"), 1), Cancelled);
  VariantRunner late{backends(), bodies(50), {}, stop.get_token()};
  EXPECT_THROW(late.select(initial_variant("cpu-serial")), Cancelled);
  EXPECT_EQ(late.simulation(), nullptr) << "no bodies were loaded";
}

TEST(VariantRunner, AStopRequestCancelsALongStep) {
  const auto begin = std::chrono::steady_clock::now();
  std::stop_source stop;
  VariantRunner runner{backends(), bodies(400'000), {}, stop.get_token()};
  runner.select(initial_variant("cpu-serial"));
  const std::jthread asks{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    stop.request_stop();
  }};
  EXPECT_THROW(runner.run(1), Cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{20}) << "the step takes minutes";
}

TEST(VariantRunner, ReportsAStepThatWasCancelled) {
  VariantRunner runner{backends(), bodies(200'000), {}};
  runner.select(initial_variant("cpu-serial"));
  runner.start(1);
  (void)runner.simulation()->bodies();  // needs the state: cancels the step
  const Problem problem = problem_of([&] { (void)runner.collect(); });
  expect_holds(problem.text, {"cancelled"});
}

}  // namespace
}  // namespace orrery::test
