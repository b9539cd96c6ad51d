// Which candidates meet an accuracy, with errors of the test's own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <new>
#include <stdexcept>

#include "app/lab/tuning/candidates.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "tests/app/lab/tuning/rows_variant.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A tree, and direct sums that differ by their value of `rows`.
class AccuracyTrialsTest : public testing::Test {
 protected:
  void add_tree() { candidates.push_back({test::tree_variant("0.7")}); }

  /// A direct sum with this value of `rows`: a copy of cpu-simd that `change` changes.
  void add_sum(const char* rows, double median_error, const std::function<void(KernelInfo&)>& change) {
    KernelInfo info = *test::find_kernel("cpu-simd");
    change(info);
    const KernelPtr kernel = std::make_shared<const KernelInfo>(info);
    candidates.push_back({{kernel, Settings{*kernel, {{"rows", rows}}}}});
    errors_[rows] = median_error;
  }
  void add_coarse_sum(const char* rows, double median_error) {
    add_sum(rows, median_error, [](KernelInfo& info) { info.full_fp32 = false; });
  }
  /// Full fp32, with this tolerance.
  void add_full_sum(const char* rows, double median_error, double tolerance) {
    add_sum(rows, median_error, [&](KernelInfo& info) { info.tolerance.median = tolerance; });
  }

  void try_them(const TrialLimits& limits) {
    tried.clear();
    try_accuracy(
        candidates,
        [&](const Variant& variant) {
          const bool is_tree = variant.kernel->is_tree;
          const std::string value = variant.settings.text(is_tree ? "theta" : "rows");
          tried.push_back(value);
          if (is_tree) return tree(parsed_number<double>(value).value());
          if (refuse == value) throw UsageError("no\nroom");
          return test::trial(errors_.at(value), 250);
        },
        limits);
  }

  std::vector<Candidate> candidates;
  std::vector<std::string> tried;  // values of theta, or of `rows`
  std::function<AccuracyTrial(double theta)> tree = [](double theta) {
    return test::trial(1e-3 * std::pow(theta, 4), 50 / (theta * theta));
  };
  std::string refuse;

 private:
  std::map<std::string, double> errors_;
};

TEST_F(AccuracyTrialsTest, ATreeGetsTheLargestSettingThatMeetsTheAccuracyWithItsMargin) {
  for (const double accuracy : {1e-2, 5e-4, 1e-4, 1e-5, 1e-6}) {
    candidates.clear();
    add_tree();
    try_them({.accuracy = accuracy});
    const Candidate& found = candidates.front();
    ASSERT_FALSE(found.problem) << found.problem.text;
    const double theta = parsed_number<double>(found.variant.settings.text("theta")).value();
    EXPECT_EQ(found.error->median, tree(theta).error.median);
    EXPECT_EQ(found.step_ms, tree(theta).step_ms);
    EXPECT_LE(found.error->median, 0.9 * accuracy);
    EXPECT_TRUE(theta == 1 || tree(theta * 1.1).error.median > 0.9 * accuracy) << "not slower than needed";
    EXPECT_LE(tried.size(), 8u);
    EXPECT_EQ(tried.front(), "0.7") << "its initial value";
  }
}

TEST_F(AccuracyTrialsTest, EachCandidateOfATreeIsMeasuredWithItsOwnSettings) {
  for (const double factor : {1.0, 1.24, 0.8}) {  // errors of the second one in relation to the first
    candidates.assign(2, {test::tree_variant("0.7")});
    candidates[1].variant.settings.set("leaf", "64");
    std::vector<bool> seconds;
    try_accuracy(candidates,
                 [&](const Variant& variant) {
                   const bool second = variant.settings.text("leaf") == "64";
                   seconds.push_back(second);
                   const double theta = parsed_number<double>(variant.settings.text("theta")).value();
                   return test::trial((second ? factor : 1) * 1e-3 * std::pow(theta, 4), 1);
                 },
                 {.accuracy = 1e-4});
    EXPECT_LE(std::ranges::count(seconds, false), most_setting_trials);
    EXPECT_LE(std::ranges::count(seconds, true), most_further_trials) << "it begins where the first one ended";
    const double theta = parsed_number<double>(candidates[1].variant.settings.text("theta")).value();
    EXPECT_EQ(candidates[1].error->median, factor * 1e-3 * std::pow(theta, 4)) << factor << ": its own error";
    ASSERT_FALSE(candidates[1].problem) << factor << ": " << candidates[1].problem.text;
    EXPECT_LE(candidates[1].error->median, 0.9e-4) << factor;
  }
}

TEST_F(AccuracyTrialsTest, ATreeOfWhichNoSettingMeetsTheAccuracyIsTriedWithOneCandidateOnly) {
  candidates.assign(2, {test::tree_variant("0.7")});
  candidates[1].variant.settings.set("leaf", "64");
  try_them({.accuracy = 1e-12});
  EXPECT_LE(tried.size(), 8u);
  for (const Candidate& candidate : candidates) EXPECT_TRUE(candidate.problem.refused);
  EXPECT_EQ(candidates[1].problem.text, candidates[0].problem.text);
}

TEST_F(AccuracyTrialsTest, ThePercentileDecidesWhereItIsFartherFromItsLimitThanTheMedian) {
  for (const double tail : {2.0, 8.0, 40.0}) {
    candidates.clear();
    add_tree();
    tree = [&](double theta) {
      const double median = 1e-3 * std::pow(theta, 4);
      return AccuracyTrial{{.rms = median, .median = median, .p99 = tail * median, .max = 99 * median}, 1};
    };
    try_them({.accuracy = 1e-4});
    const Candidate& found = candidates.front();
    ASSERT_FALSE(found.problem) << tail << ": " << found.problem.text;
    EXPECT_LE(found.error->median, 0.9e-4) << tail;
    EXPECT_LE(found.error->p99, 0.75 * 5e-4) << tail;
    EXPECT_GT(std::max(found.error->median / 0.9e-4, found.error->p99 / 3.75e-4), 0.6)
        << tail << ": as fast as allowed";
    EXPECT_EQ(error_words(*found.error), fmt::format("median error {:.2g}, p99 {:.2g}, maximum {:.2g}",
                                                     found.error->median, found.error->p99, found.error->max));
  }
  add_coarse_sum("1", 1e-9);
  const auto with_p99 = [&](double p99) {
    return Candidate{.variant = candidates.back().variant,
                     .error = ForceError{.rms = 1e-9, .median = 1e-9, .p99 = p99, .max = p99}};
  };
  const Candidate fine = with_p99(nan);
  EXPECT_FALSE(meets(fine, 1e-4)) << "NaN is within no accuracy";
  EXPECT_FALSE(meets(with_p99(4e-4), 1e-4));
  EXPECT_TRUE(meets(with_p99(3e-4), 1e-4));
  EXPECT_FALSE(meets({.variant = fine.variant}, 1e-4)) << "it had no trial";
}

/// A tree with a second order of its moments: `leaf` stands for it. Its error is smaller, and its steps are shorter at
/// small values.
class OrdersOfATree : public AccuracyTrialsTest {
 protected:
  void try_both(double accuracy) {
    candidates = {{test::tree_variant("0.7")}, {test::tree_variant("0.3")}, {test::tree_variant("0.3")}};
    for (const std::size_t i : {1u, 2u}) candidates[i].variant.settings.set("leaf", "64");
    candidates[2].variant.settings.set("group", "32");
    orders.clear();
    try_accuracy(candidates,
                 [&](const Variant& variant) {
                   const double theta = parsed_number<double>(variant.settings.text("theta")).value();
                   const bool second = variant.settings.text("leaf") == "64";
                   orders.push_back({second, theta});
                   return test::trial(error_of(second, theta), 1);
                 },
                 {.accuracy = accuracy});
  }

  struct Tried {
    bool second;
    double theta;
  };
  std::vector<Tried> orders;
  std::function<double(bool second, double theta)> error_of = [](bool second, double theta) {
    return (second ? 5e-4 : 1e-3) * std::pow(theta, 4);
  };
};

TEST_F(OrdersOfATree, TheSecondIsTriedOnlyWhereTheFirstNeedsASmallerValue) {
  try_both(1e-4);
  EXPECT_FALSE(candidates[0].problem) << candidates[0].problem.text;
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_TRUE(candidates[i].problem.refused);
    EXPECT_EQ(candidates[i].variant.settings.text("theta"), "0.3") << "no setting of a search that was not made";
    EXPECT_NE(candidates[i].problem.text.find("is accurate enough"), std::string::npos) << candidates[i].problem.text;
  }
  for (const Tried& each : orders) EXPECT_FALSE(each.second);
}

TEST_F(OrdersOfATree, TheSecondBeginsWhereTheFirstEndedAndBothShareTheEvaluations) {
  for (const double accuracy : {8e-6, 1e-6, 1e-7}) {
    try_both(accuracy);
    EXPECT_LE(orders.size(), static_cast<std::size_t>(most_setting_trials + most_further_trials)) << accuracy;
    const auto second = std::ranges::find(orders, true, &Tried::second);
    ASSERT_NE(second, orders.end()) << accuracy;
    for (const Candidate& candidate : candidates) {
      ASSERT_FALSE(candidate.problem) << candidate.problem.text;
      EXPECT_LE(candidate.error->median, 0.9 * accuracy);
    }
    const auto theta = [&](std::size_t i) { return candidates[i].variant.settings.text("theta"); };
    EXPECT_EQ(shortest_text(second->theta), theta(0));
    EXPECT_GT(parsed_number<double>(theta(1)), parsed_number<double>(theta(0))) << "its own search";
    EXPECT_EQ(theta(2), theta(1)) << "equal errors";
  }
}

TEST_F(OrdersOfATree, TheSecondIsTriedIfTheFirstNeverMeetsTheAccuracy) {
  error_of = [](bool second, double theta) { return second ? 1e-7 : 1e-6 + 1e-3 * theta; };
  try_both(1e-6);
  EXPECT_TRUE(candidates[0].problem.refused);
  EXPECT_FALSE(candidates[1].problem) << candidates[1].problem.text;
}

TEST_F(OrdersOfATree, TheSecondIsNotTriedIfTheFirstTookAllEvaluations) {
  error_of = [](bool /*second*/, double theta) { return theta < 0.063 ? 1e-9 : nan; };  // the search bisects
  try_both(1e-6);
  EXPECT_EQ(orders.size(), static_cast<std::size_t>(most_setting_trials));
  EXPECT_FALSE(candidates[0].problem) << candidates[0].problem.text;
  for (const std::size_t i : {1u, 2u}) EXPECT_TRUE(candidates[i].problem.refused);
  EXPECT_FALSE(std::ranges::any_of(orders, &Tried::second));
}

TEST_F(AccuracyTrialsTest, ATreeThatNeverMeetsTheAccuracyIsRuledOutWithItsLeastError) {
  add_tree();
  tree = [](double theta) { return test::trial(1e-3 * theta, 50); };
  candidates.push_back({test::rows_variant("1")});
  try_them({.accuracy = 1e-5});
  EXPECT_TRUE(candidates[0].problem.refused);
  EXPECT_EQ(candidates[0].variant.settings.text("theta"), "0.05");
  EXPECT_EQ(candidates[0].error->median, 5e-5);
  EXPECT_EQ(candidates[0].problem.text, "median error 5e-05, above 9e-06, which is 90 % of the accuracy");
  EXPECT_EQ(candidates[0].step_ms, 0);
  EXPECT_FALSE(candidates[1].problem) << "the next kernel takes over";
}

TEST_F(AccuracyTrialsTest, ATreeThatIsSlowerThanADirectSumIsNotTriedFurther) {
  add_tree();
  tree = [](double theta) { return test::trial(1e-3 * theta, 50 / (theta * theta)); };
  try_them({.accuracy = 1e-7, .direct_ms = 150});
  EXPECT_TRUE(candidates[0].problem.refused);
  EXPECT_LE(tried.size(), 3u);
  EXPECT_GT(parsed_number<double>(tried.back()).value(), 0.1);
}

TEST_F(AccuracyTrialsTest, ATreeWithoutSuchATunableIsTriedAsItIs) {
  KernelInfo info = *test::tree_by_theta();
  info.tunables = info.tunables.subspan(1);
  std::vector<Tunable> tunables{info.tunables.begin(), info.tunables.end()};
  for (Tunable& tunable : tunables) tunable.trades_accuracy = false;
  info.tunables = tunables;
  const KernelPtr kernel = std::make_shared<const KernelInfo>(info);
  candidates.push_back({{kernel, Settings{*kernel}}});
  try_them({.accuracy = 1e-2});
  EXPECT_EQ(tried, std::vector<std::string>{"0.7"});
  EXPECT_FALSE(candidates[0].problem);
  try_them({.accuracy = 1e-6});
  EXPECT_EQ(tried.size(), 1u);
  EXPECT_TRUE(candidates[0].problem.refused);
}

TEST_F(AccuracyTrialsTest, WhatFailsIsRuledOutAndTheOthersRemain) {
  add_tree();
  add_coarse_sum("1", 1e-5);
  add_coarse_sum("2", 1e-5);
  tree = [](double) -> AccuracyTrial { throw std::bad_alloc(); };
  refuse = "1";
  try_them({.accuracy = 1e-4});
  EXPECT_EQ(candidates[0].problem.text, "not enough memory");
  EXPECT_FALSE(candidates[0].problem.refused);
  EXPECT_EQ(candidates[1].problem.text, "no room") << "one line";
  EXPECT_TRUE(candidates[1].problem.refused);
  EXPECT_FALSE(candidates[2].problem);
}

TEST_F(AccuracyTrialsTest, ADirectSumThatIsNotFullFp32IsACandidateIfItMeetsTheAccuracy) {
  add_coarse_sum("1", 0.9e-5);
  add_coarse_sum("2", 0.91e-5);
  add_coarse_sum("4", nan);
  add_tree();
  try_them({.accuracy = 1e-5});
  EXPECT_EQ(tried.front(), "0.7") << "trees first";
  EXPECT_FALSE(candidates[0].problem);
  EXPECT_EQ(candidates[0].error->median, 0.9e-5);
  EXPECT_EQ(candidates[0].step_ms, 0) << "it is timed as all direct sums are";
  EXPECT_TRUE(candidates[1].problem.refused);
  EXPECT_TRUE(candidates[2].problem.refused);
}

TEST_F(AccuracyTrialsTest, ADirectSumIsTriedUnlessATreeIsMuchFaster) {
  for (const double direct_ms : {0.0, 150.0, 500.0}) {
    candidates.clear();
    add_coarse_sum("1", 1e-5);
    add_tree();
    try_them({.accuracy = 1e-3, .direct_ms = direct_ms});
    EXPECT_EQ(candidates[0].problem.refused, direct_ms == 500) << direct_ms << ": the tree takes 50 ms";
    EXPECT_EQ(tried.back() == "1", direct_ms != 500);
  }
  EXPECT_NE(candidates[0].problem.text.find("cpu-tree"), std::string::npos) << candidates[0].problem.text;
  candidates.clear();
  add_coarse_sum("1", 1e-5);
  add_tree();
  tree = [](double) { return test::trial(1, 1); };
  try_them({.accuracy = 1e-3, .direct_ms = 500});
  EXPECT_FALSE(candidates[0].problem) << "the tree does not meet the accuracy";
}

TEST_F(AccuracyTrialsTest, FullFp32IsTriedOnlyIfTheToleranceDoesNotEnsureTheAccuracy) {
  add_full_sum("1", 1e-7, 1e-6);
  add_full_sum("2", 3e-7, 1e-6);
  try_them({.accuracy = 1e-5});
  EXPECT_TRUE(tried.empty());
  try_them({.accuracy = 0});
  EXPECT_TRUE(tried.empty()) << "exact: full fp32 accuracy";
  try_them({.accuracy = 2e-7});
  EXPECT_EQ(tried, (std::vector<std::string>{"1", "2"}));
  EXPECT_FALSE(candidates[0].problem);
  EXPECT_EQ(candidates[0].error->median, 1e-7);
  EXPECT_TRUE(candidates[1].problem.refused);
}

TEST_F(AccuracyTrialsTest, AKernelThatHasAFasterOneIsLeftToAccuraciesThatOneDoesNotMeet) {
  for (const double accuracy : {0.0, 1e-5, 1e-7}) {
    candidates.clear();
    add_sum("4", 2e-8, [](KernelInfo& info) {
      info.id = "precise";
      info.tolerance.median = 5e-8;
      info.faster = "cpu-simd";
    });
    add_full_sum("1", 2e-7, 1e-6);
    try_them({.accuracy = accuracy});
    const bool needed = accuracy == 1e-7;
    EXPECT_EQ(candidates[0].problem.refused, !needed) << accuracy;
    EXPECT_EQ(candidates[1].problem.refused, needed) << accuracy;
    EXPECT_EQ(tried.size(), needed ? 1u : 0u) << "its tolerance ensures the accuracy";
  }
}

TEST_F(AccuracyTrialsTest, FullFp32RemainsIfNothingMeetsTheAccuracy) {
  add_tree();
  add_coarse_sum("1", 1e-5);
  add_full_sum("2", 2e-7, 1e-6);
  tree = [](double) { return test::trial(1e-3, 1); };
  try_them({.accuracy = 1e-8});
  EXPECT_TRUE(candidates[0].problem.refused);
  EXPECT_TRUE(candidates[1].problem.refused);
  EXPECT_FALSE(candidates[2].problem);
  EXPECT_EQ(candidates[2].error->median, 2e-7);
}

}  // namespace
}  // namespace orrery
