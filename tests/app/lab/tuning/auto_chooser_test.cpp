// The kernel that `auto` stands for, with measurements of the test's own.
#include "app/lab/tuning/auto_chooser.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cmath>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "compute/core/temporary_folder.h"
#include "compute/core/text.h"
#include "compute/sim/backends.h"
#include "tests/app/lab/tuning/rows_variant.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

class AutoChooserTest : public testing::Test {
 protected:
  static Variant variant(const char* rows) { return test::rows_variant(rows); }

  AutoChooser chooser() {
    return AutoChooser{{.backends = test::backends(),
                        .candidates = [this] { return candidates; },
                        .try_accuracy =
                            [this](const std::vector<Variant>& variants, const KernelDemand& demand, const ForceSystem&,
                                   const std::stop_token&) {
                              AccuracyTrials trials;
                              for (const Variant& each : variants) trials.candidates.push_back({each});
                              try_accuracy(trials.candidates, [this](const Variant& each) { return trial_of(each); },
                                           {.accuracy = demand.accuracy});
                              return trials;
                            },
                        .measure =
                            [this](const AccuracyTrials& trials, const KernelDemand& demand, const ForceSystem&,
                                   const std::stop_token&) {
                              measured.push_back(demand);
                              TuningResult result{.candidates = trials.candidates,
                                                  .count = demand.count,
                                                  .date = "2026-11-21T12:00:00Z"};
                              Candidate* last = nullptr;
                              for (Candidate& each : result.candidates) {
                                if (each.problem) continue;
                                each.step_ms = 2;
                                last = &each;
                              }
                              if (last) last->step_ms = 1;
                              if (!problem.empty()) *last = {last->variant, 0, {problem, refused}};
                              return result;
                            },
                        .cache_file = file,
                        .report = [this](const std::string& line) { said.push_back(line); }}};
  }

  AccuracyTrial trial_of(const Variant& variant) {
    ++trials_made;
    if (broken) throw std::runtime_error("it broke");
    if (!variant.kernel->is_tree) return test::trial(sum_error, 250);
    const double theta = parsed_number<double>(variant.settings.text("theta")).value();
    return test::trial(tree_error * std::pow(theta, 4), 250);
  }

  static KernelChoice choose(AutoChooser chooser, const KernelDemand& demand) {
    return chooser.choose(demand, {no_bodies, {}}, {});
  }

  static inline const Bodies no_bodies{};
  std::string problem;  // of the last candidate
  bool refused = false;
  std::vector<Variant> candidates{variant("auto"), variant("4")};
  std::vector<KernelDemand> measured;
  int trials_made = 0;
  double tree_error = 4e-4;  // of a tree with theta 1 and the bodies at hand; it varies with the 4th power
  double sum_error = 1e-7;   // of the direct sums
  bool broken = false;       // every trial fails
  std::vector<std::string> said;
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "auto-kernels.json";
};

TEST_F(AutoChooserTest, TakesTheFastestAndSaysWhy) {
  const KernelChoice choice = choose(chooser(), {.count = 1000});
  EXPECT_STREQ(choice.kernel->id, "cpu-simd");
  EXPECT_EQ(choice.settings.text("rows"), "4");
  EXPECT_EQ(name_of(choice), "auto: cpu-simd rows=4");
  for (const char* part : {"1,000 bodies", "2026-11-21", "by this run", "cpu-simd: 2 ms", "cpu-simd rows=4: 1 ms"}) {
    EXPECT_NE(choice.how.find(part), std::string::npos) << part << " is not in " << choice.how;
  }
  EXPECT_TRUE(said.empty());
}

TEST_F(AutoChooserTest, AsksForTheCandidatesOfEachChoice) {
  AutoChooser one = chooser();
  EXPECT_EQ(name_of(one.choose({.count = 1000}, {no_bodies, {}}, {})), "auto: cpu-simd rows=4");
  candidates.push_back(variant("2"));
  EXPECT_EQ(name_of(one.choose({.count = 1000}, {no_bodies, {}}, {})), "auto: cpu-simd rows=2");
}

TEST_F(AutoChooserTest, TakesKernelsThatGiveJerksForIntegratorsThatNeedThem) {
  const KernelPtr with_jerks = test::find_kernel("cpu-jerk");
  candidates.push_back({with_jerks, Settings{*with_jerks}});
  EXPECT_STREQ(choose(chooser(), {.count = 1000, .jerks = true}).kernel->id, "cpu-jerk");
  EXPECT_STREQ(choose(chooser(), {.count = 1000}).kernel->id, "cpu-simd");
  EXPECT_EQ(measured.size(), 2u) << "the cache tells the two apart";
  candidates = {variant("auto")};
  EXPECT_TRUE(choose(chooser(), {.count = 1000, .jerks = true}).kernel->gives_jerks) << "the default";
}

TEST_F(AutoChooserTest, MeasuresOnceForARangeOfNumbersAndALaw) {
  AutoChooser first = chooser();
  for (const int count : {4096, 4100, 4000}) first.choose({.count = count}, {no_bodies, {}}, {});
  EXPECT_EQ(measured.size(), 1u);
  first.choose({.count = 8192}, {no_bodies, {}}, {});
  EXPECT_EQ(measured.size(), 2u);
  first.choose({.count = 4096, .law = LawId::attract_repel}, {no_bodies, {}}, {});
  EXPECT_EQ(measured.size(), 3u);
  first.choose({.count = 4096, .law = LawId::attract_repel, .equal_masses = false}, {no_bodies, {}}, {});
  EXPECT_EQ(measured.size(), 4u);

  AutoChooser later = chooser();
  const KernelChoice choice = later.choose({.count = 4096}, {no_bodies, {}}, {});
  EXPECT_EQ(measured.size(), 4u) << "the cache knows";
  EXPECT_EQ(choice.settings.text("rows"), "4");
  EXPECT_NE(choice.how.find(file.string()), std::string::npos) << choice.how;
}

TEST_F(AutoChooserTest, AllNumbersAboveTheMostMeasuredAreOneRange) {
  EXPECT_EQ(tuning_key(test::backends(), {.count = 8192}, Backend::cpu),
            tuning_key(test::backends(), {.count = 1'000'000}, Backend::cpu));
  EXPECT_NE(tuning_key(test::backends(), {.count = 8192}, Backend::cuda),
            tuning_key(test::backends(), {.count = 1'000'000}, Backend::cuda));
  EXPECT_NE(tuning_key(test::backends(), {.count = 8192}, Backend::cpu),
            tuning_key(test::backends(), {.count = 8192}, Backend::cuda));
  for (int count = 1; count < 5000; ++count) {
    const Json key = tuning_key(test::backends(), {.count = count}, Backend::cpu);
    const int about = key["bodies_about"].get<int>();
    EXPECT_NEAR(about, count, 0.2 * count + 0.5);
    EXPECT_EQ(tuning_key(test::backends(), {.count = about}, Backend::cpu), key) << count;
    if (count > 100) count += 97;
  }
}

TEST_F(AutoChooserTest, TreesAreCandidatesAboveAFewThousandBodiesUnlessItIsToBeExact) {
  candidates = {variant("auto"), test::tree_variant("0.8")};
  EXPECT_STREQ(choose(chooser(), {.count = 100'000, .accuracy = 5e-4}).kernel->id, "cpu-tree");
  EXPECT_STREQ(choose(chooser(), {.count = 1000, .accuracy = 5e-4}).kernel->id, "cpu-simd");
  EXPECT_STREQ(choose(chooser(), {.count = 100'000, .accuracy = 0}).kernel->id, "cpu-simd");
  EXPECT_EQ(measured.size(), 3u);
}

TEST_F(AutoChooserTest, KeepsOneResultForEachAccuracy) {
  candidates = {variant("auto"), test::tree_variant("0.8")};
  for (int again = 0; again < 2; ++again) {
    for (const double accuracy : {5e-4, 1e-3, 0.0}) choose(chooser(), {.count = 100'000, .accuracy = accuracy});
    EXPECT_EQ(measured.size(), 3u);
  }
  choose(chooser(), {.count = 1'000'000, .accuracy = 1e-3});
  EXPECT_EQ(measured.size(), 4u) << "trees are measured with all bodies";
  choose(chooser(), {.count = 1'000'000, .accuracy = 0});
  EXPECT_EQ(measured.size(), 4u) << "direct sums are not";
  EXPECT_EQ(tuning_key(test::backends(), {.count = 1000, .accuracy = 1e-3}, Backend::cpu),
            tuning_key(test::backends(), {.count = 1000}, Backend::cpu));
}

/// Systems of one size at an accuracy of 5e-4, with a tree.
class AutoChooserTreesTest : public AutoChooserTest {
 protected:
  AutoChooserTreesTest() { candidates = {variant("auto"), test::tree_variant("0.7")}; }

  /// The name of what is chosen for bodies for which a tree with this theta has 86 % of the accuracy; 0: no tree has.
  std::string choose_with(double theta) {
    tree_error = theta > 0 ? 4.3e-4 / std::pow(theta, 4) : 1e9;
    trials_made = 0;
    measured.clear();
    const KernelChoice choice = choose(chooser(), {.count = 100'000, .accuracy = 5e-4});
    how = choice.how;
    return name_of(choice);
  }

  std::string how;  // the latest choice was made
};

TEST_F(AutoChooserTreesTest, FindsTheSettingsOfTheTreeForTheBodiesAtHand) {
  EXPECT_EQ(choose_with(0), "auto: cpu-simd");
  EXPECT_EQ(choose_with(0.7), "auto: cpu-tree");
  EXPECT_EQ(trials_made, 1) << "its initial settings just meet the accuracy";
  EXPECT_EQ(choose_with(0.35), "auto: cpu-tree theta=0.35");
  EXPECT_EQ(choose_with(2), "auto: cpu-tree theta=1.0");
  EXPECT_EQ(choose_with(0), "auto: cpu-simd");
}

TEST_F(AutoChooserTreesTest, IfTheSearchFindsTheSameSettingsNothingIsTimedAgain) {
  for (const bool again : {false, true}) {
    for (const double theta : {0.0, 0.5, 0.7}) {
      choose_with(theta);
      EXPECT_GT(trials_made, 0) << "for each choice";
      EXPECT_EQ(measured.size(), again ? 0u : 1u) << "systems that alternate each have their result";
    }
  }
}

TEST_F(AutoChooserTreesTest, SaysThatErrorsAreOfNowAndTimesOfThen) {
  choose_with(0.7);
  EXPECT_EQ(how.find("measured now"), std::string::npos) << how;
  choose_with(0.704);
  for (const char* part : {"measured 2026-11-21", "errors measured now",
                           "cpu-tree theta=0.7 tolerance=off: 1 ms, median error 0.00042, p99 "}) {
    EXPECT_NE(how.find(part), std::string::npos) << part << " is not in " << how;
  }
  EXPECT_EQ(how.find("0.00043"), std::string::npos) << how;
}

TEST_F(AutoChooserTreesTest, OneThatFailsAtATrialIsNamedAndMeasuredAgainNextTime) {
  EXPECT_EQ(choose_with(0), "auto: cpu-simd");
  broken = true;
  for (const bool again : {false, true}) {
    said.clear();
    EXPECT_EQ(choose_with(0.7), "auto: cpu-simd");
    EXPECT_EQ(measured.size(), 1u) << again << ": perhaps it was the moment";
    ASSERT_EQ(said.size(), 1u);
    EXPECT_NE(said[0].find("it broke"), std::string::npos) << said[0];
    EXPECT_NE(how.find("cpu-tree: it broke"), std::string::npos) << how;
  }
  broken = false;
  choose_with(0);
  EXPECT_TRUE(measured.empty()) << "the earlier result still counts";
}

TEST_F(AutoChooserTreesTest, SaysThatNothingMeetsTheAccuracy) {
  tree_error = 1e9;
  sum_error = 3e-7;
  const KernelChoice choice = choose(chooser(), {.count = 100'000, .accuracy = 1e-7});
  EXPECT_EQ(name_of(choice), "auto: cpu-simd");
  EXPECT_NE(choice.how.find("No candidate has a median error of at most 9e-08"), std::string::npos) << choice.how;
  sum_error = 5e-8;
  EXPECT_EQ(choose(chooser(), {.count = 100'000, .accuracy = 1e-7}).how.find("No candidate"), std::string::npos);
  EXPECT_EQ(measured.size(), 2u) << "another list of variants meets the accuracy";
}

TEST_F(AutoChooserTest, CountsTheProcessorsThatThisProcessMayUse) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(tuning_key(test::backends(), {.count = 100}, Backend::cpu)["cpu_threads"], 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(tuning_key(test::backends(), {.count = 100}, Backend::cpu)["cpu_threads"], CPU_COUNT(&all));
}

TEST_F(AutoChooserTest, NamesOneThatFailsAndMeasuresItAgainNextTime) {
  problem = "it broke";
  const KernelChoice choice = choose(chooser(), {.count = 1000});
  EXPECT_EQ(choice.settings.text("rows"), "auto");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("cpu-simd rows=4"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("it broke"), std::string::npos) << said[0];
  EXPECT_NE(choice.how.find("it broke"), std::string::npos) << choice.how;
  choose(chooser(), {.count = 1000});
  EXPECT_EQ(measured.size(), 2u) << "perhaps it was the moment";
}

TEST_F(AutoChooserTest, KeepsThatOneCannotRunHere) {
  problem = "no room";
  refused = true;
  choose(chooser(), {.count = 1000});
  EXPECT_EQ(choose(chooser(), {.count = 1000}).settings.text("rows"), "auto");
  EXPECT_EQ(measured.size(), 1u);
  EXPECT_TRUE(said.empty());
}

TEST_F(AutoChooserTest, IsTheDefaultWhereNothingCanBeMeasured) {
  candidates = {variant("4")};
  problem = "it broke";
  EXPECT_EQ(choose(chooser(), {.count = 1000}).kernel, test::backends().default_kernel());
  candidates.clear();
  const KernelChoice choice = choose(chooser(), {.count = 1000});
  EXPECT_EQ(choice.kernel, test::backends().default_kernel());
  EXPECT_FALSE(choice.how.empty());
}

TEST_F(AutoChooserTest, SaysWhatIsWrongWithTheCacheAndGoesOn) {
  std::ofstream{file} << "rubbish";
  EXPECT_EQ(choose(chooser(), {.count = 1000}).settings.text("rows"), "4");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find(file.string()), std::string::npos) << said[0];
}

}  // namespace
}  // namespace orrery
