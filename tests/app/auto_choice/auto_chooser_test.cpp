// What `auto` stands for, with measurements of the test's own.
#include "app/auto_choice/auto_chooser.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <limits>
#include <stdexcept>

#include "app/auto_choice/measure_contest.h"
#include "compute/scenes/scene.h"
#include "compute/sim/backends.h"
#include "tests/app/auto_choice/rows_variant.h"
#include "tests/compute/support/temporary_folder.h"

namespace orrery {
namespace {

class AutoChooserTest : public testing::Test {
 protected:
  static Variant variant(const char* rows) { return test::rows_variant(rows); }

  AutoChooser chooser() {
    return AutoChooser{
        {.contenders = contenders,
         .measure =
             [this](const std::vector<Variant>& variants, const KernelDemand& demand, const ForceSystem&) {
               measured.push_back(demand);
               Contest contest{.contenders = {}, .count = demand.count, .date = "2026-11-21T12:00:00Z"};
               for (const Variant& each : variants) contest.contenders.push_back({each, 2});
               contest.contenders.back().step_ms = 1;
               if (!problem.empty()) {
                 contest.contenders.back() = {variants.back(), 0, problem, refused};
               }
               return contest;
             },
         .measure_error =
             [this](const Variant& variant, const ForceSystem&) {
               tried.push_back(variant.settings.text("theta"));
               if (broken) throw std::runtime_error("it broke");
               return error;
             },
         .cache_file = file,
         .say = [this](const std::string& line) { said.push_back(line); }}};
  }

  static KernelChoice choose(AutoChooser chooser, const KernelDemand& demand) {
    return chooser.choose(demand, {no_bodies, {}});
  }

  static inline const Bodies no_bodies{};
  std::string problem;  // of the last contender
  bool refused = false;
  std::vector<Variant> contenders{variant("auto"), variant("4")};
  std::vector<KernelDemand> measured;
  std::vector<std::string> tried;  // the trees of contests that were kept
  double error = 1e-4;             // of them
  bool broken = false;
  std::vector<std::string> said;
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "auto-kernels.json";
};

TEST_F(AutoChooserTest, TakesTheFastestAndSaysWhy) {
  const KernelChoice choice = choose(chooser(), {.count = 1000});
  EXPECT_STREQ(choice.kernel->id, "cpu-simd");
  EXPECT_EQ(choice.settings.text("rows"), "4");
  EXPECT_EQ(name_of(choice), "auto: cpu-simd rows=4");
  for (const char* part : {"1000 bodies", "2026-11-21", "by this run", "cpu-simd: 2 ms", "cpu-simd rows=4: 1 ms"}) {
    EXPECT_NE(choice.how.find(part), std::string::npos) << part << " is not in " << choice.how;
  }
  EXPECT_TRUE(said.empty());
}

TEST_F(AutoChooserTest, MeasuresOnceForARangeOfNumbersAndALaw) {
  AutoChooser first = chooser();
  for (const int count : {4096, 4100, 4000}) first.choose({.count = count}, {no_bodies, {}});
  EXPECT_EQ(measured.size(), 1u);
  first.choose({.count = 8192}, {no_bodies, {}});
  EXPECT_EQ(measured.size(), 2u);
  first.choose({.count = 4096, .law = LawId::attract_repel}, {no_bodies, {}});
  EXPECT_EQ(measured.size(), 3u);
  first.choose({.count = 4096, .law = LawId::attract_repel, .equal_masses = false}, {no_bodies, {}});
  EXPECT_EQ(measured.size(), 4u);

  AutoChooser later = chooser();
  const KernelChoice choice = later.choose({.count = 4096}, {no_bodies, {}});
  EXPECT_EQ(measured.size(), 4u) << "the cache knows";
  EXPECT_EQ(choice.settings.text("rows"), "4");
  EXPECT_NE(choice.how.find(file.string()), std::string::npos) << choice.how;
}

TEST_F(AutoChooserTest, AllNumbersAboveTheMostMeasuredAreOneRange) {
  EXPECT_EQ(contest_key({.count = 8192}, Backend::cpu), contest_key({.count = 1'000'000}, Backend::cpu));
  EXPECT_NE(contest_key({.count = 8192}, Backend::cuda), contest_key({.count = 1'000'000}, Backend::cuda));
  EXPECT_NE(contest_key({.count = 8192}, Backend::cpu), contest_key({.count = 8192}, Backend::cuda));
  for (int count = 1; count < 5000; ++count) {
    const Json key = contest_key({.count = count}, Backend::cpu);
    const int about = key["bodies_about"].get<int>();
    EXPECT_NEAR(about, count, 0.2 * count + 0.5);
    EXPECT_EQ(contest_key({.count = about}, Backend::cpu), key) << count;
    if (count > 100) count += 97;
  }
}

TEST_F(AutoChooserTest, TreesStandAboveAFewThousandBodiesUnlessItIsToBeExact) {
  contenders = {variant("auto"), test::tree_variant("0.7")};
  EXPECT_STREQ(choose(chooser(), {.count = 100'000, .accuracy = 5e-4}).kernel->id, "cpu-tree");
  EXPECT_STREQ(choose(chooser(), {.count = 1000, .accuracy = 5e-4}).kernel->id, "cpu-simd");
  EXPECT_STREQ(choose(chooser(), {.count = 100'000, .accuracy = 0}).kernel->id, "cpu-simd");
  EXPECT_EQ(measured.size(), 3u);
}

TEST_F(AutoChooserTest, KeepsOneContestForEachAccuracy) {
  contenders = {variant("auto"), test::tree_variant("0.7")};
  for (int again = 0; again < 2; ++again) {
    for (const double accuracy : {5e-4, 1e-3, 0.0}) choose(chooser(), {.count = 100'000, .accuracy = accuracy});
    EXPECT_EQ(measured.size(), 3u);
  }
  choose(chooser(), {.count = 1'000'000, .accuracy = 1e-3});
  EXPECT_EQ(measured.size(), 4u) << "trees are measured with all bodies";
  choose(chooser(), {.count = 1'000'000, .accuracy = 0});
  EXPECT_EQ(measured.size(), 4u) << "direct sums are not";
  EXPECT_EQ(contest_key({.count = 1000, .accuracy = 1e-3}, Backend::cpu), contest_key({.count = 1000}, Backend::cpu));
}

TEST_F(AutoChooserTest, TriesATreeThatWonBeforeWithTheBodiesAtHand) {
  contenders = {variant("auto"), test::tree_variant("0.7")};
  const KernelDemand demand{.count = 100'000, .accuracy = 5e-4};
  choose(chooser(), demand);
  EXPECT_TRUE(tried.empty()) << "the contest has just done so";
  const KernelChoice kept = choose(chooser(), demand);
  EXPECT_EQ(tried, std::vector<std::string>{"0.7"});
  EXPECT_NE(kept.how.find("median error 0.0001"), std::string::npos) << kept.how;
  EXPECT_EQ(measured.size(), 1u);
  for (const double wrong : {6e-4, std::numeric_limits<double>::quiet_NaN()}) {
    error = wrong;
    measured.clear();
    choose(chooser(), demand);
    EXPECT_EQ(measured.size(), 1u) << wrong;
  }
  error = 1e-4;
  broken = true;
  measured.clear();
  choose(chooser(), demand);
  EXPECT_EQ(measured.size(), 1u);
}

TEST_F(AutoChooserTest, CountsTheProcessorsThatThisProcessMayUse) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(contest_key({.count = 100}, Backend::cpu)["cpu_threads"], 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(contest_key({.count = 100}, Backend::cpu)["cpu_threads"], CPU_COUNT(&all));
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
  contenders = {variant("4")};
  problem = "it broke";
  EXPECT_EQ(choose(chooser(), {.count = 1000}).kernel, &default_kernel());
  contenders.clear();
  const KernelChoice choice = choose(chooser(), {.count = 1000});
  EXPECT_EQ(choice.kernel, &default_kernel());
  EXPECT_FALSE(choice.how.empty());
}

TEST_F(AutoChooserTest, SaysWhatIsWrongWithTheCacheAndGoesOn) {
  std::ofstream{file} << "rubbish";
  EXPECT_EQ(choose(chooser(), {.count = 1000}).settings.text("rows"), "4");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find(file.string()), std::string::npos) << said[0];
}

TEST(Contenders, AreRealVariantsOfOneBackend) {
  for (const KernelInfo* kernel : kernels()) {
    std::vector<Settings> seen;
    for (const char* text : kernel->contenders) {
      Settings settings{*kernel};
      for (const auto& [name, value] : Settings::values_of(text)) settings.set(name, value);
      EXPECT_EQ(settings.changes(), text) << kernel->id << ": only what differs, in the order of the names";
      EXPECT_EQ(std::ranges::find(seen, settings), seen.end()) << kernel->id << " " << text << " twice";
      seen.push_back(settings);
    }
  }
  const std::vector<Variant> here = contenders_here();
  for (const Variant& variant : here) {
    EXPECT_EQ(variant.kernel->backend, here.front().kernel->backend);
    EXPECT_TRUE(backend_status(variant.kernel->backend).available);
  }
}

TEST(Contenders, OfATreeStandFromLooseToTight) {
  const Bodies bodies = load_scene({.scene = "plummer", .count = 10'000}).bodies;
  for (const KernelInfo* kernel : kernels()) {
    if (!kernel->is_tree || !backend_status(kernel->backend).available) continue;
    double before = std::numeric_limits<double>::infinity();
    for (const char* text : kernel->contenders) {
      Settings settings{*kernel};
      for (const auto& [name, value] : Settings::values_of(text)) settings.set(name, value);
      const double error = measure_error({kernel, settings}, {bodies, {.softening = 0.01f}});
      EXPECT_LE(error, 1.05 * before) << kernel->id << " " << text << ": no less than the one before, but for noise";
      before = error;
    }
  }
}

/// 30,000 bodies, of which a direct sum needs many times as long as a tree.
TEST(Contenders, ATreeWinsWithManyBodiesAsFarAsItIsAccurate) {
  const Bodies bodies = load_scene({.scene = "plummer", .count = 30'000}).bodies;
  const std::vector<Variant> contenders{test::rows_variant("auto"), test::tree_variant("1.0"),
                                        test::tree_variant("0.5"), test::tree_variant("0.3")};
  const auto winner = [&](double accuracy) {
    const Contest contest =
        measure_contest(contenders, {.count = bodies.count(), .accuracy = accuracy}, {bodies, {.softening = 0.01f}});
    EXPECT_EQ(contest.count, bodies.count());
    EXPECT_GT(contest.contenders[0].forecast_from, 0) << "some thousand bodies say enough of n^2";
    const Contender& first = contest.contenders[contest.preference().front()];
    if (first.variant.kernel->is_tree) {
      EXPECT_LE(first.median_error.value(), accuracy);
      EXPECT_GT(first.median_error.value(), 0);
    }
    return first.variant.kernel->id + (' ' + first.variant.settings.changes());
  };
  EXPECT_EQ(winner(1e-1), "cpu-tree theta=1.0");
  EXPECT_EQ(winner(2e-4), "cpu-tree theta=0.5");
  EXPECT_EQ(winner(1e-9), "cpu-simd ");
}

TEST(Contenders, AreMeasuredForAsManyBodiesAsAskedForIfFew) {
  const KernelInfo& kernel = find_kernel("cpu-simd");
  const Contest contest =
      measure_contest({{&kernel, Settings{kernel}}}, {.count = 300, .law = LawId::attract_repel, .equal_masses = false},
                      {Bodies{}, {}});
  EXPECT_EQ(contest.count, 300);
  ASSERT_EQ(contest.preference().size(), 1u);
  EXPECT_GT(contest.contenders[0].step_ms, 0);
  EXPECT_EQ(contest.date.size(), 20u) << contest.date;
}

}  // namespace
}  // namespace orrery
