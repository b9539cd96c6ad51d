// `orrery compare` of the built program: what it prints, what it writes, and what it refuses.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compute/core/temporary_folder.h"
#include "tests/app/support/program.h"
#include "tests/app/support/text_file.h"

namespace orrery {
namespace {

using test::contents;
using test::expect_complaint;
using test::expect_refused;
using test::lines;
using test::Outcome;
using test::run_orrery;

TEST(CompareCommand, WritesTheSamplesAndTheirGrowth) {
  const TemporaryFolder folder;
  const Outcome outcome = run_orrery({"compare", "--a", "cpu-serial", "--b", "cpu-simd", "--scene", "plummer", "-n",
                                      "100", "--steps", "10", "--every", "2", "--csv", "c.csv", "--json", "c.json"},
                                     {.folder = folder.path().string()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Too few samples for an e-folding time"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("wrote c.csv\nwrote c.json\n"), std::string::npos) << outcome.out;
  const auto csv = lines(contents((folder / "c.csv").string()));
  ASSERT_EQ(csv.size(), 2u + 6u) << "the first state, and every second step";
  EXPECT_EQ(csv[1], "step_a,step_b,time,distance_rms,distance_median,distance_greatest,energy_error_a,energy_error_b");
  EXPECT_EQ(csv[2], "0,0,0,0,0,0,0,0");
  EXPECT_TRUE(csv.back().starts_with("10,10,")) << csv.back();
  const auto whole = nlohmann::json::parse(contents((folder / "c.json").string()));
  EXPECT_EQ(whole["metadata"]["a"]["kernel"], "cpu-serial");
  EXPECT_EQ(whole["metadata"]["b"]["kernel"], "cpu-simd");
  EXPECT_EQ(whole["metadata"]["n"], 100);
  EXPECT_EQ(whole["growth"]["kind"], "too-few");
  EXPECT_TRUE(whole["growth"]["e_folding_time"].is_null());
  EXPECT_EQ(whole["samples"].size(), 6u);
  EXPECT_GT(whole["speeds"]["b"]["step_ms"].get<double>(), 0);
  EXPECT_EQ(whole["stopped"], false);
}

TEST(CompareCommand, SaysInItsFileThatItWasStopped) {
  const TemporaryFolder folder;
  const Outcome outcome = run_orrery({"compare", "--a", "cpu-serial", "--b", "cpu-simd", "--scene", "plummer", "-n",
                                      "100", "--steps", "100000000", "--csv", "c.csv", "--json", "c.json"},
                                     {.folder = folder.path().string(), .interrupt_when_exists = folder / "c.csv"});
  expect_complaint(outcome, 130, {"stopped before the end"});
  EXPECT_EQ(nlohmann::json::parse(contents((folder / "c.json").string()))["stopped"], true);
}

TEST(CompareCommand, SaysThatTheSameRunIsIdentical) {
  const Outcome outcome = run_orrery(
      {"compare", "--a", "cpu-serial", "--b", "cpu-serial", "--scene", "plummer", "-n", "50", "--steps", "5"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("The runs are identical"), std::string::npos) << outcome.out;
}

TEST(CompareCommand, ReportsABodyThatIsNotFiniteInOneLine) {
  const Outcome outcome = run_orrery({"compare", "--a", "cpu-serial", "--b", "cpu-serial,dt=1e30", "--dt", "1e30",
                                      "--scene", "plummer", "-n", "50", "--steps", "5"});
  expect_complaint(outcome, 1, {"A (cpu-serial): body", "is not finite"});
}

TEST(CompareCommand, RefusesWhatItCannotCompare) {
  expect_refused(run_orrery({"compare"}), 2, {"needs two variants", "--a KERNEL"});
  expect_refused(run_orrery({"compare", "--a", "cpu-simd"}), 2, {"needs two variants", "--b KERNEL"});
  expect_refused(run_orrery({"compare", "--a", "cpu-simd", "--b", "cpu-tree,theta=9"}), 2, {"theta", "9"});
  expect_refused(run_orrery({"compare", "--a", "cpu-simd", "--b", "cpu-simd,dt=0.003", "--dt", "0.01"}), 2,
                 {"0.01", "0.003", "whole multiple"});
  expect_refused(run_orrery({"compare", "--a", "cpu-simd", "--b", "cpu-simd", "--steps", "0"}), 2, {"--steps"});
  expect_refused(run_orrery({"compare", "--a", "cpu-simd", "--b", "cpu-simd", "--drag", "1"}), 2, {"attract-repel"});
}

}  // namespace
}  // namespace orrery
