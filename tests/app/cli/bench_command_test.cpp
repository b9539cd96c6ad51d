// `orrery bench` as a person runs it: ranks, baselines, the protocol, and what a stop leaves.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compute/core/temporary_folder.h"
#include "tests/app/support/program.h"
#include "tests/app/support/text_file.h"

namespace orrery {
namespace {

using nlohmann::json;
using test::contents;
using test::expect_refused;
using test::lines;
using test::Outcome;
using test::run_orrery;
using test::says;
using Words = std::vector<std::string>;

class BenchCommand : public testing::Test {
 protected:
  Outcome bench(const Words& more, const std::string& stop_file = {}) const {
    Words words{"bench", "--kernels", "cpu-serial,cpu-simd"};
    words.insert(words.end(), more.begin(), more.end());
    return run_orrery(words, {.folder = folder.path().string(),
                              .interrupt_when_exists = stop_file.empty() ? stop_file : path(stop_file)});
  }
  std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  json read(const std::string& name) const { return json::parse(contents(path(name))); }
  void write(const std::string& name, const json& whole) const { std::ofstream{path(name)} << whole; }

  const TemporaryFolder folder;
};

TEST_F(BenchCommand, MeasuresWhatAutoStandsFor) {
  const Outcome outcome =
      run_orrery({"bench", "--kernels", "auto", "-n", "8,64", "--repeat", "2", "--json", "auto.json"},
                 {.folder = folder.path().string()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("note: 64 bodies, gravity: auto: "), std::string::npos) << outcome.err;
  const json results = read("auto.json")["results"];
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0]["n"], 8);
  EXPECT_EQ(results[1]["n"], 64);
  for (const json& result : results) {
    const std::string id = result["kernel"];
    EXPECT_TRUE(id.starts_with("cpu-") || id.starts_with("cuda-")) << id;
  }
}

TEST_F(BenchCommand, RanksWhatHasIntervals) {
  const Outcome ranked = bench({"-n", "8,64", "--repeat", "6", "--csv", "a.csv"});
  EXPECT_EQ(ranked.status, 0) << ranked.err;
  EXPECT_TRUE(says(ranked, "ranking at n=8") && says(ranked, "ranking at n=64")) << ranked.out;
  const auto csv = lines(contents(path("a.csv")));
  ASSERT_EQ(csv.size(), 6u);
  EXPECT_NE(csv[1].find("rank_first,rank_last,registers,local_bytes,occupancy,sm_clock_mhz_before"), std::string::npos);
  const auto fields = [](const std::string& line) { return std::ranges::count(line, ','); };
  EXPECT_EQ(fields(csv[1]), fields(csv[4])) << "cpu-serial, of which no field holds a comma";
  const Outcome few = bench({"-n", "8", "--repeat", "5"});
  EXPECT_TRUE(says(few, "no ranking at n=8: fewer than 6 samples")) << few.out;
  const Outcome one = run_orrery({"bench", "--kernels", "cpu-serial", "-n", "8", "--repeat", "5"});
  EXPECT_TRUE(says(one, "fewer than 6 samples give no interval, and so no rank")) << one.out;
}

TEST_F(BenchCommand, ComparesWithABaseline) {
  const Words measure{"-n", "64", "--repeat", "6", "--json", "old.json"};
  ASSERT_EQ(bench(measure).status, 0);
  json old = read("old.json");
  const auto with_interval = [&](double low, double high) {
    json changed = old;
    for (json& result : changed["results"]) result["step_ms"].update({{"low", low}, {"median", low}, {"high", high}});
    return changed;
  };
  const Words compare{"-n", "64", "--repeat", "6", "--baseline", "old.json", "--json", "new.json"};

  write("old.json", with_interval(1e-12, 1e9));
  const Outcome same = bench(compare);
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_TRUE(says(same, "0 slower, 0 faster, 2 unchanged within the noise, 0 not comparable")) << same.out;
  EXPECT_EQ(read("new.json")["comparison"]["unchanged"], 2) << "as the text says";

  write("old.json", with_interval(1e-12, 1e-11));
  const Outcome slower = bench(compare);
  EXPECT_EQ(slower.status, 1);
  EXPECT_TRUE(says(slower, "2 slower")) << slower.out;
  EXPECT_EQ(read("new-1.json")["comparison"]["slower"], 2);

  write("slow.json", with_interval(1e9, 2e9));
  Words several = compare;
  several.insert(several.end(), {"--baseline", "slow.json", "--noise", "1"});
  const Outcome between = bench(several);
  EXPECT_EQ(between.status, 0) << between.err;
  EXPECT_TRUE(says(between, "compared with old.json, slow.json") && says(between, "2 unchanged")) << between.out;
  EXPECT_EQ(read("new-2.json")["comparison"]["noise_percent"], 1);

  write("old.json", with_interval(1e9, 2e9));
  const Outcome faster = bench(compare);
  EXPECT_EQ(faster.status, 0);
  EXPECT_TRUE(says(faster, "2 faster")) << faster.out;

  for (json& result : old["results"]) result["step_ms"]["low"] = nullptr;
  write("old.json", old);
  const Outcome unknown = bench(compare);
  EXPECT_EQ(unknown.status, 1);
  EXPECT_TRUE(says(unknown, "2 not comparable")) << unknown.out;
  EXPECT_NE(unknown.err.find("'old.json'"), std::string::npos) << unknown.err;
}

TEST_F(BenchCommand, TellsOfKernelCards) {
  const Outcome outcome = bench({"-n", "8", "--repeat", "1", "--card", "--json", "a.json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(says(outcome, "no kernel card: nothing ran on a GPU")) << outcome.out;
  const json whole = read("a.json");
  EXPECT_TRUE(whole["results"][0].contains("limits") && whole["results"][0]["limits"].is_null());
  EXPECT_TRUE(whole["peak_rates"].contains("reason") || whole["peak_rates"].contains("fma_per_s"));
}

TEST_F(BenchCommand, RefusesABaselineThatCannotBeRead) {
  expect_refused(bench({"-n", "8", "--baseline", "none.json"}), 1, {"none.json", "no such file"});
  std::ofstream{path("torn.json")} << "{\"results\": [";
  expect_refused(bench({"-n", "8", "--baseline", "torn.json"}), 1, {"torn.json", "not JSON"});
  std::ofstream{path("deep.json")} << R"({"results": [{"step_ms": {}, "n": )" << std::string(100'000, '[');
  expect_refused(bench({"-n", "8", "--baseline", "deep.json"}), 1, {"deep.json", "levels deep"});
  expect_refused(run_orrery({"bench", "--kernels", "auto", "-n", "8", "--baseline", path("deep.json")}), 1,
                 {"deep.json", "levels deep"});  // before auto measures
  expect_refused(bench({"-n", "8", "--baseline"}), 2, {"--baseline needs a value"});
  expect_refused(bench({"-n", "8", "--baseline", ""}), 2, {"--baseline"});
  expect_refused(bench({"-n", "8", "--noise", "5"}), 2, {"--noise", "add --baseline"});
  expect_refused(bench({"-n", "8", "--baseline", "a", "--noise", "nan"}), 2, {"--noise", "nan"});
}

TEST_F(BenchCommand, RefusesWhatTheProtocolDecides) {
  for (const Words& option :
       {Words{"-n", "8"}, {"--repeat", "3"}, {"--warmup", "3"}, {"--integrator", "leapfrog"}, {"--baseline", "a"}}) {
    Words words{"--protocol", "uth"};
    words.insert(words.end(), option.begin(), option.end());
    expect_refused(bench(words), 2,
                   {option.front() + " cannot be used with --protocol uth", "30000, 64000 and 128000"});
  }
  expect_refused(bench({"--protocol", "uth", "a.bin"}), 2, {"a.bin"});
  expect_refused(bench({"--protocol", "mit"}), 2, {"'mit'", "uth"});
  expect_refused(bench({"--protocol", "uth", "--scene", "two-body"}), 2, {"two-body"});
}

TEST_F(BenchCommand, KeepsWhatWasMeasuredWhenItIsInterrupted) {
  const Outcome outcome = bench({"-n", "64", "--repeat", "1000000", "--csv", "a.csv", "--json", "a.json"}, "a.csv");
  EXPECT_EQ(outcome.status, 130);
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  if (!std::filesystem::exists(path("a.json"))) return;  // the signal came before the first sample had ended
  const json whole = read("a.json");
  EXPECT_EQ(whole["stopped"], true);
  ASSERT_EQ(whole["results"].size(), 1u);
  EXPECT_EQ(lines(contents(path("a.csv"))).size(), 3u);
}

}  // namespace
}  // namespace orrery
