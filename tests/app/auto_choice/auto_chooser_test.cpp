// What `auto` stands for, with measurements of the test's own.
#include "app/auto_choice/auto_chooser.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>

#include "app/auto_choice/measure_contest.h"
#include "compute/sim/backends.h"
#include "tests/app/auto_choice/rows_variant.h"
#include "tests/compute/support/temporary_folder.h"

namespace orrery {
namespace {

class AutoChooserTest : public testing::Test {
 protected:
  static Variant variant(const char* rows) { return test::rows_variant(rows); }

  AutoChooser chooser() {
    return AutoChooser{{.contenders = contenders,
                        .measure =
                            [this](const std::vector<Variant>& variants, const KernelDemand& demand) {
                              measured.push_back(demand);
                              Contest contest{.contenders = {}, .count = demand.count, .date = "2026-11-21T12:00:00Z"};
                              for (const Variant& each : variants) contest.contenders.push_back({each, 2});
                              contest.contenders.back().step_ms = 1;
                              if (!problem.empty()) {
                                contest.contenders.back() = {variants.back(), 0, problem, refused};
                              }
                              return contest;
                            },
                        .cache_file = file,
                        .say = [this](const std::string& line) { said.push_back(line); }}};
  }

  std::string problem;  // of the last contender
  bool refused = false;
  std::vector<Variant> contenders{variant("auto"), variant("4")};
  std::vector<KernelDemand> measured;
  std::vector<std::string> said;
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "auto-kernels.json";
};

TEST_F(AutoChooserTest, TakesTheFastestAndSaysWhy) {
  const KernelChoice choice = chooser().choose({.count = 1000});
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
  for (const int count : {4096, 4100, 4000}) first.choose({.count = count});
  EXPECT_EQ(measured.size(), 1u);
  first.choose({.count = 8192});
  EXPECT_EQ(measured.size(), 2u);
  first.choose({.count = 4096, .law = LawId::attract_repel});
  EXPECT_EQ(measured.size(), 3u);
  first.choose({.count = 4096, .law = LawId::attract_repel, .equal_masses = false});
  EXPECT_EQ(measured.size(), 4u);

  AutoChooser later = chooser();
  const KernelChoice choice = later.choose({.count = 4096});
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
  const KernelChoice choice = chooser().choose({.count = 1000});
  EXPECT_EQ(choice.settings.text("rows"), "auto");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("cpu-simd rows=4"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("it broke"), std::string::npos) << said[0];
  EXPECT_NE(choice.how.find("it broke"), std::string::npos) << choice.how;
  chooser().choose({.count = 1000});
  EXPECT_EQ(measured.size(), 2u) << "perhaps it was the moment";
}

TEST_F(AutoChooserTest, KeepsThatOneCannotRunHere) {
  problem = "no room";
  refused = true;
  chooser().choose({.count = 1000});
  EXPECT_EQ(chooser().choose({.count = 1000}).settings.text("rows"), "auto");
  EXPECT_EQ(measured.size(), 1u);
  EXPECT_TRUE(said.empty());
}

TEST_F(AutoChooserTest, IsTheDefaultWhereNothingCanBeMeasured) {
  contenders = {variant("4")};
  problem = "it broke";
  EXPECT_EQ(chooser().choose({.count = 1000}).kernel, &default_kernel());
  contenders.clear();
  const KernelChoice choice = chooser().choose({.count = 1000});
  EXPECT_EQ(choice.kernel, &default_kernel());
  EXPECT_FALSE(choice.how.empty());
}

TEST_F(AutoChooserTest, SaysWhatIsWrongWithTheCacheAndGoesOn) {
  std::ofstream{file} << "rubbish";
  EXPECT_EQ(chooser().choose({.count = 1000}).settings.text("rows"), "4");
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

TEST(Contenders, AreMeasuredForAsManyBodiesAsAskedForIfFew) {
  const KernelInfo& kernel = find_kernel("cpu-simd");
  const Contest contest = measure_contest({{&kernel, Settings{kernel}}},
                                          {.count = 300, .law = LawId::attract_repel, .equal_masses = false});
  EXPECT_EQ(contest.count, 300);
  ASSERT_EQ(contest.preference().size(), 1u);
  EXPECT_GT(contest.contenders[0].step_ms, 0);
  EXPECT_EQ(contest.date.size(), 20u) << contest.date;
}

}  // namespace
}  // namespace orrery
