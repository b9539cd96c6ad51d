// Choices of kernels from one run to the next.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <limits>

#include "app/lab/tuning/auto_chooser.h"
#include "app/text/input_file.h"
#include "compute/core/temporary_folder.h"
#include "tests/app/lab/tuning/rows_variant.h"
#include "tests/app/support/text_file.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

class ChoiceCacheTest : public testing::Test {
 protected:
  /// The cache as another run of the program sees it.
  ChoiceCache another_run() const { return {test::catalog(), file}; }
  static Variant variant(const char* rows) { return test::rows_variant(rows); }

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
    ChoiceCache cache{test::catalog(), file};
    EXPECT_FALSE(cache.find(key, candidates())) << content;
    const std::string problem = cache.take_problem();
    EXPECT_NE(problem.find(file.string()), std::string::npos) << problem;
    EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
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
  ChoiceCache cache{test::catalog(), file};
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
  ChoiceCache cache{test::catalog(), file};
  cache.store(key, result());
  cache.store(key, result(0.5));
  EXPECT_EQ(cache.find(key, candidates())->candidates[0].step_ms, 0.5);
  EXPECT_EQ(another_run().entries().size(), 1u);
}

TEST_F(ChoiceCacheTest, RunsAtOneTimeKeepEachOthersTuningResults) {
  const Json other{{"gpu", "another"}};
  ChoiceCache a{test::catalog(), file}, b{test::catalog(), file};
  EXPECT_FALSE(a.find(key, candidates()));
  EXPECT_FALSE(b.find(key, candidates()));
  a.store(key, result());
  b.store(other, result());
  EXPECT_EQ(another_run().entries().size(), 2u);
  EXPECT_TRUE(b.find(key, candidates()));
}

TEST_F(ChoiceCacheTest, OtherCandidatesAreMeasuredAnew) {
  another_run().store(key, result());
  ChoiceCache cache{test::catalog(), file};
  EXPECT_FALSE(cache.find(key, {variant("auto"), variant("1")}));
  EXPECT_FALSE(cache.find(key, {variant("1"), variant("auto"), variant("2")})) << "the first is preferred";
  EXPECT_EQ(cache.take_problem(), "");
}

TEST_F(ChoiceCacheTest, KernelsAndSettingsThatAreGoneAreLeftOut) {
  another_run().store(key, result());
  const std::string whole = test::contents(file);
  for (const auto& [is, was] : {std::pair{"cpu-simd", "cpu-gone"},
                                {"rows=1", "rows=9"},
                                {"rows=1", "wings=1"},
                                {"\"candidates\"", "\"contenders\""}}) {
    std::string old = whole;
    old.replace(old.find(is), std::string{is}.size(), was);
    std::ofstream{file} << old;
    ChoiceCache cache{test::catalog(), file};
    EXPECT_FALSE(cache.find(key, candidates())) << was;
    EXPECT_EQ(cache.take_problem(), "") << "another build's, or version 0.1.0's";
  }
}

TEST_F(ChoiceCacheTest, WhatIsNoCacheIsOfNoUseAndWrittenAnew) {
  another_run().store(key, result());
  const std::string whole = test::contents(file);
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
  const std::string whole = test::contents(file);
  for (const std::string was : {"\"bodies\": 1000", "\"forecast_from\": 512"}) {
    for (const char* number : {"1e300", "-1e300", "4294968296", "0", "1000.5"}) {
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
  Json whole = Json::parse(test::contents(file));
  const Json row = whole["choices"][0];
  for (int i = 0; i < 1000; ++i) whole["choices"].push_back(row);
  whole["choices"].back()["date"] = "last";
  std::ofstream{file} << whole;
  ChoiceCache cache{test::catalog(), file};
  EXPECT_EQ(cache.entries().size(), 200u);
  EXPECT_EQ(cache.find(key, candidates())->date, "last");
}

TEST_F(ChoiceCacheTest, LeavesTheFileOfAnotherVersionAsItIs) {
  const std::string theirs = R"({"program": "orrery", "format": 99, "choices": []})";
  std::filesystem::create_directories(file.parent_path());
  std::ofstream{file} << theirs;
  ChoiceCache cache{test::catalog(), file};
  EXPECT_FALSE(cache.find(key, candidates()));
  EXPECT_NE(cache.take_problem().find("another version"), std::string::npos);
  cache.store(key, result());
  EXPECT_EQ(cache.take_problem(), "") << "told once";
  EXPECT_TRUE(cache.find(key, candidates())) << "for this run";
  EXPECT_EQ(test::contents(file), theirs);
}

TEST_F(ChoiceCacheTest, ADamagedTuningResultLeavesTheOthers) {
  another_run().store(key, result());
  std::string damaged = test::contents(file);
  const std::string before = "\"choices\": [";
  ASSERT_NE(damaged.find(before), std::string::npos) << damaged;
  damaged.insert(damaged.find(before) + before.size(), R"({"key": {}, "date": 7}, 5, )");
  std::ofstream{file} << damaged;
  EXPECT_TRUE(another_run().find(key, candidates()));
}

TEST_F(ChoiceCacheTest, SharesNoTemporaryFileWithAProcessOfAnEqualNumber) {
  ChoiceCache cache{test::catalog(), file};
  cache.store(key, result());
  const std::string theirs = file.string() + "." + std::to_string(getpid());
  std::ofstream{theirs} << "being written";
  cache.store(key, result());
  EXPECT_EQ(test::contents(theirs), "being written");
}

TEST_F(ChoiceCacheTest, NoTimeThatIsNotTrueIsTakenIn) {
  another_run().store(key, result());
  const std::string whole = test::contents(file);
  for (const char* time : {"0.0", "-1.0", "1e999"}) {
    std::string wrong = whole;
    wrong.replace(wrong.find("0.125"), 5, time);
    std::ofstream{file} << wrong;
    EXPECT_FALSE(another_run().find(key, candidates())) << time;
  }
}

TEST_F(ChoiceCacheTest, WithoutAPlaceItHoldsForOneRun) {
  ChoiceCache cache{test::catalog(), {}};
  cache.store(key, result());
  EXPECT_TRUE(cache.find(key, candidates()));
  EXPECT_EQ(cache.take_problem(), "");

  std::ofstream{folder / "file"} << "in the way";
  ChoiceCache blocked{test::catalog(), folder / "file" / "auto-kernels.json"};
  EXPECT_FALSE(blocked.find(key, candidates()));
  blocked.store(key, result());
  const std::string problem = blocked.take_problem();
  EXPECT_NE(problem.find("cannot be cached"), std::string::npos) << problem;
  EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
  EXPECT_TRUE(blocked.find(key, candidates()));
}

TEST_F(ChoiceCacheTest, LeavesNothingElseInItsFolder) {
  ChoiceCache cache{test::catalog(), file};
  for (int i = 0; i < 3; ++i) cache.store({{"bodies_about", i}}, result());
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator{file.parent_path()})
    files += entry.path() == file ? 1 : 9;
  EXPECT_EQ(files, 1);
}

TEST_F(ChoiceCacheTest, LiesWhereTheUsersCachesLie) {
  const char* const home = std::getenv("HOME");
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const std::string old_home = home ? home : "", old_cache = cache ? cache : "";
  setenv("HOME", "/somebody", 1);
  setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_EQ(usual_cache_file(), "/caches/orrery/auto-kernels.json");
  setenv("XDG_CACHE_HOME", "caches", 1);
  EXPECT_EQ(usual_cache_file(), "/somebody/.cache/orrery/auto-kernels.json") << "a relative path is to be ignored";
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(usual_cache_file(), "/somebody/.cache/orrery/auto-kernels.json");
  unsetenv("HOME");
  EXPECT_EQ(usual_cache_file(), "");
  if (home) setenv("HOME", old_home.c_str(), 1);
  if (cache) setenv("XDG_CACHE_HOME", old_cache.c_str(), 1);
}

}  // namespace
}  // namespace orrery
