// How candidates are measured, and which one is preferred, with a clock and times of the test's own.
#include <fmt/format.h>

#include <new>

#include "app/lab/tuning/auto_chooser.h"
#include "app/lab/tuning/candidates.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/scenes/scene.h"
#include "compute/sim/simulation.h"
#include "tests/app/lab/tuning/rows_variant.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

/// Kernels whose step takes as long as the test says; the clock counts nothing but their steps.
struct TuningRunTest : testing::Test {
  void add(const char* rows, double step_ms) {
    result.candidates.push_back({rows_variant(rows)});
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

// The search for the setting that just meets an accuracy, with errors of the test's own.

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A search over the numbers of a range, from the middle unless told otherwise.
struct SettingSearch : testing::Test {
  using ErrorOf = std::function<double(double setting)>;

  /// The setting that was found; NaN if there is none.
  double search(const ErrorOf& error_of, double target) {
    tried.clear();
    const auto found = search_setting(settings, first, target, most_trials, [&](std::size_t index) {
      EXPECT_EQ(std::ranges::count(tried, settings.at(index)), 0) << settings[index] << " twice";
      tried.push_back(settings[index]);
      return SettingTrial{error_of(settings[index]), slow_below > settings[index]};
    });
    EXPECT_LE(tried.size(), static_cast<std::size_t>(most_trials));
    if (!found) return not_a_number;
    EXPECT_TRUE(std::ranges::count(tried, settings[*found])) << "it was measured";
    EXPECT_LE(error_of(settings[*found]), target);
    return settings[*found];
  }

  std::vector<double> settings = two_digit_numbers({0.05, 1.0});
  std::size_t first = settings.size() / 2;
  double slow_below = 0;
  int most_trials = most_setting_trials;
  std::vector<double> tried;
};

TEST(TwoDigitNumbers, AreThoseOfTheRange) {
  EXPECT_EQ(two_digit_numbers({0.097, 0.12}), (std::vector<double>{0.097, 0.098, 0.099, 0.1, 0.11, 0.12}));
  EXPECT_EQ(two_digit_numbers({8, 11}), (std::vector<double>{8,   8.1, 8.2, 8.3, 8.4, 8.5, 8.6, 8.7, 8.8, 8.9, 9,
                                                             9.1, 9.2, 9.3, 9.4, 9.5, 9.6, 9.7, 9.8, 9.9, 10,  11}));
  EXPECT_EQ(two_digit_numbers({0.3, 0.3}), (std::vector<double>{0.3}));
  const std::vector<double> all = two_digit_numbers({1e-8, 1e-2});
  EXPECT_EQ(all.size(), 541u);
  EXPECT_EQ(all.front(), 1e-8);
  EXPECT_EQ(all.back(), 1e-2);
  EXPECT_TRUE(std::ranges::is_sorted(all));
}

TEST_F(SettingSearch, FindsTheLargestOfAPowerLawFromAnyStart) {
  for (const double power : {0.3, 0.65, 1.0, 2.0, 4.0, 6.0}) {
    const auto error_of = [&](double setting) { return 1e-2 * std::pow(setting, power); };
    for (const double wanted : {0.06, 0.11, 0.33, 0.7, 0.95}) {
      for (const std::size_t start : {std::size_t{0}, settings.size() / 2, settings.size() - 1}) {
        first = start;
        const double target = error_of(wanted);
        const double found = search(error_of, target);
        // Within 8 % of the target, or the last below it.
        const double next = *std::ranges::upper_bound(settings, found);
        EXPECT_TRUE(error_of(found) >= 0.92 * target || error_of(next) > target)
            << power << ' ' << wanted << ' ' << start << ": " << found;
      }
    }
  }
}

TEST_F(SettingSearch, TakesFewTrialsOverSixDecades) {
  settings = two_digit_numbers({1e-8, 1e-2});
  for (const double target : {1e-6, 1e-5, 1e-4, 1e-3}) {
    first = static_cast<std::size_t>(std::ranges::find(settings, 1e-3) - settings.begin());
    // As a tree: theta limits the error above, rounding below.
    search([](double setting) { return 1 / (1 / (0.1 * std::pow(setting, 0.65)) + 1 / 3e-3) + 2e-7; }, target);
    EXPECT_LE(tried.size(), 6u) << target;
  }
}

TEST_F(SettingSearch, OneTrialIsEnoughWhereItIsCloseToTheTarget) {
  first = 7;
  EXPECT_EQ(search([](double) { return 0.95e-4; }, 1e-4), settings[7]);
  EXPECT_EQ(tried.size(), 1u);
}

TEST_F(SettingSearch, AnErrorThatIsTheTargetMeetsIt) {
  EXPECT_EQ(search([](double) { return 1e-4; }, 1e-4), settings[first]);
}

TEST_F(SettingSearch, IsTheLargestWhereAllMeetTheTarget) {
  first = 0;
  EXPECT_EQ(search([](double) { return 1e-9; }, 1e-4), 1.0);
  EXPECT_EQ(search([](double) { return 0; }, 1e-4), 1.0) << "an error without a logarithm";
  EXPECT_LE(tried.size(), 6u);
}

TEST_F(SettingSearch, IsNoneWhereNoneMeetsTheTarget) {
  first = settings.size() - 1;
  for (const double error : {1e-3, infinity, not_a_number}) {
    EXPECT_TRUE(std::isnan(search([&](double) { return error; }, 1e-4))) << error;
    EXPECT_EQ(tried.back(), 0.05) << "the most accurate was tried";
    EXPECT_LE(tried.size(), 5u);
  }
}

TEST_F(SettingSearch, NoTrialIsFarFromTheOneBefore) {
  first = settings.size() - 1;
  search([](double setting) { return setting > 0.9 ? 1e-2 : 0.999e-2; }, 1e-9);
  for (std::size_t i = 1; i < tried.size(); ++i) EXPECT_GE(tried[i], tried[i - 1] / 2.25);
}

TEST_F(SettingSearch, NothingBelowASlowOneThatFailsIsTried) {
  slow_below = 0.3;
  const auto error_of = [](double setting) { return 1e-3 * setting; };
  EXPECT_TRUE(std::isnan(search(error_of, 1e-9)));
  EXPECT_EQ(std::ranges::count_if(tried, [](double setting) { return setting < 0.3; }), 1);
  first = 0;
  EXPECT_NEAR(search(error_of, 2.9e-4), 0.27, 0.02) << "slow ones that meet the target are found";
}

TEST_F(SettingSearch, OneSettingIsTriedOnce) {
  settings = {0.5};
  first = 3;
  EXPECT_EQ(search([](double) { return 1e-6; }, 1e-4), 0.5);
  EXPECT_TRUE(std::isnan(search([](double) { return 1e-3; }, 1e-4)));
  EXPECT_TRUE(std::isnan(search([](double) { return not_a_number; }, 1e-4)));
  EXPECT_EQ(tried.size(), 1u);
}

TEST_F(SettingSearch, NoiseAndBumpsDoNotMatterToWhatIsFound) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const auto error_of = [&](double setting) {
      const double noise = std::sin(seed * 977.0 * setting) * 0.5;
      return 1e-2 * std::pow(setting, 3) * std::exp(noise);
    };
    const double found = search(error_of, 1e-4);  // search() checks that it meets the target
    EXPECT_GT(found, 0.12) << seed;
    EXPECT_LT(found, 0.32) << seed;
  }
}

TEST_F(SettingSearch, AStepOfTheErrorsIsFoundByBisection) {
  const double found = search([](double setting) { return setting > 0.41 ? not_a_number : 1e-6; }, 1e-4);
  EXPECT_LE(found, 0.41);
  EXPECT_GE(found, 0.37);
}

TEST_F(SettingSearch, ANanIsPassedOver) {
  first = 0;
  EXPECT_NEAR(search([](double setting) { return setting > 0.4 ? not_a_number : 1e-2 * std::pow(setting, 3); }, 1e-4),
              0.21, 0.01);
}

TEST_F(SettingSearch, PassesOnWhatATrialThrows) {
  EXPECT_THROW(search([](double) -> double { throw std::runtime_error("it broke"); }, 1e-4), std::runtime_error);
}

TEST_F(SettingSearch, EndsAfterTheTrialsThatItIsAllowed) {
  const auto error_of = [](double setting) { return std::pow(setting, 4); };
  search(error_of, 1e-3);
  ASSERT_GT(tried.size(), 2u);
  most_trials = 2;
  search(error_of, 1e-3);
  EXPECT_EQ(tried.size(), 2u);
}

// The candidates of this machine, and their measurement.

TEST(Candidates, AreRealVariantsOfOneBackend) {
  for (const KernelPtr& kernel : kernels()) {
    std::vector<Settings> seen;
    for (const char* text : kernel->candidates) {
      Settings settings{*kernel};
      for (const auto& [name, value] : Settings::values_of(text)) settings.set(name, value);
      EXPECT_EQ(settings.changes(), text) << kernel->id << ": only what differs, in the order of the names";
      EXPECT_EQ(std::ranges::find(seen, settings), seen.end()) << kernel->id << " " << text << " twice";
      seen.push_back(settings);
    }
  }
  const std::vector<Variant> here = candidates_here(backends());
  ASSERT_FALSE(here.empty()) << "CPU kernels are candidates everywhere";
  for (const Variant& variant : here) {
    EXPECT_EQ(variant.kernel->backend, here.front().kernel->backend);
    EXPECT_TRUE(backends().status(variant.kernel->backend).available);
  }
}

TEST(Candidates, AreThoseOfTheCatalogNow) {
  KernelCatalog catalog;
  const Backends backends{catalog};
  const AutoChooser::Environment environment = AutoChooser::this_machine(backends);
  const std::vector<Variant> before = environment.candidates();
  KernelInfo copy = *before.front().kernel;
  copy.id = "copy";
  for (const char* time : {"added", "replaced"}) {
    const KernelPtr added = catalog.put(copy);
    const std::vector<Variant> now = environment.candidates();
    EXPECT_EQ(now.size(), before.size() + copy.candidates.size()) << time;
    EXPECT_EQ(now.back().kernel, added) << time;
  }
}

TEST(Candidates, HaveAFasterKernelOnlyIfThatOneIsACandidate) {
  for (const KernelPtr& kernel : kernels()) {
    if (!kernel->faster) continue;
    const KernelPtr faster = find_kernel(kernel->faster);
    EXPECT_EQ(faster->backend, kernel->backend) << kernel->id;
    EXPECT_FALSE(faster->candidates.empty()) << kernel->id;
    EXPECT_LT(kernel->tolerance.median, faster->tolerance.median) << kernel->id << " would never be chosen";
  }
}

TEST(Candidates, TreesStartTheirSearchAtTheirInitialSettings) {
  for (const KernelPtr& kernel : kernels()) {
    const Tunable* tunable = kernel->accuracy_tunable();
    EXPECT_EQ(tunable != nullptr, kernel->is_tree && !kernel->candidates.empty()) << kernel->id;
    if (!tunable) continue;
    ASSERT_TRUE(tunable->numbers) << kernel->id;
    EXPECT_GT(tunable->numbers->least, 0);
    const std::vector<double> values = two_digit_numbers(*tunable->numbers);
    EXPECT_NE(std::ranges::find(values, parsed_number<double>(tunable->initial).value()), values.end()) << kernel->id;
    for (const double value : values) EXPECT_TRUE(tunable->allows(shortest_text(value))) << kernel->id << ' ' << value;
  }
}

TEST(Candidates, OfATreeMeetEveryAccuracyDownToOneHundredThousandth) {
  const Bodies bodies = load_scene({.scene = "plummer", .count = 10'000}).bodies;
  for (const KernelPtr& kernel : kernels()) {
    if (!kernel->accuracy_tunable() || !backends().status(kernel->backend).available) continue;
    for (const double accuracy : {1e-2, 1e-3, 1e-4, 1e-5}) {
      const AccuracyTrials trials =
          measure_accuracy(backends(), {{kernel, Settings{*kernel}}}, {.count = bodies.count(), .accuracy = accuracy},
                           {bodies, {.softening = 0.01f}}, {});
      const Candidate& tree = trials.candidates.front();
      const std::string name = words_for(*kernel, tree.variant.settings);
      EXPECT_FALSE(tree.problem) << name << ": " << tree.problem.text;
      ASSERT_TRUE(tree.error);
      EXPECT_LE(tree.error->median, accuracy_margin * accuracy) << name;
      EXPECT_LE(tree.error->p99, largest_p99_error(accuracy)) << name;
      if (accuracy < 5e-4) {
        EXPECT_GT(std::max(tree.error->median, tree.error->p99 / p99_over_accuracy), 0.4 * accuracy)
            << name << ": not more accurate than needed";
      }
    }
  }
}

/// 30,000 bodies, of which a direct sum needs many times as long as a tree.
// Which one wins is a matter of times, and no test's.
TEST(Candidates, ATreeThatIsAccurateEnoughIsMeasuredBesideTheDirectSum) {
  const Bodies bodies = load_scene({.scene = "plummer", .count = 30'000}).bodies;
  const std::vector<Variant> candidates{rows_variant("auto"), tree_variant("0.7")};
  const auto measured_tree = [&](double accuracy) {
    const KernelDemand demand{.count = bodies.count(), .accuracy = accuracy};
    const ForceSystem system{bodies, {.softening = 0.01f}};
    const AccuracyTrials trials = measure_accuracy(backends(), candidates, demand, system, {});
    EXPECT_GT(trials.pilot_ms, 0);
    const TuningResult result = measure_candidates(backends(), trials, demand, system, {});
    EXPECT_EQ(result.count, bodies.count());
    EXPECT_GT(result.candidates[0].step_ms, 0);
    EXPECT_GT(result.candidates[0].forecast_from, 0) << "some thousand bodies say enough of n^2";
    return result.candidates[1].step_ms > 0;
  };
  EXPECT_TRUE(measured_tree(1e-1));
  EXPECT_TRUE(measured_tree(2e-4));
  EXPECT_FALSE(measured_tree(1e-9));
}

TEST(Candidates, FullFp32IsTriedWithFewOfManyBodies) {
  const Bodies bodies = load_scene({.scene = "plummer", .count = 200'000}).bodies;
  const KernelDemand demand{.count = bodies.count(), .accuracy = 5e-7};
  const auto begin = std::chrono::steady_clock::now();
  const AccuracyTrials trials =
      measure_accuracy(backends(), {rows_variant("auto")}, demand, {bodies, {.softening = 0.01f}}, {});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(trials.candidates[0].error);
  EXPECT_FALSE(trials.candidates[0].problem) << trials.candidates[0].problem.text;
  EXPECT_GT(trials.candidates[0].error->median, 0);
  EXPECT_LT(took.count(), 0.2 * trials.pilot_ms * 1e-3 * 1e4) << "a step with all of them takes 10,000 pilots";
}

TEST(Candidates, AreMeasuredForAsManyBodiesAsAskedForIfFew) {
  const KernelPtr kernel = find_kernel("cpu-simd");
  const TuningResult result =
      measure_candidates(backends(), {.candidates = {{{kernel, Settings{*kernel}}}}},
                         {.count = 300, .law = LawId::attract_repel, .equal_masses = false}, {Bodies{}, {}}, {});
  EXPECT_EQ(result.count, 300);
  ASSERT_EQ(result.preference().size(), 1u);
  EXPECT_GT(result.candidates[0].step_ms, 0);
  EXPECT_EQ(result.date.size(), 20u) << result.date;
}

/// On the best backend of this machine, as a window does it.
TEST(Candidates, AreMeasuredBesideAProgramThatGoesOn) {
  AutoChooser::Environment environment = AutoChooser::this_machine(backends());
  environment.cache_file.clear();
  AutoChooser chooser{std::move(environment)};
  Simulation sim{backends(),      SceneRequest{.scene = "plummer", .count = 20'000}, nullptr, nullptr, &chooser,
                 Choosing::beside};
  sim.apply(SelectKernel{auto_kernel});
  int looks = 0;
  for (; sim.measuring() && looks < 60'000; ++looks) {
    EXPECT_EQ(sim.advance_frame(looks), 0);
    sim.collect();
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  ASSERT_FALSE(sim.measuring());
  EXPECT_GT(looks, 1) << "nobody waited";
  const Status status = sim.status();
  EXPECT_EQ(status.last_error, "");
  EXPECT_EQ(status.backend, candidates_here(backends()).front().kernel->backend);
  expect_holds(status.auto_choice.value().how, {"measured"});
  EXPECT_EQ(sim.run(2).steps, 2);
}

// Which candidates meet an accuracy, with errors of the test's own.

/// A tree, and direct sums that differ by their value of `rows`.
struct AccuracyTrialsTest : testing::Test {
  void add_tree() { candidates.push_back({tree_variant("0.7")}); }

  /// A direct sum with this value of `rows`: a copy of cpu-simd that `change` changes.
  void add_sum(const char* rows, double median_error, const std::function<void(KernelInfo&)>& change) {
    KernelInfo info = *find_kernel("cpu-simd");
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
          return trial(errors_.at(value), 250);
        },
        limits);
  }

  std::vector<Candidate> candidates;
  std::vector<std::string> tried;  // values of theta, or of `rows`
  std::function<AccuracyTrial(double theta)> tree = [](double theta) {
    return trial(1e-3 * std::pow(theta, 4), 50 / (theta * theta));
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
    candidates.assign(2, {tree_variant("0.7")});
    candidates[1].variant.settings.set("leaf", "64");
    std::vector<bool> seconds;
    try_accuracy(candidates,
                 [&](const Variant& variant) {
                   const bool second = variant.settings.text("leaf") == "64";
                   seconds.push_back(second);
                   const double theta = parsed_number<double>(variant.settings.text("theta")).value();
                   return trial((second ? factor : 1) * 1e-3 * std::pow(theta, 4), 1);
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
  candidates.assign(2, {tree_variant("0.7")});
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
  const Candidate fine = with_p99(not_a_number);
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
    candidates = {{tree_variant("0.7")}, {tree_variant("0.3")}, {tree_variant("0.3")}};
    for (const std::size_t i : {1u, 2u}) candidates[i].variant.settings.set("leaf", "64");
    candidates[2].variant.settings.set("group", "32");
    orders.clear();
    try_accuracy(candidates,
                 [&](const Variant& variant) {
                   const double theta = parsed_number<double>(variant.settings.text("theta")).value();
                   const bool second = variant.settings.text("leaf") == "64";
                   orders.push_back({second, theta});
                   return trial(error_of(second, theta), 1);
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
    expect_holds(candidates[i].problem.text, {"is accurate enough"});
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
  error_of = [](bool /*second*/, double theta) { return theta < 0.063 ? 1e-9 : not_a_number; };  // the search bisects
  try_both(1e-6);
  EXPECT_EQ(orders.size(), static_cast<std::size_t>(most_setting_trials));
  EXPECT_FALSE(candidates[0].problem) << candidates[0].problem.text;
  for (const std::size_t i : {1u, 2u}) EXPECT_TRUE(candidates[i].problem.refused);
  EXPECT_FALSE(std::ranges::any_of(orders, &Tried::second));
}

TEST_F(AccuracyTrialsTest, ATreeThatNeverMeetsTheAccuracyIsRuledOutWithItsLeastError) {
  add_tree();
  tree = [](double theta) { return trial(1e-3 * theta, 50); };
  candidates.push_back({rows_variant("1")});
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
  tree = [](double theta) { return trial(1e-3 * theta, 50 / (theta * theta)); };
  try_them({.accuracy = 1e-7, .direct_ms = 150});
  EXPECT_TRUE(candidates[0].problem.refused);
  EXPECT_LE(tried.size(), 3u);
  EXPECT_GT(parsed_number<double>(tried.back()).value(), 0.1);
}

TEST_F(AccuracyTrialsTest, ATreeWithoutSuchATunableIsTriedAsItIs) {
  KernelInfo info = *tree_by_theta();
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
  add_coarse_sum("4", not_a_number);
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
  expect_holds(candidates[0].problem.text, {"cpu-tree"});
  candidates.clear();
  add_coarse_sum("1", 1e-5);
  add_tree();
  tree = [](double) { return trial(1, 1); };
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
  tree = [](double) { return trial(1e-3, 1); };
  try_them({.accuracy = 1e-8});
  EXPECT_TRUE(candidates[0].problem.refused);
  EXPECT_TRUE(candidates[1].problem.refused);
  EXPECT_FALSE(candidates[2].problem);
  EXPECT_EQ(candidates[2].error->median, 2e-7);
}

}  // namespace
}  // namespace orrery::test
