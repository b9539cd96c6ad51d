#include "app/lab/baseline.h"

#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

constexpr TextStyle wide{.columns = TextStyle::unlimited};

Json result(const char* kernel, int n, const Json& low, const Json& median, const Json& high) {
  return {{"kernel", kernel},
          {"settings", {{"block", "64"}}},
          {"n", n},
          {"dt", 0.01},
          {"step_ms", {{"median", median}, {"low", low}, {"high", high}}}};
}

Json bench(const Json& results) {
  return {
      {"metadata",
       {{"scene", "plummer"}, {"law", "gravity"}, {"integrator", "leapfrog"}, {"seed", 1}, {"gpu", "A"}, {"dt", 0.01}}},
      {"results", results}};
}

Json one(const Json& low, const Json& median, const Json& high) {
  return bench(Json::array({result("k", 8, low, median, high)}));
}

Comparison compared(const Json& before, const Json& now, double noise = 3) {
  const Baseline baseline{"old.json", before};
  return compare(std::span{&baseline, 1}, now, noise);
}

bool contains(const Comparison& comparison, const std::string& text) {
  return comparison.text(catalog(), wide).find(text) != std::string::npos;
}

using BaselineTest = InFolder;

TEST_F(BaselineTest, CallsChangedWhatDoesNotOverlap) {
  const Json fast = one(1.0, 1.5, 2.0), slow = one(2.5, 2.7, 3.0);
  const Comparison slower = compared(fast, slow);
  EXPECT_EQ(slower.slower, 1);
  EXPECT_TRUE(contains(slower, "slower")) << slower.text(catalog(), wide);
  EXPECT_EQ(slower.json["slower"], 1);
  EXPECT_EQ(slower.json["results"][0]["verdict"], "slower");
  EXPECT_EQ(compared(slow, fast).faster, 1);
  EXPECT_EQ(compared(fast, one(2.0, 2.5, 3.0)).unchanged, 1) << "they touch";
  EXPECT_EQ(compared(fast, fast).unchanged, 1);
}

TEST_F(BaselineTest, CallsNoChangeWhatIsWithinTheNoise) {
  const Json before = one(0.999, 1.0, 1.001), little = one(1.018, 1.02, 1.022);
  EXPECT_EQ(compared(before, little).unchanged, 1);
  EXPECT_EQ(compared(little, before).unchanged, 1);
  EXPECT_EQ(compared(before, little, 1).slower, 1);
  EXPECT_EQ(compared(little, before, 1).faster, 1);
  EXPECT_TRUE(contains(compared(before, little, 2.5), "more than 2.5 %"));
  EXPECT_EQ(compared(before, one(1.048, 1.05, 1.052)).slower, 1);
}

TEST_F(BaselineTest, TakesTheHullOfSeveralRuns) {
  const std::vector<Baseline> runs{{"a", one(0.9, 1.0, 1.1)}, {"b", one(1.4, 1.5, 1.6)}, {"c", one(1.0, 1.1, 1.2)}};
  const Comparison between = compare(runs, one(1.5, 1.55, 1.58), 3);
  EXPECT_EQ(between.unchanged, 1) << "as slow as one of them";
  EXPECT_EQ(between.json["results"][0]["before_ms"], 1.1) << "the median of the medians";
  EXPECT_EQ(between.json["files"], (Json{"a", "b", "c"}));
  EXPECT_EQ(compare(std::span{runs}.first(1), one(1.5, 1.55, 1.58), 3).slower, 1);
  EXPECT_EQ(compare(runs, one(1.7, 1.75, 1.8), 3).slower, 1);
  const std::vector<Baseline> gap{runs[0], {"b", one(nullptr, 1.5, nullptr)}};
  EXPECT_EQ(compare(gap, one(1.7, 1.75, 1.8), 3).not_comparable, 1);
  const std::vector<Baseline> part{runs[0], {"b", bench(Json::array())}};
  EXPECT_TRUE(contains(compare(part, one(0.9, 1.0, 1.1), 3), "unchanged (in 1 of 2 files)"));
}

TEST_F(BaselineTest, ComparesNoOtherWork) {
  const Json now = one(1.0, 1.5, 2.0);
  for (const char* name : {"seed", "softening", "repulsion", "drag", "protocol"}) {
    Json before = now;
    before["metadata"][name] = 7;
    const Comparison comparison = compared(before, now);
    EXPECT_EQ(comparison.not_comparable, 1) << name;
    EXPECT_EQ(comparison.unchanged, 0) << name;
    EXPECT_TRUE(contains(comparison, std::string{"other work: "} + name + " (7 before"))
        << comparison.text(catalog(), wide);
  }
  Json before = now;
  before["results"][0]["dt"] = 0.02;
  EXPECT_TRUE(contains(compared(before, now), "dt (0.02 before, 0.01 now)"));
}

TEST_F(BaselineTest, ComparesNothingWithoutAnInterval) {
  for (const Json& unusable : {one(nullptr, 1.0, nullptr), one(1.0, 1.0, nullptr), one("1", "1", "2"),
                               one(2.0, 1.5, 1.0), one(-1.0, 1.0, 2.0), one(1.0, nullptr, 2.0), one(1.0, 5.0, 2.0),
                               bench(Json::array({{{"kernel", "k"}, {"settings", {{"block", "64"}}}, {"n", 8}}}))}) {
    const Json usable = one(1.0, 1.5, 2.0);
    for (const bool old : {true, false}) {
      const Comparison comparison = old ? compared(unusable, usable) : compared(usable, unusable);
      EXPECT_EQ(comparison.not_comparable, 1) << unusable;
      EXPECT_EQ(comparison.slower + comparison.faster + comparison.unchanged, 0) << unusable;
      EXPECT_TRUE(contains(comparison, old ? "no interval before" : "no interval now"))
          << comparison.text(catalog(), wide);
    }
  }
}

TEST_F(BaselineTest, NamesWhatHasNoCounterpart) {
  const Json before = bench(Json::array({result("k", 8, 1.0, 1.5, 2.0), result("gone", 8, 1.0, 1.5, 2.0)}));
  const Json now = bench(Json::array({result("k", 16, 1.0, 1.5, 2.0), result("k", 8, 1.0, 1.5, 2.0)}));
  const Comparison comparison = compared(before, now);
  EXPECT_EQ(comparison.unchanged, 1);
  EXPECT_TRUE(contains(comparison, "not in old.json: k block=64 n=16")) << comparison.text(catalog(), wide);
  EXPECT_TRUE(contains(comparison, "only in old.json: gone block=64 n=8")) << comparison.text(catalog(), wide);
}

TEST_F(BaselineTest, NamesAtMostFiveWithoutACounterpart) {
  Json many = Json::array();
  for (int n = 1; n <= 7; ++n) many.push_back(result("gone", n, 1.0, 1.5, 2.0));
  const Comparison comparison = compared(bench(many), one(1.0, 1.5, 2.0));
  EXPECT_TRUE(contains(comparison, "n=5 (plummer, gravity, leapfrog) and 2 more\n"))
      << comparison.text(catalog(), wide);
  EXPECT_FALSE(contains(comparison, "n=6")) << comparison.text(catalog(), wide);
}

TEST_F(BaselineTest, DoesNotMatchOtherPhysics) {
  Json before = one(1.0, 1.5, 2.0);
  before["metadata"]["law"] = "attract-repel";
  EXPECT_EQ(compared(before, one(2.5, 2.7, 3.0)).slower, 0);
  before["metadata"].erase("law");
  EXPECT_EQ(compared(before, one(2.5, 2.7, 3.0)).slower, 0);
}

TEST_F(BaselineTest, TakesOnlyNumbersOfBodiesThatThereCanBe) {
  Json before = one(1.0, 1.5, 2.0);
  for (const Json& n : {Json(1e300), Json(-8), Json(8.0), Json(18446744073709551615u), Json("8")}) {
    before["results"][0]["n"] = n;
    EXPECT_TRUE(contains(compared(before, one(1.0, 1.5, 2.0)), "only in old.json: k block=64 n=0")) << n;
  }
}

TEST_F(BaselineTest, SaysWhatElseDiffers) {
  Json before = one(1.0, 1.5, 2.0);
  before["metadata"]["gpu"] = "B";
  EXPECT_TRUE(contains(compared(before, one(1.0, 1.5, 2.0)), "gpu (\"B\" before, \"A\" now)"));
  EXPECT_FALSE(contains(compared(one(1.0, 1.5, 2.0), one(1.0, 1.5, 2.0)), "measured differently"));
}

TEST_F(BaselineTest, BearsAnyJson) {
  for (const char* text : {R"({"results": []})", R"({"results": [1, null, "a", [], {}]})",
                           R"({"metadata": 3, "results": [{"kernel": 1, "settings": "x", "n": 1e300}]})",
                           R"({"results": [{"kernel": "k", "settings": [1], "n": 8, "step_ms": 2}]})"}) {
    const Comparison comparison = compared(Json::parse(text), one(1.0, 1.5, 2.0));
    EXPECT_EQ(comparison.slower + comparison.faster + comparison.unchanged + comparison.not_comparable, 0) << text;
    EXPECT_TRUE(contains(comparison, "not in old.json: k")) << text;
  }
}

/// The head and a row of a CSV as version 0.1.0 wrote it.
constexpr const char* csv_of_0_1_0 =
    R"(# {"program":"orrery","version":"0.1.0","cpu":"Intel(R) Xeon(R) Processor","scene":"plummer","n":16384,"seed":1,)"
    R"("integrator":"leapfrog","law":"gravity","dt":0.005,"softening":0.02,"warmup_steps":3})"
    "\nkernel,backend,block,settings,chosen,n,dt,softening,repeats,steps_a_repeat,median_ms,min_ms,low_ms,high_ms\n"
    "cpu-openmp,cpu,,chunk=1 threads=auto,\"threads 16, rows 4\",16384,0.005,0.02,7,1,89.5629,86.3362,86.3362,96.6737\n"
    "cpu-serial,cpu,,,,16384,0.005,0.02,5,1,999.064,933.478,,\n";

/// The same results as version 0.1.0 wrote them with --json.
constexpr const char* json_of_0_1_0 =
    R"({"metadata": {"program": "orrery", "version": "0.1.0", "cpu": "Intel(R) Xeon(R) Processor", "scene": "plummer",
        "n": 16384, "seed": 1, "integrator": "leapfrog", "law": "gravity", "dt": 0.005, "softening": 0.02},
        "results": [{"kernel": "cpu-openmp", "backend": "cpu", "settings": {"chunk": "1", "threads": "auto"},
                     "chosen": "threads 16, rows 4", "n": 16384, "dt": 0.005, "softening": 0.02, "repeats": 7,
                     "steps_a_repeat": 1,
                     "step_ms": {"median": 89.5629, "min": 86.3362, "low": 86.3362, "high": 96.6737}}],
        "skipped": [], "stopped": false})";

TEST_F(BaselineTest, ReadsTheCsvAndTheJsonOfVersion010) {
  Json now = Json::parse(json_of_0_1_0);
  Json& result = now["results"][0];
  for (const char* old : {"repeats", "steps_a_repeat"}) result.erase(old);
  result["samples"] = 7;
  result["steps_per_sample"] = 1;
  result["step_ms"] = {{"median", 120.5}, {"min", 110.0}, {"low", 111.0}, {"high", 130.0}};
  for (const char* text : {csv_of_0_1_0, json_of_0_1_0}) {
    const std::string file = write("old", text);
    const Baseline old = read_baseline(file);
    const Comparison comparison = compare({&old, 1}, now, 3);
    EXPECT_EQ(comparison.slower, 1) << comparison.text(catalog(), wide);
    EXPECT_EQ(comparison.json["results"][0]["before_ms"], 89.5629);
    EXPECT_EQ(comparison.json["results"][0]["settings"], "chunk=1 threads=auto");
  }
}

TEST_F(BaselineTest, TakesAnEmptyFieldOfACsvForNoInterval) {
  const std::string file = write("old.csv", csv_of_0_1_0);
  const Baseline old = read_baseline(file);
  ASSERT_EQ(old.whole["results"].size(), 2u);
  EXPECT_TRUE(old.whole["results"][1]["step_ms"]["low"].is_null());
  EXPECT_EQ(old.whole["results"][1]["step_ms"]["median"], 999.064);
}

TEST_F(BaselineTest, RefusesFilesThatAreNone) {
  const auto refusal = [&](const char* content) {
    const std::string file = write("old.json", content);
    return failure_of([&] { (void)read_baseline(file); }).message;
  };
  for (const char* content : {"", "{", "kernel,median\n", "#", "# {\nkernel,median_ms\nk,1\n", "# {}\nkernel,n\nk,8\n",
                              "# {}\nkernel,median_ms\n", "[]", "{}", R"({"results": 3})", R"({"results": []})",
                              R"({"results": [{"kernel": "k", "n": 8, "error": {"median": 1e-7}}]})"}) {
    const std::string text = refusal(content);
    expect_holds(text, {"old.json"});
    expect_lacks(text, {"\n"});
  }
  const std::string whole = one(1.0, 1.5, 2.0).dump();
  EXPECT_EQ(refusal(whole.c_str()), "");
  std::string nested = whole;
  nested.replace(nested.find("\"seed\":1"), 8, "\"seed\":" + std::string(100'000, '[') + std::string(100'000, ']'));
  expect_holds(refusal(nested.c_str()), {"levels deep"});
  EXPECT_THROW((void)read_baseline(path("none.json")), std::runtime_error);
  EXPECT_THROW((void)read_baseline(folder.path().string()), std::runtime_error) << "a folder";
}

}  // namespace
}  // namespace orrery::test
