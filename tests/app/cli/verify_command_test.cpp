// `orrery verify` of the built program: what it prints, what it writes, and when it fails.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compute/core/temporary_folder.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/app/support/program.h"
#include "tests/app/support/text_file.h"

namespace orrery {
namespace {

using test::contents;
using test::lines;
using test::Outcome;
using test::run_orrery;

TEST(VerifyCommand, ChecksEveryCountUnderEveryLaw) {
  const TemporaryFolder folder;
  const Outcome outcome = run_orrery({"verify", "--kernels", "cpu-serial,cpu-simd", "-n", "1,2,33", "--csv", "v.csv"},
                                     {.folder = folder.path().string()});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("12 checks, 0 failed"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("last place"), std::string::npos) << "not asked for";
  EXPECT_EQ(outcome.out.find("second euler step"), std::string::npos) << "not asked for";
  const auto csv = lines(contents((folder / "v.csv").string()));
  ASSERT_EQ(csv.size(), 2u + 12u);
  EXPECT_NE(csv[2].find(",PASS"), std::string::npos);
  EXPECT_NE(csv[1].find("n,dt,softening,repulsion,sample,error_rms,error_median,error_p99,error_max,worst_body,"),
            std::string::npos);
  const auto metadata = nlohmann::json::parse(csv[0].substr(2));
  EXPECT_EQ(metadata["law"], (std::vector<std::string>{"gravity", "attract-repel"}));
  EXPECT_EQ(metadata["n"], (std::vector{1, 2, 33}));
  EXPECT_EQ(metadata["repulsion"], 0.002);
  EXPECT_EQ(metadata["sample"], 4096);
}

TEST(VerifyCommand, EvaluatesTheSampleAlone) {
  const auto rows = [](const std::vector<std::string>& more) {
    const TemporaryFolder folder;
    std::vector<std::string> words{"verify",      "--kernels",   "cpu-serial,cpu-symmetric",
                                   "-n",          "300",         "--sample",
                                   "7",           "--softening", "0.1",
                                   "--repulsion", "0.003",       "--json",
                                   "v.json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_orrery(words, {.folder = folder.path().string()});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(contents((folder / "v.json").string()))["results"];
  };
  const auto all = rows({}), alone = rows({"--sample-only"});
  ASSERT_EQ(alone.size(), 4u);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    const bool takes_targets = alone[i]["kernel"] == "cpu-serial";
    const std::string result = alone[i]["result"];
    EXPECT_TRUE(takes_targets ? result == "PASS" : result.starts_with("skipped: ")) << result;
    if (takes_targets) {
      EXPECT_EQ(alone[i]["error"], all[i]["error"]);
    }
  }
}

TEST(VerifyCommand, TakesASampleOrAllBodies) {
  const auto sample = [](const char* size) {
    const TemporaryFolder folder;
    const Outcome outcome = run_orrery(
        {"verify", "--kernels", "cpu-serial", "-n", "100", "--law", "gravity", "--sample", size, "--json", "v.json"},
        {.folder = folder.path().string()});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(contents((folder / "v.json").string()))["results"].at(0);
  };
  const auto components = [](const nlohmann::json& row) {
    int sum = 0;
    for (const auto& count : row["ulps"]) sum += count.get<int>();
    return sum;
  };
  const auto some = sample("7"), all = sample("all");
  EXPECT_EQ(some["sample"], 7);
  EXPECT_EQ(components(some), 3 * 7);
  EXPECT_EQ(all["sample"], 100);
  EXPECT_EQ(components(all), 3 * 100);
  EXPECT_GE(all["error"]["max"].get<double>(), some["error"]["max"].get<double>()) << "the sample is among all";
  EXPECT_LT(all["error"]["worst_body"].get<int>(), 100);
}

TEST(VerifyCommand, ShowsDistributionsWhereAskedFor) {
  const TemporaryFolder folder;
  const Outcome outcome = run_orrery({"verify", "--kernels", "cpu-serial,cpu-simd", "-n", "100", "--histogram",
                                      "--digits", "--csv", "v.csv", "--json", "v.json"},
                                     {.folder = folder.path().string()});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("components by units in the last place"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("none: 300 (100%)"), std::string::npos) << "cpu-serial against itself: " << outcome.out;
  EXPECT_NE(outcome.out.find("wrote v.csv\nwrote v.json\n"), std::string::npos) << outcome.out;
  const auto whole = nlohmann::json::parse(contents((folder / "v.json").string()));
  EXPECT_EQ(whole["metadata"]["sample"], 4096);
  ASSERT_EQ(whole["results"].size(), 4u) << "two kernels under two laws";
  for (const auto& row : whole["results"]) {
    EXPECT_EQ(row["result"], "PASS");
    EXPECT_TRUE(row["digits"]["accepted"].get<bool>());
    EXPECT_LT(row["digits"]["largest"].get<double>(), 1e-5);
    EXPECT_LE(row["error"]["median"].get<double>(), row["error"]["rms"].get<double>());
    EXPECT_LE(row["error"]["rms"].get<double>(), row["error"]["max"].get<double>());
  }
  EXPECT_EQ(whole["results"][0]["digits"]["first_wrong"]["none"], 300);
  EXPECT_NE(contents((folder / "v.csv").string()).find(",none:300,0,PASS,PASS\n"), std::string::npos);
}

// One body whose forces overflow: infinity times the zero distance to itself.
TEST(VerifyCommand, FailsWhereForcesAreNotFinite) {
  const TemporaryFolder folder;
  const std::string heavy = (folder / "heavy.tipsy").string();
  write_snapshot(heavy, {{{{0, 0, 0, 1e15f}}, {{0, 0, 0, 0}}}});
  const Outcome outcome = run_orrery({"verify", heavy, "--kernels", "cpu-serial", "--law", "attract-repel",
                                      "--softening", "1e-6", "--repulsion", "1e6", "--histogram", "--digits"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("nan"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("FAIL"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("not finite: 3 (100%)"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("integer part: 3 (100%)"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("1 check, 1 failed"), std::string::npos) << outcome.out;
}

TEST(VerifyCommand, ChecksEveryValueOfASetting) {
  const Outcome outcome =
      run_orrery({"verify", "--kernels", "cpu-simd", "--set", "rows=all", "-n", "33", "--law", "gravity"});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("rows=1 "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("rows=4 "), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace orrery
