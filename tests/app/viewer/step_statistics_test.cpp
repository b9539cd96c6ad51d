#include "app/viewer/step_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace orrery {
namespace {

const Trial slow{"cpu-serial", "", 1000};
const Trial fast{"cpu-simd", "threads=2", 1000};

StepTiming timing(double step_ms, int count = 1000) {
  return {.steps = 1, .step_ms = step_ms, .interactions_per_s = double(count) * count / step_ms * 1e3};
}

ViewStatus described(const StepStatistics& statistics) {
  ViewStatus view;
  statistics.describe(view);
  return view;
}

TEST(Median, OfOddEvenAndNone) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(StepStatistics, MedianLooksBackOneWindowAndStartsAnewWithEachTrial) {
  StepStatistics statistics;
  for (int i = 0; i < 200; ++i) statistics.add(slow, timing(i < 80 ? 100 : 10));
  ViewStatus view = described(statistics);
  EXPECT_EQ(view.step_ms_median, 10) << "the slow ones at the beginning are out of the window";
  EXPECT_EQ(view.measured, 120);
  EXPECT_EQ(view.step_ms_history.size(), 200u);
  statistics.add(fast, timing(1));
  view = described(statistics);
  EXPECT_EQ(view.step_ms_median, 1);
  EXPECT_EQ(view.step_ms_last, 1);
  EXPECT_EQ(view.measured, 1);
}

TEST(StepStatistics, HistoryIsBoundedAndOldestFirst) {
  StepStatistics statistics;
  for (int i = 1; i <= 1000; ++i) statistics.add(slow, timing(i));
  const auto history = described(statistics).step_ms_history;
  ASSERT_EQ(history.size(), StepStatistics::history_length);
  EXPECT_EQ(history.front(), 761.0f);
  EXPECT_EQ(history.back(), 1000.0f);
}

TEST(StepStatistics, IgnoresWhatIsNoMeasurement) {
  StepStatistics statistics;
  StepTiming none = timing(1);
  none.steps = 0;
  statistics.add(slow, none);
  statistics.add(slow, timing(std::numeric_limits<double>::quiet_NaN()));
  statistics.add(slow, timing(std::numeric_limits<double>::infinity()));
  statistics.add(slow, timing(0));
  EXPECT_TRUE(statistics.results().empty());
  EXPECT_EQ(described(statistics).measured, 0);
}

TEST(StepStatistics, ResultsKeepTheBestWindowAndTheOrderOfTrying) {
  StepStatistics statistics;
  for (int i = 0; i < 30; ++i) statistics.add(slow, timing(40));
  for (int i = 0; i < 30; ++i) statistics.add(fast, timing(8));
  statistics.add(fast, timing(0.001));  // one lucky step is no result
  for (int i = 0; i < 30; ++i) statistics.add(slow, timing(50));
  const auto results = statistics.results();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].kernel_id, "cpu-serial");
  EXPECT_EQ(results[0].median_ms, 40);
  EXPECT_EQ(results[0].speedup, 1);
  EXPECT_EQ(results[0].steps, 60);
  EXPECT_EQ(results[1].settings, "threads=2");
  EXPECT_EQ(results[1].median_ms, 8);
  EXPECT_DOUBLE_EQ(results[1].speedup, 5);
  EXPECT_NEAR(results[1].interactions_per_s, 1e6 / 8e-3, 1);
}

TEST(StepStatistics, AnUnluckyBeginningIsForgotten) {
  StepStatistics statistics;
  statistics.add(slow, timing(500));
  EXPECT_EQ(statistics.results()[0].median_ms, 500) << "a first estimate at once";
  for (int i = 0; i < 40; ++i) statistics.add(slow, timing(40));
  EXPECT_EQ(statistics.results()[0].median_ms, 40);
}

TEST(StepStatistics, FewBatchesAfterASwitchDoNotBeatAWholeWindow) {
  StepStatistics statistics;
  for (int i = 0; i < 30; ++i) statistics.add(slow, timing(40));
  statistics.add(fast, timing(8));
  for (int i = 0; i < 19; ++i) statistics.add(slow, timing(4));
  EXPECT_EQ(statistics.results()[0].median_ms, 40);
  statistics.add(slow, timing(4));
  EXPECT_EQ(statistics.results()[0].median_ms, 4);
}

TEST(StepStatistics, OtherCountsCompareByPairs) {
  StepStatistics statistics;
  statistics.add(slow, timing(10));
  const Trial twice_as_many{"cpu-serial", "", 2000};
  statistics.add(twice_as_many, timing(40, 2000));
  EXPECT_DOUBLE_EQ(statistics.results()[1].speedup, 1);
}

TEST(StepStatistics, ClearingForgetsResultsOnly) {
  StepStatistics statistics;
  statistics.add(slow, timing(10));
  statistics.clear_results();
  EXPECT_TRUE(statistics.results().empty());
  EXPECT_EQ(described(statistics).measured, 1);
}

TEST(WriteResults, WritesOneLineARow) {
  StepStatistics statistics;
  statistics.add(slow, timing(10));
  statistics.add(fast, timing(2.5));
  const auto file = std::filesystem::temp_directory_path() / "orrery_results_test.csv";
  write_results(file, statistics.results());
  std::stringstream text;
  text << std::ifstream{file}.rdbuf();
  EXPECT_EQ(text.str(),
            "kernel,settings,n,median_ms,interactions_per_s,speedup,steps\n"
            "cpu-serial,,1000,10,1e+08,1,1\n"
            "cpu-simd,threads=2,1000,2.5,4e+08,4,1\n");
  std::filesystem::remove(file);
}

TEST(WriteResults, NamesTheFileThatCannotBeWritten) {
  try {
    write_results("/nonexistent/results.csv", {});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string{error.what()}.find("/nonexistent/results.csv: No such file"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace orrery
