// How candidates are measured, and which one is preferred, with a clock and times of the test's own.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <new>
#include <stdexcept>

#include "app/lab/tuning/candidates.h"
#include "compute/core/error.h"
#include "tests/app/lab/tuning/rows_variant.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

/// Kernels whose step takes as long as the test says; the clock counts nothing but their steps.
class TuningRunTest : public testing::Test {
 protected:
  void add(const char* rows, double step_ms) {
    result.candidates.push_back({test::rows_variant(rows)});
    step_ms_[rows] = step_ms;
  }

  void tune(double budget_s = 1e9) {
    run_tuning(
        result.candidates,
        [&](const Variant& variant, int steps) {
          const std::string rows = variant.settings.text("rows");
          ++asked[rows];
          if (refuse == rows) throw UsageError("no room for\nits rows");
          if (fail == rows && asked[rows] > fail_after) throw std::runtime_error("it broke");
          if (starve == rows) throw std::bad_alloc();
          const double step_ms =
              step_ms_[rows] * (asked[rows] == disturbed && only.find(rows) != std::string::npos ? 3 : 1);
          now_s_ += step_ms * steps / 1e3;
          return step_ms;
        },
        [&] { return now_s_; }, budget_s, pilots);
  }

  std::string winner() const {
    const auto order = result.preference();
    return order.empty() ? "none" : result.candidates[order.front()].variant.settings.text("rows");
  }

  TuningResult result;
  std::map<std::string, int> asked;  // batches
  std::string refuse, fail, starve;
  int fail_after = 0;
  int pilots = 1;
  std::string only = "auto, 1, 2";  // those that are disturbed
  int disturbed = 0;                // this batch of each takes three times as long

 private:
  std::map<std::string, double> step_ms_;
  double now_s_ = 7;
};

TEST_F(TuningRunTest, TheFastestWins) {
  add("auto", 3);
  add("1", 2);
  add("2", 2.5);
  tune();
  EXPECT_EQ(winner(), "1");
  EXPECT_EQ(result.preference(), (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_EQ(result.candidates[0].step_ms, 3);
}

TEST_F(TuningRunTest, TheFirstInOrderWinsUnlessAnotherIsTwoPercentFaster) {
  add("auto", 2.05);
  add("1", 2.01);
  add("2", 2.00);
  tune();
  EXPECT_EQ(winner(), "1") << "auto is 2.5 % slower than the fastest, 1 is 0.5 %";
}

TEST_F(TuningRunTest, TheFastestBatchOfEachCounts) {
  for (const int batch : {1, 2, 3, 4}) {
    result = {};
    asked.clear();
    disturbed = batch;
    add("auto", 20);
    add("1", 10);
    tune();
    EXPECT_EQ(winner(), "1");
    EXPECT_EQ(result.candidates[1].step_ms, 10) << batch;
  }
}

TEST_F(TuningRunTest, OneOfTwoPilotsMayBeDisturbed) {
  add("auto", 20);
  add("1", 10);
  disturbed = 1;
  only = "1";
  tune();
  EXPECT_EQ(winner(), "auto") << "by one pilot, which was disturbed";
  result.candidates.clear();
  asked.clear();
  add("auto", 20);
  add("1", 10);
  pilots = 2;
  tune();
  EXPECT_EQ(winner(), "1");
}

TEST_F(TuningRunTest, ATieOfAllGoesToTheFirst) {
  add("2", 1);
  add("1", 1);
  tune();
  EXPECT_EQ(winner(), "2");
}

TEST_F(TuningRunTest, TheHopelessAreMeasuredOnce) {
  add("auto", 1);
  add("1", 9);
  add("2", 1.1);
  tune();
  EXPECT_EQ(asked["1"], 1);
  EXPECT_GT(asked["auto"], 1);
  EXPECT_EQ(asked["auto"], asked["2"]);
}

TEST_F(TuningRunTest, EndsWithItsTimeButMeasuresAllOnce) {
  add("auto", 100);
  add("1", 110);
  add("2", 90);
  tune(0.01);
  EXPECT_EQ(asked["auto"] + asked["1"] + asked["2"], 3);
  EXPECT_EQ(winner(), "2");
}

TEST_F(TuningRunTest, EndsBetweenRounds) {
  add("auto", 10);
  add("1", 10.5);
  tune(0.025);  // ends within the first round
  EXPECT_EQ(asked["auto"], 2);
  EXPECT_EQ(asked["1"], 2);
}

TEST_F(TuningRunTest, WhatCannotRunIsLeftOutAndNamed) {
  add("auto", 1);
  add("1", 2);
  add("2", 3);
  refuse = "auto";
  starve = "2";
  tune();
  EXPECT_EQ(winner(), "1");
  EXPECT_EQ(result.candidates[0].problem.text, "no room for its rows") << "one line";
  EXPECT_TRUE(result.candidates[0].problem.refused);
  EXPECT_EQ(result.candidates[2].problem.text, "not enough memory");
  EXPECT_FALSE(result.candidates[2].problem.refused);
  EXPECT_EQ(result.preference().size(), 1u);
}

TEST_F(TuningRunTest, OneThatFailsLaterIsOut) {
  add("auto", 1);
  add("1", 1.1);
  fail = "auto";
  fail_after = 1;
  tune();
  EXPECT_EQ(winner(), "1");
  EXPECT_EQ(result.candidates[0].problem.text, "it broke");
  EXPECT_EQ(result.candidates[0].step_ms, 0);
  EXPECT_EQ(asked["auto"], 2) << "never again";
}

TEST_F(TuningRunTest, NoTimeIsNoMeasurement) {
  add("auto", std::numeric_limits<double>::quiet_NaN());
  add("1", std::numeric_limits<double>::infinity());
  add("2", 0);
  tune();
  EXPECT_EQ(winner(), "none");
  for (const Candidate& candidate : result.candidates) EXPECT_FALSE(candidate.problem.text.empty());
}

TEST_F(TuningRunTest, ASlowOneThatATrialTimedIsNotMeasuredAgainWhereItMayNotWin) {
  add("auto", 9);
  add("1", 250);
  result.candidates[1].step_ms = 250;
  tune();
  EXPECT_EQ(asked["1"], 0);
  EXPECT_EQ(result.candidates[1].step_ms, 250);
  EXPECT_EQ(result.preference(), (std::vector<std::size_t>{0, 1}));
}

TEST_F(TuningRunTest, WhatIsRuledOutLosesHoweverFast) {
  add("auto", 90);
  add("1", 1);
  result.candidates[1].problem = {.text = "its error is too large", .refused = true};
  tune();
  EXPECT_EQ(winner(), "auto");
  EXPECT_EQ(asked["1"], 0);
}

}  // namespace
}  // namespace orrery
