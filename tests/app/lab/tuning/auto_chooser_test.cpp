// The kernel that `auto` stands for, with measurements of the test's own.
#include "app/lab/tuning/auto_chooser.h"

#include <sched.h>
#include <unistd.h>

#include "app/text/input_file.h"
#include "compute/core/text.h"
#include "compute/sim/backends.h"
#include "tests/app/lab/tuning/rows_variant.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

struct AutoChooserTest : testing::Test {
  static Variant variant(const char* rows) { return rows_variant(rows); }

  AutoChooser chooser() {
    return AutoChooser{{.backends = backends(),
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
    if (!variant.kernel->is_tree) return trial(sum_error, 250);
    const double theta = parsed_number<double>(variant.settings.text("theta")).value();
    return trial(tree_error * std::pow(theta, 4), 250);
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
  expect_holds(choice.how, {"1,000 bodies", "2026-11-21", "by this run", "cpu-simd: 2 ms", "cpu-simd rows=4: 1 ms"});
  EXPECT_TRUE(said.empty());
}

TEST_F(AutoChooserTest, AsksForTheCandidatesOfEachChoice) {
  AutoChooser one = chooser();
  EXPECT_EQ(name_of(one.choose({.count = 1000}, {no_bodies, {}}, {})), "auto: cpu-simd rows=4");
  candidates.push_back(variant("2"));
  EXPECT_EQ(name_of(one.choose({.count = 1000}, {no_bodies, {}}, {})), "auto: cpu-simd rows=2");
}

TEST_F(AutoChooserTest, TakesKernelsThatGiveJerksForIntegratorsThatNeedThem) {
  const KernelPtr with_jerks = find_kernel("cpu-jerk");
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
  expect_holds(choice.how, {file.string()});
}

TEST_F(AutoChooserTest, AllNumbersAboveTheMostMeasuredAreOneRange) {
  EXPECT_EQ(tuning_key(backends(), {.count = 8192}, Backend::cpu),
            tuning_key(backends(), {.count = 1'000'000}, Backend::cpu));
  EXPECT_NE(tuning_key(backends(), {.count = 8192}, Backend::cuda),
            tuning_key(backends(), {.count = 1'000'000}, Backend::cuda));
  EXPECT_NE(tuning_key(backends(), {.count = 8192}, Backend::cpu),
            tuning_key(backends(), {.count = 8192}, Backend::cuda));
  for (int count = 1; count < 5000; ++count) {
    const Json key = tuning_key(backends(), {.count = count}, Backend::cpu);
    const int about = key["bodies_about"].get<int>();
    EXPECT_NEAR(about, count, 0.2 * count + 0.5);
    EXPECT_EQ(tuning_key(backends(), {.count = about}, Backend::cpu), key) << count;
    if (count > 100) count += 97;
  }
}

TEST_F(AutoChooserTest, TreesAreCandidatesAboveAFewThousandBodiesUnlessItIsToBeExact) {
  candidates = {variant("auto"), tree_variant("0.8")};
  EXPECT_STREQ(choose(chooser(), {.count = 100'000, .accuracy = 5e-4}).kernel->id, "cpu-tree");
  EXPECT_STREQ(choose(chooser(), {.count = 1000, .accuracy = 5e-4}).kernel->id, "cpu-simd");
  EXPECT_STREQ(choose(chooser(), {.count = 100'000, .accuracy = 0}).kernel->id, "cpu-simd");
  EXPECT_EQ(measured.size(), 3u);
}

TEST_F(AutoChooserTest, KeepsOneResultForEachAccuracy) {
  candidates = {variant("auto"), tree_variant("0.8")};
  for (int again = 0; again < 2; ++again) {
    for (const double accuracy : {5e-4, 1e-3, 0.0}) choose(chooser(), {.count = 100'000, .accuracy = accuracy});
    EXPECT_EQ(measured.size(), 3u);
  }
  choose(chooser(), {.count = 1'000'000, .accuracy = 1e-3});
  EXPECT_EQ(measured.size(), 4u) << "trees are measured with all bodies";
  choose(chooser(), {.count = 1'000'000, .accuracy = 0});
  EXPECT_EQ(measured.size(), 4u) << "direct sums are not";
  EXPECT_EQ(tuning_key(backends(), {.count = 1000, .accuracy = 1e-3}, Backend::cpu),
            tuning_key(backends(), {.count = 1000}, Backend::cpu));
}

/// Systems of one size at an accuracy of 5e-4, with a tree.
class AutoChooserTreesTest : public AutoChooserTest {
 protected:
  AutoChooserTreesTest() { candidates = {variant("auto"), tree_variant("0.7")}; }

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
  expect_lacks(how, {"measured now"});
  choose_with(0.704);
  expect_holds(how, {"measured 2026-11-21", "errors measured now",
                     "cpu-tree theta=0.7 tolerance=off: 1 ms, median error 0.00042, p99 "});
  expect_lacks(how, {"0.00043"});
}

TEST_F(AutoChooserTreesTest, OneThatFailsAtATrialIsNamedAndMeasuredAgainNextTime) {
  EXPECT_EQ(choose_with(0), "auto: cpu-simd");
  broken = true;
  for (const bool again : {false, true}) {
    said.clear();
    EXPECT_EQ(choose_with(0.7), "auto: cpu-simd");
    EXPECT_EQ(measured.size(), 1u) << again << ": perhaps it was the moment";
    ASSERT_EQ(said.size(), 1u);
    expect_holds(said[0], {"it broke"});
    expect_holds(how, {"cpu-tree: it broke"});
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
  expect_holds(choice.how, {"No candidate has a median error of at most 9e-08"});
  sum_error = 5e-8;
  expect_lacks(choose(chooser(), {.count = 100'000, .accuracy = 1e-7}).how, {"No candidate"});
  EXPECT_EQ(measured.size(), 2u) << "another list of variants meets the accuracy";
}

TEST_F(AutoChooserTest, CountsTheProcessorsThatThisProcessMayUse) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(tuning_key(backends(), {.count = 100}, Backend::cpu)["cpu_threads"], 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(tuning_key(backends(), {.count = 100}, Backend::cpu)["cpu_threads"], CPU_COUNT(&all));
}

TEST_F(AutoChooserTest, NamesOneThatFailsAndMeasuresItAgainNextTime) {
  problem = "it broke";
  const KernelChoice choice = choose(chooser(), {.count = 1000});
  EXPECT_EQ(choice.settings.text("rows"), "auto");
  ASSERT_EQ(said.size(), 1u);
  expect_holds(said[0], {"cpu-simd rows=4", "it broke"});
  expect_holds(choice.how, {"it broke"});
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
  EXPECT_EQ(choose(chooser(), {.count = 1000}).kernel, backends().default_kernel());
  candidates.clear();
  const KernelChoice choice = choose(chooser(), {.count = 1000});
  EXPECT_EQ(choice.kernel, backends().default_kernel());
  EXPECT_FALSE(choice.how.empty());
}

TEST_F(AutoChooserTest, SaysWhatIsWrongWithTheCacheAndGoesOn) {
  std::ofstream{file} << "rubbish";
  EXPECT_EQ(choose(chooser(), {.count = 1000}).settings.text("rows"), "4");
  ASSERT_EQ(said.size(), 1u);
  expect_holds(said[0], {file.string()});
}

// Choices of kernels from one run to the next.

struct ChoiceCacheTest : testing::Test {
  /// The cache as another run of the program sees it.
  ChoiceCache another_run() const { return {catalog(), file}; }
  static Variant variant(const char* rows) { return rows_variant(rows); }

  static TuningResult result(double first_ms = 0.125) {
    return {.candidates = {{variant("auto"), first_ms},
                           {variant("1"), 0.25},
                           {variant("2"), 0, {"no room", /*refused=*/true}}},
            .count = 1000,
            .date = "2026-11-21T12:00:00Z"};
  }

  static std::vector<Variant> candidates() { return {variant("auto"), variant("1"), variant("2")}; }

  void expect_of_no_use(const std::string& content) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file} << content;
    ChoiceCache cache{catalog(), file};
    EXPECT_FALSE(cache.find(key, candidates())) << content;
    const std::string problem = cache.take_problem();
    expect_holds(problem, {file.string()});
    expect_lacks(problem, {"\n"});
    cache.store(key, result());
    EXPECT_EQ(cache.take_problem(), "") << "told once";
    EXPECT_TRUE(another_run().find(key, candidates())) << "written anew";
  }

  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "orrery" / "auto-kernels.json";
  const Json key{{"gpu", "a GPU"}, {"law", "gravity"}, {"bodies_about", 1024}};
};

TEST_F(ChoiceCacheTest, KeepsATuningResultForTheNextRun) {
  another_run().store(key, result());
  ChoiceCache cache{catalog(), file};
  const auto found = cache.find(key, candidates());
  ASSERT_TRUE(found);
  EXPECT_EQ(cache.take_problem(), "");
  EXPECT_EQ(found->count, 1000);
  EXPECT_EQ(found->date, "2026-11-21T12:00:00Z");
  ASSERT_EQ(found->candidates.size(), 3u);
  EXPECT_EQ(found->candidates[0].variant.settings, variant("auto").settings);
  EXPECT_EQ(found->candidates[0].step_ms, 0.125);
  EXPECT_EQ(found->candidates[2].problem.text, "no room");
  EXPECT_EQ(found->preference(), result().preference());
  EXPECT_FALSE(cache.find({{"gpu", "another"}}, candidates()));
}

TEST_F(ChoiceCacheTest, KeepsNoResultOfAKernelThatWasAddedOrReplaced) {
  another_run().store(key, result());
  KernelCatalog catalog;
  const KernelPtr replaced = catalog.put(*variant("auto").kernel);
  TuningResult of_replaced = result();
  std::vector<Variant> variants;
  for (Candidate& candidate : of_replaced.candidates) {
    candidate.variant.kernel = replaced;
    variants.push_back(candidate.variant);
  }
  ChoiceCache cache{catalog, file};
  EXPECT_FALSE(cache.find(key, variants)) << "that was the built-in one";
  cache.store(key, of_replaced);
  EXPECT_FALSE(cache.find(key, variants));
  EXPECT_EQ(cache.take_problem(), "");
  EXPECT_TRUE(another_run().find(key, candidates())) << "the built-in one's result stays";
}

TEST_F(ChoiceCacheTest, KeepsErrorsOfTreesAndWhatIsForecast) {
  TuningResult stored = result();
  stored.candidates[0].forecast_from = 512;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  stored.candidates[1].error = ForceError{.rms = nan, .median = 4.25e-4, .p99 = 2e-3, .max = 0.03};
  stored.candidates[2].error = ForceError{nan, nan, nan, nan};
  another_run().store(key, stored);
  const auto found = another_run().find(key, candidates());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->candidates[0].forecast_from, 512);
  EXPECT_FALSE(found->candidates[0].error);
  EXPECT_EQ(found->candidates[1].forecast_from, 0);
  EXPECT_EQ(found->candidates[1].error->median, 4.25e-4);
  EXPECT_EQ(found->candidates[1].error->p99, 2e-3);
  EXPECT_EQ(found->candidates[1].error->max, 0.03);
  EXPECT_FALSE(found->candidates[2].error) << "no number";
}

TEST_F(ChoiceCacheTest, AChoiceByTheMedianAloneIsNotBelieved) {
  TuningResult stored = result();
  stored.candidates[1].error = ForceError{.rms = 0, .median = 4.25e-4, .p99 = 0, .max = 0};
  another_run().store(key, stored);
  ASSERT_TRUE(another_run().find(key, candidates()));
  Json json = read_json(file.string());
  for (Json& candidate : json["choices"][0]["candidates"]) candidate.erase("p99_error");
  std::ofstream{file} << json;
  EXPECT_FALSE(another_run().find(key, candidates())) << "an earlier version wrote it";
}

TEST_F(ChoiceCacheTest, TheLatestTuningResultCounts) {
  ChoiceCache cache{catalog(), file};
  cache.store(key, result());
  cache.store(key, result(0.5));
  EXPECT_EQ(cache.find(key, candidates())->candidates[0].step_ms, 0.5);
  EXPECT_EQ(another_run().entries().size(), 1u);
}

TEST_F(ChoiceCacheTest, RunsAtOneTimeKeepEachOthersTuningResults) {
  const Json other{{"gpu", "another"}};
  ChoiceCache a{catalog(), file}, b{catalog(), file};
  EXPECT_FALSE(a.find(key, candidates()));
  EXPECT_FALSE(b.find(key, candidates()));
  a.store(key, result());
  b.store(other, result());
  EXPECT_EQ(another_run().entries().size(), 2u);
  EXPECT_TRUE(b.find(key, candidates()));
}

TEST_F(ChoiceCacheTest, OtherCandidatesAreMeasuredAnew) {
  another_run().store(key, result());
  ChoiceCache cache{catalog(), file};
  EXPECT_FALSE(cache.find(key, {variant("auto"), variant("1")}));
  EXPECT_FALSE(cache.find(key, {variant("1"), variant("auto"), variant("2")})) << "the first is preferred";
  EXPECT_EQ(cache.take_problem(), "");
}

TEST_F(ChoiceCacheTest, KernelsAndSettingsThatAreGoneAreLeftOut) {
  another_run().store(key, result());
  const std::string whole = contents(file);
  for (const auto& [is, was] : {std::pair{"cpu-simd", "cpu-gone"},
                                {"rows=1", "rows=9"},
                                {"rows=1", "wings=1"},
                                {"\"candidates\"", "\"contenders\""}}) {
    std::string old = whole;
    old.replace(old.find(is), std::string{is}.size(), was);
    std::ofstream{file} << old;
    ChoiceCache cache{catalog(), file};
    EXPECT_FALSE(cache.find(key, candidates())) << was;
    EXPECT_EQ(cache.take_problem(), "") << "another build's, or version 0.1.0's";
  }
}

TEST_F(ChoiceCacheTest, WhatIsNoCacheIsOfNoUseAndWrittenAnew) {
  another_run().store(key, result());
  const std::string whole = contents(file);
  expect_of_no_use("");
  expect_of_no_use("{");
  expect_of_no_use("[1, 2]");
  expect_of_no_use("\x01\xff");
  expect_of_no_use(whole.substr(0, whole.size() / 2));
  expect_of_no_use(R"({"program": "another", "format": 1, "choices": []})");
  expect_of_no_use(std::string(300'000, '['));
  std::string nested = whole;
  const std::string before = "\"gpu\": ";
  ASSERT_NE(nested.find(before), std::string::npos);
  nested.insert(nested.find(before) + before.size(),
                std::string(300'000, '[') + std::string(300'000, ']') + ", \"b\":");
  expect_of_no_use(nested);
}

TEST_F(ChoiceCacheTest, LeavesOutNumbersOfBodiesThatThereCannotBe) {
  TuningResult stored = result();
  stored.candidates[0].forecast_from = 512;
  another_run().store(key, stored);
  const std::string whole = contents(file);
  for (const std::string was : {"\"bodies\": 1000", "\"forecast_from\": 512"}) {
    for (const std::string& number : "1e300 -1e300 4294968296 0 1000.5"_words) {
      std::string damaged = whole;
      ASSERT_NE(damaged.find(was), std::string::npos) << damaged;
      damaged.replace(damaged.find(was), was.size(), was.substr(0, was.find(' ')) + number);
      std::ofstream{file} << damaged;
      EXPECT_FALSE(another_run().find(key, candidates())) << was << " became " << number;
    }
  }
}

TEST_F(ChoiceCacheTest, ReadsTheLatestOfMany) {
  another_run().store(key, result());
  Json whole = Json::parse(contents(file));
  const Json row = whole["choices"][0];
  for (int i = 0; i < 1000; ++i) whole["choices"].push_back(row);
  whole["choices"].back()["date"] = "last";
  std::ofstream{file} << whole;
  ChoiceCache cache{catalog(), file};
  EXPECT_EQ(cache.entries().size(), 200u);
  EXPECT_EQ(cache.find(key, candidates())->date, "last");
}

TEST_F(ChoiceCacheTest, LeavesTheFileOfAnotherVersionAsItIs) {
  const std::string theirs = R"({"program": "orrery", "format": 99, "choices": []})";
  std::filesystem::create_directories(file.parent_path());
  std::ofstream{file} << theirs;
  ChoiceCache cache{catalog(), file};
  EXPECT_FALSE(cache.find(key, candidates()));
  expect_holds(cache.take_problem(), {"another version"});
  cache.store(key, result());
  EXPECT_EQ(cache.take_problem(), "") << "told once";
  EXPECT_TRUE(cache.find(key, candidates())) << "for this run";
  EXPECT_EQ(contents(file), theirs);
}

TEST_F(ChoiceCacheTest, ADamagedTuningResultLeavesTheOthers) {
  another_run().store(key, result());
  std::string damaged = contents(file);
  const std::string before = "\"choices\": [";
  ASSERT_NE(damaged.find(before), std::string::npos) << damaged;
  damaged.insert(damaged.find(before) + before.size(), R"({"key": {}, "date": 7}, 5, )");
  std::ofstream{file} << damaged;
  EXPECT_TRUE(another_run().find(key, candidates()));
}

TEST_F(ChoiceCacheTest, SharesNoTemporaryFileWithAProcessOfAnEqualNumber) {
  ChoiceCache cache{catalog(), file};
  cache.store(key, result());
  const std::string theirs = file.string() + "." + std::to_string(getpid());
  std::ofstream{theirs} << "being written";
  cache.store(key, result());
  EXPECT_EQ(contents(theirs), "being written");
}

TEST_F(ChoiceCacheTest, NoTimeThatIsNotTrueIsTakenIn) {
  another_run().store(key, result());
  const std::string whole = contents(file);
  for (const char* time : {"0.0", "-1.0", "1e999"}) {
    std::string wrong = whole;
    wrong.replace(wrong.find("0.125"), 5, time);
    std::ofstream{file} << wrong;
    EXPECT_FALSE(another_run().find(key, candidates())) << time;
  }
}

TEST_F(ChoiceCacheTest, WithoutAPlaceItHoldsForOneRun) {
  ChoiceCache cache{catalog(), {}};
  cache.store(key, result());
  EXPECT_TRUE(cache.find(key, candidates()));
  EXPECT_EQ(cache.take_problem(), "");

  std::ofstream{folder / "file"} << "in the way";
  ChoiceCache blocked{catalog(), folder / "file" / "auto-kernels.json"};
  EXPECT_FALSE(blocked.find(key, candidates()));
  blocked.store(key, result());
  const std::string problem = blocked.take_problem();
  expect_holds(problem, {"cannot be cached"});
  expect_lacks(problem, {"\n"});
  EXPECT_TRUE(blocked.find(key, candidates()));
}

TEST_F(ChoiceCacheTest, LeavesNothingElseInItsFolder) {
  ChoiceCache cache{catalog(), file};
  for (int i = 0; i < 3; ++i) cache.store({{"bodies_about", i}}, result());
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator{file.parent_path()})
    files += entry.path() == file ? 1 : 9;
  EXPECT_EQ(files, 1);
}

TEST_F(ChoiceCacheTest, LiesWhereTheUsersCachesLie) {
  const Variable home{"HOME", "/somebody"};
  for (const auto& [caches, file] : {std::pair{"/caches", "/caches/orrery/auto-kernels.json"},
                                     {"caches", "/somebody/.cache/orrery/auto-kernels.json"},  // no relative path
                                     {nullptr, "/somebody/.cache/orrery/auto-kernels.json"}}) {
    const Variable cache{"XDG_CACHE_HOME", caches};
    EXPECT_EQ(usual_cache_file(), file);
  }
  const Variable homeless{"HOME", nullptr}, cache{"XDG_CACHE_HOME", nullptr};
  EXPECT_EQ(usual_cache_file(), "");
}

}  // namespace
}  // namespace orrery::test
