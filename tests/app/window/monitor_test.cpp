#include "app/window/monitor.h"

#include "app/ui_state/status.h"
#include "app/window/colouring.h"
#include "app/window/step_statistics.h"
#include "compute/core/error.h"
#include "compute/kernels/catalog.h"
#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

/// A simulation that runs, on a clock that stands still.
struct MonitorTest : testing::Test {
  MonitorTest() { status_.count = 16384; }

  /// Asks at `frames` frames, `period_s` apart.
  std::vector<Command> asked(int frames, double period_s) {
    std::vector<Command> all;
    for (int i = 0; i < frames; ++i) {
      for (const Command& command : monitor_.due(now_s_, status_, wanted_)) all.push_back(command);
      now_s_ += period_s;
    }
    return all;
  }
  template <class Kind>
  static int count(const std::vector<Command>& commands) {
    return static_cast<int>(
        std::ranges::count_if(commands, [](const Command& c) { return std::holds_alternative<Kind>(c); }));
  }
  /// The sample of the next probe.
  int next_sample() {
    for (;;) {
      for (const Command& command : asked(1, 1 / 64.0)) {
        if (const auto* probe = std::get_if<ProbeForces>(&command)) return probe->sample;
      }
    }
  }
  void probed(int sample, double ms) { status_.force_probe = ForceProbe{.step = 1, .sample = sample, .ms = ms}; }
  ViewStatus described() {
    ViewStatus view;
    view.diagnostics = wanted_;
    monitor_.describe(view, status_, now_s_);
    return view;
  }
  void summed(std::int64_t step) {
    status_.step = step;
    status_.conserved = ConservedProbe{.step = step, .sim_time = 0.1 * static_cast<double>(step), .sums = {}, .ms = 1};
  }

  Monitor monitor_{false};
  Status status_;
  Diagnostics wanted_;
  double now_s_ = 100;
};

TEST_F(MonitorTest, ProbesEveryBodyInTurnAlsoWhilePaused) {
  wanted_.every_body = true;
  wanted_.probe = false;
  status_.paused = true;
  std::set<int> turns;
  const auto commands = asked(64, 1 / 64.0);
  for (const Command& command : commands) turns.insert(std::get<ProbeForces>(command).turn);
  EXPECT_EQ(turns.size(), commands.size());
  EXPECT_GE(turns.size(), 8u);
  probed(256, 50);
  EXPECT_LE(asked(64, 1 / 64.0).size(), 3u) << "in a tenth of the time";
  wanted_.every_body = false;
  EXPECT_TRUE(asked(64, 1 / 64.0).empty());
}

TEST_F(MonitorTest, ProbesTwiceASecondAndKeepsAStateEveryFiveSeconds) {
  const auto commands = asked(640, 1 / 64.0);
  EXPECT_EQ(count<ProbeForces>(commands), 20);
  EXPECT_EQ(count<KeepCheckpoint>(commands), 2);
  EXPECT_EQ(count<MeasureConserved>(commands), 0) << "nobody asked for it";
}

TEST_F(MonitorTest, LeavesAPausedOneAndAStepOnTheProcessorAlone) {
  status_.paused = true;
  EXPECT_TRUE(asked(100, 0.1).empty());
  status_.paused = false;
  status_.busy = true;
  EXPECT_TRUE(asked(100, 0.1).empty());
  status_.backend = Backend::cuda;
  EXPECT_FALSE(asked(1, 0.1).empty());
  status_.non_finite = NonFinite{};
  EXPECT_TRUE(asked(100, 0.1).empty());
}

TEST_F(MonitorTest, ComparesThePickedBodySoonAndOnceWhilePaused) {
  probed(256, 100);  // 2 % of 5 s
  next_sample();
  wanted_.body = 77;
  auto commands = asked(64, 1 / 64.0);
  ASSERT_EQ(count<ProbeForces>(commands), 2) << "until its error is known";
  EXPECT_EQ(std::get<ProbeForces>(commands.front()).body, 77);
  status_.paused = true;
  EXPECT_EQ(count<ProbeForces>(asked(64, 1 / 64.0)), 2);
  status_.force_probe->bodies = std::make_shared<const BodyErrors>(BodyErrors{{3, 77}, {1e-6, 2e-6}});
  status_.step = status_.force_probe->step;
  EXPECT_TRUE(asked(640, 1 / 64.0).empty()) << "it is known, and the bodies do not move";
  ++status_.step;
  EXPECT_FALSE(asked(64, 1 / 64.0).empty()) << "the shown bodies are those of a later step";
  status_.paused = false;
  EXPECT_EQ(count<ProbeForces>(asked(640, 1 / 64.0)), 2) << "as often as the sample";
  wanted_.body = status_.count;
  status_.paused = true;
  EXPECT_TRUE(asked(64, 1 / 64.0).empty()) << "there is no such body";
  wanted_.body = 78;
  wanted_.probe = false;
  EXPECT_TRUE(asked(64, 1 / 64.0).empty()) << "the user wants no comparisons";
}

TEST_F(MonitorTest, DoesNotProbeWhenTold) {
  wanted_.probe = false;
  EXPECT_EQ(count<ProbeForces>(asked(640, 1 / 64.0)), 0);
  EXPECT_EQ(described().probe_interval_s, 0);
}

TEST_F(MonitorTest, TakesTheLargestSampleThatCostsLittle) {
  EXPECT_EQ(next_sample(), 256) << "nothing is known yet";
  probed(256, 0.5);  // 4096 would take 8 ms, of 10
  EXPECT_EQ(next_sample(), 4096);
  probed(4096, 20);  // 1024 take 5 ms
  EXPECT_EQ(next_sample(), 1024);
  probed(1024, 400);
  EXPECT_EQ(next_sample(), 256);
  wanted_.sample = 4096;
  EXPECT_EQ(next_sample(), 4096) << "as asked for, whatever it costs";
}

TEST_F(MonitorTest, ProbesLessOftenWhereEvenTheSmallestSampleCostsTooMuch) {
  probed(256, 100);  // 2 % of 5 s
  next_sample();
  EXPECT_EQ(count<ProbeForces>(asked(1920, 1 / 64.0)), 6) << "in 30 s";
  EXPECT_DOUBLE_EQ(described().probe_interval_s, 5);
  status_.force_probe->preparation_ms = 20;
  EXPECT_DOUBLE_EQ(described().probe_interval_s, 6);
  status_.force_probe.reset();  // another kernel
  EXPECT_EQ(count<ProbeForces>(asked(64, 1 / 64.0)), 2) << "its error is wanted soon";
  status_.count = 1024;
  EXPECT_EQ(next_sample(), 256);
  EXPECT_DOUBLE_EQ(described().probe_interval_s, 0.5) << "the cost was of another number of bodies";
}

TEST_F(MonitorTest, SumsUpAtTheIntervalOrAsOftenAsATenthOfTheTimeAllows) {
  wanted_.conserved_interval_s = 2;
  summed(1);
  EXPECT_EQ(count<MeasureConserved>(asked(640, 1 / 64.0)), 5);
  status_.conserved->ms = 400;
  asked(1, 4);
  EXPECT_DOUBLE_EQ(described().conserved_interval_s, 4);
  EXPECT_EQ(count<MeasureConserved>(asked(512, 1 / 64.0)), 2);
}

TEST_F(MonitorTest, LooksAtASingleStep) {
  status_.paused = true;
  auto commands = monitor_.with_step(status_, wanted_);
  EXPECT_EQ(count<ProbeForces>(commands), 1);
  EXPECT_EQ(count<MeasureConserved>(commands), 0);
  wanted_.conserved_interval_s = 2;
  EXPECT_EQ(count<MeasureConserved>(monitor_.with_step(status_, wanted_)), 1);
  status_.backend = Backend::cuda;
  status_.count = 1 << 20;
  wanted_.probe = false;
  EXPECT_TRUE(monitor_.with_step(status_, wanted_).empty()) << "too long to be measured unasked";
}

TEST_F(MonitorTest, LeavesSumsThatWouldTakeTheGpuTooLongUntilTheyAreAskedFor) {
  const auto withheld = [&] { return described().conserved_withheld_s; };
  const auto sums = [&] { return count<MeasureConserved>(asked(64, 1 / 8.0)); };
  status_.backend = Backend::cuda;
  status_.count = 1 << 20;
  EXPECT_FALSE(withheld()) << "nobody wants them";
  wanted_.conserved_interval_s = 2;
  wanted_.probe = false;
  EXPECT_GT(withheld().value(), Monitor::longest_sum_s) << "nothing is known of this GPU";
  EXPECT_EQ(described().conserved_interval_s, 0);
  EXPECT_EQ(sums(), 0);
  probed(256, 0.256 * 2);  // 2 us for a million pairs
  EXPECT_NEAR(withheld().value(), 0.001 * (1 << 20) * 1e-3, 1e-3);
  probed(256, 0.256 * 0.2);
  EXPECT_FALSE(withheld());
  EXPECT_GT(sums(), 0);
  probed(256, 0.256 * 2);
  summed(1);
  status_.conserved->ms = 100;
  EXPECT_FALSE(withheld()) << "what they took counts";
  status_.conserved->ms = 300;
  EXPECT_DOUBLE_EQ(withheld().value(), 0.3);
  status_.conserved.reset();
  status_.force_probe.reset();
  status_.count = 1 << 21;
  EXPECT_DOUBLE_EQ(withheld().value(), 1.2) << "four times the pairs";
  status_.backend = Backend::cpu;
  EXPECT_FALSE(withheld()) << "the window does not wait for it";
}

TEST_F(MonitorTest, DecidesByTheClockAloneWhereRunsAreToBeRepeatable) {
  Monitor monitor{true};
  probed(256, 1e4);
  int probes = 0;
  for (int frame = 0; frame < 300; ++frame) {
    for (const Command& command : monitor.due(frame / 60.0, status_, wanted_)) {
      const auto* probe = std::get_if<ProbeForces>(&command);
      if (!probe) continue;
      ++probes;
      EXPECT_EQ(probe->sample, 256);
    }
  }
  EXPECT_EQ(probes, 10) << "each 30 frames";
}

TEST_F(MonitorTest, KeepsAHistoryFromTheFirstSumsOn) {
  for (int step = 0; step < 2000; ++step) {
    summed(step);
    described();
    ASSERT_LE(described().conserved_history.size(), Monitor::history_length);
  }
  const auto history = described().conserved_history;
  EXPECT_GT(history.size(), Monitor::history_length / 4);
  EXPECT_EQ(history.front().step, 0);
  EXPECT_EQ(history.back().step, 1999);
  EXPECT_TRUE(std::ranges::is_sorted(history, {}, &ConservedProbe::step));
}

TEST_F(MonitorTest, TellsTheTimeThatReallyPassedBetweenSums) {
  summed(1);
  EXPECT_FALSE(described().conserved_gap_s) << "there is none before";
  now_s_ += 0.25;
  EXPECT_FALSE(described().conserved_gap_s) << "still the first";
  summed(2);
  EXPECT_DOUBLE_EQ(described().conserved_gap_s.value(), 0.25);
  now_s_ += 1;
  EXPECT_DOUBLE_EQ(described().conserved_gap_s.value(), 0.25) << "until the next";
  status_.conserved.reset();
  EXPECT_FALSE(described().conserved_gap_s);
  probed(256, 1);
  described();
  now_s_ += 0.5;
  probed(256, 2);
  EXPECT_DOUBLE_EQ(described().probe_gap_s.value(), 0.5);
}

TEST_F(MonitorTest, ForgetsWhatIsOfAnotherSceneLawOrFuture) {
  const auto steps = [&] { return described().conserved_history.size(); };
  for (const int step : {0, 10, 20}) {
    summed(step);
    steps();
  }
  EXPECT_EQ(steps(), 3u);
  status_.step = 15;  // restored
  EXPECT_EQ(steps(), 2u);
  status_.law.softening *= 2;
  EXPECT_EQ(steps(), 0u) << "another potential";
  summed(30);
  EXPECT_EQ(steps(), 1u);
  status_.scene.seed = 7;
  status_.conserved.reset();
  EXPECT_EQ(steps(), 0u);
}

// When `auto` chooses again because the forces have become less accurate.

struct AccuracyWatchTest : testing::Test {
  AccuracyWatchTest() {
    status.accuracy = 1e-4;
    status.auto_choice = AutoChoice{.name = "auto: cpu-tree", .how = ""};
  }

  /// Whether it asks for a choice at any frame until the next probe, which has this median error.
  bool probed(double median, int sample = 1024) {
    status.force_probe = ForceProbe{.step = ++step, .sample = sample, .error = {median, median, median, median}};
    bool asked = false;
    for (int frame = 0; frame < 10; ++frame, now_s += 0.05) asked |= watch.tune_again(now_s, status);
    return asked;
  }
  /// The times in seconds at which it asks while all probes have this error.
  std::vector<double> choices(double median, double duration_s) {
    std::vector<double> times;
    for (const double end_s = now_s + duration_s; now_s < end_s;) {
      if (probed(median)) times.push_back(now_s);
    }
    return times;
  }

  AccuracyWatch watch;
  Status status;
  std::int64_t step = 0;
  double now_s = 100;
};

TEST_F(AccuracyWatchTest, AsksAfterTwoProbesAboveTheAccuracy) {
  EXPECT_FALSE(probed(0.9e-4));
  EXPECT_FALSE(probed(2e-4));
  EXPECT_TRUE(probed(2e-4));
}

TEST_F(AccuracyWatchTest, OneProbeOrASmallExcessIsNotEnough) {
  for (int time = 0; time < 50; ++time) {
    EXPECT_FALSE(probed(2e-4));
    EXPECT_FALSE(probed(1e-4));
  }
  EXPECT_TRUE(choices(1.05e-4, 60).empty()) << "within the scatter of 1,024 bodies";
  EXPECT_FALSE(choices(1.1e-4, 60).empty());
  EXPECT_FALSE(probed(1.2e-4, 64));
  EXPECT_FALSE(probed(1.2e-4, 64)) << "within the scatter of 64 bodies";
}

TEST_F(AccuracyWatchTest, AsksForATailAboveFiveTimesTheAccuracyAsWell) {
  const auto asks = [&](double p99) {
    bool asked = false;
    for (int probe = 0; probe < 4; ++probe, now_s += 1000) {
      status.force_probe = ForceProbe{.step = ++step, .sample = 1024, .error = {1e-4, 0.5e-4, p99, 1}};
      asked |= watch.tune_again(now_s, status);
    }
    return asked;
  };
  EXPECT_FALSE(asks(4.9e-4));
  EXPECT_FALSE(asks(7e-4)) << "within the scatter of ten bodies";
  EXPECT_TRUE(asks(9e-4));
}

TEST_F(AccuracyWatchTest, PausesLongerWhereAChoiceDoesNotHelp) {
  const std::vector<double> times = choices(2e-4, 200);
  ASSERT_EQ(times.size(), 4u);
  for (std::size_t i = 1; i < times.size(); ++i) {
    EXPECT_NEAR(times[i] - times[i - 1], 20 * std::exp2(i - 1), 1) << i;
  }
  choices(2e-4, 10'000);
  EXPECT_EQ(choices(2e-4, 6400).size(), 10u) << "the longest pause";
}

TEST_F(AccuracyWatchTest, AChoiceThatHelpsEndsTheLongPauses) {
  choices(2e-4, 100);
  EXPECT_FALSE(probed(0.9e-4));
  now_s += AccuracyWatch::shortest_pause_s;
  EXPECT_FALSE(probed(2e-4));
  EXPECT_TRUE(probed(2e-4));
}

TEST_F(AccuracyWatchTest, IsSilentWhereAutoPromisesNothing) {
  status.accuracy = 0;
  EXPECT_TRUE(choices(1, 60).empty()) << "exact";
  status.accuracy = 1e-4;
  status.auto_choice.reset();
  EXPECT_TRUE(choices(1, 60).empty()) << "the user chose the kernel";
  status.auto_choice = AutoChoice{};
  status.choosing = true;
  EXPECT_TRUE(choices(1, 60).empty()) << "it is choosing";
  status.choosing = false;
  EXPECT_TRUE(choices(std::numeric_limits<double>::quiet_NaN(), 60).empty()) << "the run stops";
  status.force_probe.reset();
  EXPECT_FALSE(watch.tune_again(now_s, status));
}

TEST_F(AccuracyWatchTest, ProbesOfAnotherKernelDoNotCount) {
  EXPECT_FALSE(probed(2e-4));
  status.force_probe.reset();  // the kernel was changed
  watch.tune_again(now_s, status);
  EXPECT_FALSE(probed(2e-4));
  EXPECT_TRUE(probed(2e-4));
}

TEST(AutoRange, LeavesOutOutliersAndWhatIsNotFinite) {
  std::vector<float> values{1e9f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
  for (int i = 0; i < 100; ++i) values.push_back(static_cast<float>(i));
  const render::ValueRange range = range_of(values);
  EXPECT_NEAR(range.low, 2, 1);
  EXPECT_NEAR(range.high, 98, 1);
}

TEST(AutoRange, IsNeverEmpty) {
  for (const std::vector<float>& values : {std::vector<float>{}, {0.0f, 0.0f}, {3.0f}}) {
    const render::ValueRange range = range_of(values);
    EXPECT_LT(range.low, range.high);
  }
}

TEST(AutoRange, GrowsAtOnceAndShrinksSlowly) {
  AutoRange range;
  range.restart({1, 2});
  EXPECT_TRUE(range.renew({0.5f, 8}));
  EXPECT_EQ(range.shown().low, 0.5f);
  EXPECT_EQ(range.shown().high, 8);
  EXPECT_FALSE(range.renew({1, 2}));
  range.follow(0.5);
  EXPECT_GT(range.shown().high, 7) << "bodies keep their colours";
  for (int i = 0; i < 60; ++i) range.follow(1);
  EXPECT_NEAR(range.shown().high, 2, 0.1f);
}

TEST(AutoRange, FollowsAlikeAtAnyFrameRate) {
  AutoRange coarse, fine;
  for (AutoRange* range : {&coarse, &fine}) {
    range->restart({0, 100});
    range->renew({0, 1});
  }
  coarse.follow(1);
  for (int i = 0; i < 100; ++i) fine.follow(0.01);
  EXPECT_NEAR(coarse.shown().high, fine.shown().high, 1e-2f);
}

const Trial slow{.kernel_id = "cpu-serial", .integrator_id = "leapfrog", .count = 1000};
const Trial fast{.kernel_id = "cpu-simd", .settings = "threads=2", .integrator_id = "leapfrog", .count = 1000};

StepTiming timing(double step_ms) {
  return {.steps = 1, .evaluations = 1, .step_ms = step_ms};
}

/// A direct sum once per step.
void add(StepStatistics& statistics, const Trial& trial, const StepTiming& timing) {
  statistics.add(trial, {.evaluations = 1, .interactions = double(trial.count) * trial.count}, timing);
}

ViewStatus described(const StepStatistics& statistics, const Trial& present = slow) {
  ViewStatus view;
  statistics.describe(view, present);
  return view;
}

TEST(StepStatistics, MedianLooksBackOneWindowAndStartsAnewWithEachTrial) {
  StepStatistics statistics;
  for (int i = 0; i < 200; ++i) add(statistics, slow, timing(i < 80 ? 100 : 10));
  ViewStatus view = described(statistics);
  EXPECT_EQ(view.step_ms_median, 10) << "the slow ones at the beginning are out of the window";
  EXPECT_EQ(view.measured, 120);
  EXPECT_EQ(view.step_ms_history.size(), 200u);
  view = described(statistics, fast);
  EXPECT_EQ(view.measured, 0) << "a rate of the new trial by times of the old one would be false";
  EXPECT_EQ(view.step_ms_median, 0);
  add(statistics, fast, timing(1));
  view = described(statistics, fast);
  EXPECT_EQ(view.step_ms_median, 1);
  EXPECT_EQ(view.measured, 1);
}

TEST(StepStatistics, APeriodHasItsOwnMedian) {
  StepStatistics statistics;
  for (int i = 0; i < 50; ++i) add(statistics, slow, timing(100));
  statistics.begin_period();
  EXPECT_EQ(statistics.period_median_ms(), 0) << "nothing was measured since";
  statistics.add(slow, {}, timing(100), /*of_period=*/false);
  EXPECT_EQ(statistics.period_median_ms(), 0) << "a batch that was in flight";
  for (int i = 0; i < 3; ++i) add(statistics, slow, timing(10));
  EXPECT_EQ(statistics.period_median_ms(), 10);
  EXPECT_EQ(described(statistics).step_ms_median, 100);
  for (int i = 0; i < 300; ++i) add(statistics, slow, timing(20));
  EXPECT_EQ(statistics.period_median_ms(), 20) << "of the last window";
  add(statistics, fast, timing(1));
  EXPECT_EQ(statistics.period_median_ms(), 1) << "of one trial";
}

TEST(StepStatistics, StepsThatDifferPeriodicallyCountByTheirMean) {
  for (const int steps : {1, 3, 4}) {
    SCOPED_TRACE(std::to_string(steps) + " steps per batch");
    StepStatistics statistics;
    int step = 0;
    for (int batch = 0; batch < 96; ++batch) {
      double ms = 0;
      for (int i = 0; i < steps; ++i) ms += step++ % 4 == 0 ? 5 : 1;
      statistics.add(slow, {.evaluations = 1, .period = 4},
                     {.steps = steps, .evaluations = steps, .step_ms = ms / steps});
    }
    EXPECT_EQ(described(statistics).step_ms_median, 2) << "one of four takes 5 ms, three take 1 ms";
    EXPECT_EQ(statistics.period_median_ms(), 2);
    ASSERT_EQ(statistics.results().size(), 1u);
    EXPECT_EQ(statistics.results()[0].step_ms.median, 2);
    EXPECT_EQ(statistics.results()[0].steps, 96 * steps);
  }
}

TEST(StepStatistics, HistoryIsBoundedAndOldestFirst) {
  StepStatistics statistics;
  for (int i = 1; i <= 1000; ++i) add(statistics, slow, timing(i));
  const auto history = described(statistics).step_ms_history;
  ASSERT_EQ(history.size(), StepStatistics::history_length);
  EXPECT_EQ(history.front(), 761.0f);
  EXPECT_EQ(history.back(), 1000.0f);
}

TEST(StepStatistics, IgnoresWhatIsNoMeasurement) {
  StepStatistics statistics;
  StepTiming none = timing(1);
  none.steps = 0;
  add(statistics, slow, none);
  add(statistics, slow, timing(std::numeric_limits<double>::quiet_NaN()));
  add(statistics, slow, timing(std::numeric_limits<double>::infinity()));
  add(statistics, slow, timing(0));
  EXPECT_TRUE(statistics.results().empty());
  EXPECT_EQ(described(statistics).measured, 0);
}

TEST(StepStatistics, ResultsKeepTheBestWindowAndTheOrderOfTrying) {
  StepStatistics statistics;
  for (int i = 0; i < 30; ++i) add(statistics, slow, timing(40));
  for (int i = 0; i < 30; ++i) add(statistics, fast, timing(8));
  add(statistics, fast, timing(0.001));  // one lucky step is no result
  for (int i = 0; i < 30; ++i) add(statistics, slow, timing(50));
  const auto results = statistics.results();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].kernel_id, "cpu-serial");
  EXPECT_EQ(results[0].step_ms.median, 40);
  EXPECT_EQ(results[0].steps, 60);
  EXPECT_EQ(results[1].settings, "threads=2");
  EXPECT_EQ(results[1].step_ms.median, 8);
  EXPECT_NEAR(results[1].interactions_per_s, 1e6 / 8e-3, 1);
}

TEST(StepStatistics, BatchesOfBlockStepsCountWithTheEvaluationsThatTheyHad) {
  StepStatistics statistics;
  StepTiming batch{.steps = 2, .evaluations = 16, .step_ms = 4};
  batch.interactions_per_evaluation = 1000;
  statistics.add(slow, {.evaluations = 0, .interactions = 5000}, batch);
  EXPECT_EQ(described(statistics).measured, 1);
  EXPECT_NEAR(statistics.results()[0].interactions_per_s, 8 * 1000 / 4e-3, 1);
}

TEST(StepStatistics, AnUnluckyBeginningIsForgotten) {
  StepStatistics statistics;
  add(statistics, slow, timing(500));
  EXPECT_EQ(statistics.results()[0].step_ms.median, 500) << "a first estimate at once";
  for (int i = 0; i < 40; ++i) add(statistics, slow, timing(40));
  EXPECT_EQ(statistics.results()[0].step_ms.median, 40);
}

TEST(StepStatistics, FewBatchesAfterASwitchDoNotBeatAWholeWindow) {
  StepStatistics statistics;
  for (int i = 0; i < 30; ++i) add(statistics, slow, timing(40));
  add(statistics, fast, timing(8));
  for (int i = 0; i < 19; ++i) add(statistics, slow, timing(4));
  EXPECT_EQ(statistics.results()[0].step_ms.median, 40);
  add(statistics, slow, timing(4));
  EXPECT_EQ(statistics.results()[0].step_ms.median, 4);
}

TEST(StepStatistics, WhatTheStepsComputeIsPartOfATrial) {
  StepStatistics statistics;
  std::vector<Trial> trials(10, slow);
  trials[1].law.id = LawId::attract_repel;
  trials[2].integrator_id = "euler";
  trials[3].scene.seed = 2;
  trials[4].scene.scene = "plummer";
  trials[5].law.softening *= 2;
  trials[6].law.repulsion *= 2;
  trials[7].law.drag *= 2;
  trials[8].time_step = 0.25f;
  trials[9].kernel_revision = 1;
  for (const Trial& trial : trials) {
    for (std::size_t i = 0; i < StepStatistics::result_window; ++i) add(statistics, trial, timing(10));
  }
  const auto results = statistics.results();
  ASSERT_EQ(results.size(), trials.size());
  for (std::size_t i = 0; i < trials.size(); ++i) EXPECT_EQ(static_cast<const Trial&>(results[i]), trials[i]) << i;
  EXPECT_EQ(described(statistics).measured, 0) << "the latest batch was of another trial";
}

TEST(StepStatistics, AKernelThatWasReplacedIsAnotherTrial) {
  KernelCatalog catalog;
  Status status;
  status.kernel_id = "cpu-serial";
  status.kernel = catalog.find("cpu-serial");
  const Trial built_in = trial_of(status);
  EXPECT_EQ(trial_of(status), built_in);
  status.kernel = catalog.put(*status.kernel);
  EXPECT_NE(trial_of(status), built_in);
}

TEST(StepStatistics, ASliderThatIsDraggedLeavesOneRow) {
  StepStatistics statistics;
  Trial dragged = slow;
  for (int i = 0; i < 50; ++i) {
    dragged.law.softening += 0.001f;
    add(statistics, dragged, timing(10));
    dragged.time_step += 0.001f;
    add(statistics, dragged, timing(10));
    dragged.eta = 0.001f * static_cast<float>(i + 1);
    add(statistics, dragged, timing(10));
  }
  ASSERT_EQ(statistics.results().size(), 1u);
  EXPECT_EQ(statistics.results()[0].law, dragged.law);
  EXPECT_EQ(statistics.results()[0].time_step, dragged.time_step);
  EXPECT_EQ(statistics.results()[0].eta, dragged.eta);
}

TEST(StepStatistics, AFirstBatchWithAnEvaluationMoreIsInNoMedian) {
  StepStatistics statistics;
  StepTiming first = timing(20);
  first.evaluations = 2;
  first.interactions_per_s = 2e6 / 20e-3;
  add(statistics, slow, first);
  EXPECT_EQ(described(statistics).measured, 0);
  EXPECT_TRUE(described(statistics).step_ms_history.empty()) << "its plot has the least and the most as well";
  EXPECT_TRUE(statistics.results().empty());
  for (int i = 0; i < 3; ++i) add(statistics, slow, timing(10));
  EXPECT_EQ(statistics.results()[0].step_ms.median, 10);
  EXPECT_DOUBLE_EQ(statistics.results()[0].interactions_per_s, 1e6 / 10e-3);
}

TEST(StepStatistics, KeepsTheLatestErrorOfATrial) {
  StepStatistics statistics;
  const auto of_median = [](double median) { return ForceError{.rms = 0, .median = median, .p99 = 0, .max = 0}; };
  EXPECT_FALSE(statistics.add_error(slow, of_median(1))) << "it has no row yet";
  add(statistics, slow, timing(10));
  add(statistics, fast, timing(5));
  EXPECT_FALSE(statistics.results()[0].error);
  for (const double median : {2e-7, 5e-7, 1e-7}) EXPECT_TRUE(statistics.add_error(slow, of_median(median)));
  EXPECT_EQ(statistics.results()[0].error->median, 1e-7) << "who runs longer does not look worse";
  EXPECT_FALSE(statistics.results()[1].error);
}

TEST(StepStatistics, WhatASweepMeasuredHasARowOfItsOwn) {
  StepStatistics statistics;
  add(statistics, slow, timing(10));
  Measurement row;
  static_cast<Trial&>(row) = slow;
  row.step_ms.median = 8;
  row.interactions_per_s = 1e6 / 8e-3;
  row.error = ForceError{.rms = 0, .median = 1e-7, .p99 = 0, .max = 0};
  statistics.add_swept(row);
  row.step_ms.median = 5;
  statistics.add_swept(row);
  row.problem.text = "too many registers";
  row.count = 7;
  statistics.add_swept(row);
  add(statistics, slow, timing(10));
  const auto results = statistics.results();
  ASSERT_EQ(results.size(), 2u) << "the later sweep replaces the earlier one; what failed is no result";
  EXPECT_FALSE(results[0].swept || results[0].error);
  EXPECT_EQ(results[0].steps, 2);
  EXPECT_TRUE(results[1].swept);
  EXPECT_EQ(results[1].step_ms.median, 5);
  EXPECT_EQ(results[1].error->median, 1e-7);
}

/// A trial with a result and an error.
void add(StepStatistics& statistics, const Trial& trial, double step_ms, double error) {
  add(statistics, trial, timing(step_ms));
  statistics.add_error(trial, {.rms = 0, .median = error, .p99 = 0, .max = 0});
}

TEST(StepStatistics, SpeedUpsAreOverThePinnedRow) {
  StepStatistics statistics;
  add(statistics, slow, 10, 1e-7);
  add(statistics, fast, 4, 3e-7);
  for (const Result& result : statistics.results()) EXPECT_FALSE(result.speedup) << "nothing is pinned";
  statistics.pin(1, true);
  EXPECT_DOUBLE_EQ(statistics.results()[0].speedup.value(), 0.4);
  EXPECT_DOUBLE_EQ(statistics.results()[1].speedup.value(), 1);
  statistics.pin(0, true);
  EXPECT_DOUBLE_EQ(statistics.results()[1].speedup.value(), 2.5);
  EXPECT_FALSE(statistics.results()[1].pinned) << "one baseline for rows that are compared";
  statistics.pin(0, false);
  EXPECT_FALSE(statistics.results()[1].speedup);
  EXPECT_THROW(statistics.pin(2, true), UsageError);
  EXPECT_THROW(statistics.pin(-1, true), UsageError);
}

TEST(StepStatistics, OnlyTheSameBodiesLawAndAccuracyAreCompared) {
  std::vector<Trial> trials(6, fast);
  trials[0].scene.count = trials[0].count = 2000;
  trials[1].scene.seed = 2;
  trials[2].scene.scene = "plummer";
  trials[3].law.id = LawId::attract_repel;
  trials[4].law.softening *= 2;
  trials[5].scene.file = "a.tipsy";
  StepStatistics statistics;
  add(statistics, slow, 10, 1e-7);
  statistics.pin(0, true);
  for (const Trial& trial : trials) {
    for (std::size_t i = 0; i < StepStatistics::result_window; ++i) add(statistics, trial, 5, 1e-7);
  }
  Trial approximate = fast;
  approximate.kernel_id = "cpu-tree";
  add(statistics, approximate, 1, 4e-4);
  Trial unknown = fast;
  unknown.kernel_id = "cpu-openmp";
  add(statistics, unknown, timing(1));
  Trial broken = fast;
  broken.kernel_id = "cpu-symmetric";
  add(statistics, broken, 1, std::numeric_limits<double>::quiet_NaN());
  const auto results = statistics.results();
  ASSERT_EQ(results.size(), trials.size() + 4);
  EXPECT_EQ(results[0].speedup, 1);
  for (std::size_t i = 1; i < results.size(); ++i) EXPECT_FALSE(results[i].speedup) << i;
}

TEST(StepStatistics, RowsOfOneDecadeOfTheErrorAreOneClass) {
  const auto of_median = [](double median) {
    return accuracy_class(ForceError{.rms = 0, .median = median, .p99 = 0, .max = 0});
  };
  EXPECT_EQ(of_median(0), of_median(9e-6)) << "direct sums in single precision";
  EXPECT_EQ(of_median(1.1e-4), of_median(9.9e-4));
  EXPECT_NE(of_median(9e-6), of_median(5e-5));
  EXPECT_NE(of_median(4e-5), of_median(4e-4));
  EXPECT_FALSE(of_median(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(accuracy_class(std::nullopt));
}

TEST(StepStatistics, ASweepsMedianIsComparedWithThoseOfSweeps) {
  StepStatistics statistics;
  add(statistics, slow, 10, 1e-7);
  Measurement row;
  static_cast<Trial&>(row) = slow;
  row.error = ForceError{.rms = 0, .median = 1e-7, .p99 = 0, .max = 0};
  row.step_ms.median = 8;
  statistics.add_swept(row);
  static_cast<Trial&>(row) = fast;
  row.step_ms.median = 2;
  statistics.add_swept(row);
  statistics.pin(0, true);
  EXPECT_FALSE(statistics.results()[2].speedup);
  statistics.pin(1, true);
  EXPECT_TRUE(statistics.results()[0].pinned) << "each has its baseline";
  EXPECT_DOUBLE_EQ(statistics.results()[2].speedup.value(), 4);
}

TEST(StepStatistics, APinnedRowStaysWhenASliderIsDragged) {
  StepStatistics statistics;
  add(statistics, slow, 10, 1e-7);
  statistics.pin(0, true);
  Trial dragged = slow;
  dragged.law.softening *= 2;
  add(statistics, dragged, timing(10));
  ASSERT_EQ(statistics.results().size(), 2u);
  EXPECT_TRUE(statistics.results()[0].pinned);
}

TEST(StepStatistics, ClearingForgetsResultsOnly) {
  StepStatistics statistics;
  add(statistics, slow, timing(10));
  statistics.clear_results();
  EXPECT_TRUE(statistics.results().empty());
  EXPECT_EQ(described(statistics).measured, 1);
}

}  // namespace
}  // namespace orrery::test
