#include "app/baseline.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/compute/support/temporary_folder.h"

namespace orrery {
namespace {

Json result(const char* kernel, int n, const Json& low, const Json& high) {
  return {{"kernel", kernel},
          {"settings", {{"block", "64"}}},
          {"n", n},
          {"step_ms", {{"median", 2.0}, {"low", low}, {"high", high}}}};
}

Json bench(const Json& results) {
  return {{"metadata", {{"scene", "plummer"}, {"law", "gravity"}, {"integrator", "leapfrog"}, {"gpu", "A"}}},
          {"results", results}};
}

Json one(const Json& low, const Json& high) {
  return bench(Json::array({result("k", 8, low, high)}));
}

bool contains(const Comparison& comparison, const std::string& text) {
  return comparison.text.find(text) != std::string::npos;
}

TEST(Baseline, CallsChangedWhatDoesNotOverlap) {
  const Comparison slower = compare(one(1.0, 2.0), one(2.5, 3.0), "old.json");
  EXPECT_EQ(slower.slower, 1);
  EXPECT_TRUE(contains(slower, "slower")) << slower.text;
  EXPECT_EQ(compare(one(2.5, 3.0), one(1.0, 2.0), "old.json").faster, 1);
  EXPECT_EQ(compare(one(1.0, 2.0), one(2.0, 3.0), "old.json").unchanged, 1) << "they touch";
  EXPECT_EQ(compare(one(1.0, 2.0), one(1.0, 2.0), "old.json").unchanged, 1);
}

TEST(Baseline, ComparesNothingWithoutAnInterval) {
  for (const Json& unusable : {one(nullptr, nullptr), one(1.0, nullptr), one("1", "2"), one(2.0, 1.0), one(-1.0, 2.0),
                               bench(Json::array({{{"kernel", "k"}, {"settings", {{"block", "64"}}}, {"n", 8}}}))}) {
    for (const bool old : {true, false}) {
      const Comparison comparison =
          old ? compare(unusable, one(1.0, 2.0), "old.json") : compare(one(1.0, 2.0), unusable, "old.json");
      EXPECT_EQ(comparison.not_comparable, 1) << unusable;
      EXPECT_EQ(comparison.slower + comparison.faster + comparison.unchanged, 0) << unusable;
      EXPECT_TRUE(contains(comparison, old ? "no interval before" : "no interval now")) << comparison.text;
    }
  }
}

TEST(Baseline, NamesWhatHasNoCounterpart) {
  const Json before = bench(Json::array({result("k", 8, 1.0, 2.0), result("gone", 8, 1.0, 2.0)}));
  const Json now = bench(Json::array({result("k", 16, 1.0, 2.0), result("k", 8, 1.0, 2.0)}));
  const Comparison comparison = compare(before, now, "old.json");
  EXPECT_EQ(comparison.unchanged, 1);
  EXPECT_TRUE(contains(comparison, "not in old.json: k block=64 n=16")) << comparison.text;
  EXPECT_TRUE(contains(comparison, "only in old.json: gone block=64 n=8")) << comparison.text;
}

TEST(Baseline, DoesNotMatchOtherPhysics) {
  Json before = one(1.0, 2.0);
  before["metadata"]["law"] = "attract-repel";
  EXPECT_EQ(compare(before, one(2.5, 3.0), "old.json").slower, 0);
  before["metadata"].erase("law");
  EXPECT_EQ(compare(before, one(2.5, 3.0), "old.json").slower, 0);
}

TEST(Baseline, SaysWhatElseDiffers) {
  Json before = one(1.0, 2.0);
  before["metadata"]["gpu"] = "B";
  EXPECT_TRUE(contains(compare(before, one(1.0, 2.0), "o"), "gpu (\"B\" before, \"A\" now)"));
  EXPECT_FALSE(contains(compare(one(1.0, 2.0), one(1.0, 2.0), "o"), "measured differently"));
}

TEST(Baseline, BearsAnyJson) {
  for (const char* text : {R"({"results": []})", R"({"results": [1, null, "a", [], {}]})",
                           R"({"metadata": 3, "results": [{"kernel": 1, "settings": "x", "n": 1e300}]})",
                           R"({"results": [{"kernel": "k", "settings": [1], "n": 8, "step_ms": 2}]})"}) {
    const Comparison comparison = compare(Json::parse(text), one(1.0, 2.0), "old.json");
    EXPECT_EQ(comparison.slower + comparison.faster + comparison.unchanged + comparison.not_comparable, 0) << text;
    EXPECT_TRUE(contains(comparison, "not in old.json: k")) << text;
  }
}

TEST(Baseline, RefusesFilesThatAreNone) {
  const test::TemporaryFolder folder;
  const auto refusal = [&](const char* content) {
    const std::string file = (folder / "old.json").string();
    std::ofstream{file} << content;
    try {
      (void)read_baseline(file);
    } catch (const std::runtime_error& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  for (const char* content : {"", "{", "kernel,median\n", "[]", "{}", R"({"results": 3})"}) {
    const std::string text = refusal(content);
    EXPECT_NE(text.find("old.json"), std::string::npos) << content;
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
  EXPECT_EQ(refusal(R"({"results": []})"), "");
  EXPECT_THROW((void)read_baseline((folder / "none.json").string()), std::runtime_error);
  EXPECT_THROW((void)read_baseline(folder.path().string()), std::runtime_error) << "a folder";
}

}  // namespace
}  // namespace orrery
