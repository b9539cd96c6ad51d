#include "app/window/step_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "app/ui_state/comparable.h"
#include "compute/core/error.h"
#include "compute/kernels/catalog.h"

namespace orrery {
namespace {

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
  EXPECT_EQ(view.step_ms_last, 1);
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
  EXPECT_EQ(described(statistics).step_ms_last, 20);
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
}  // namespace orrery
