// `orrery bench` as a person runs it: ranks, baselines, the protocol, and what a stop leaves.
#include "compute/core/text.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/app/support/program.h"

namespace orrery::test {
namespace {

using nlohmann::json;

struct BenchCommand : ProgramTest {
  Outcome bench(const Words& more, const std::string& stop_file = {}) const {
    return run_orrery(
        Words{"bench", "--kernels", "cpu-serial,cpu-simd"} + more,
        {.folder = folder.path().string(), .interrupt_when_exists = stop_file.empty() ? stop_file : path(stop_file)});
  }
};

TEST_F(BenchCommand, MeasuresWhatAutoStandsFor) {
  const Outcome outcome = succeed("bench --kernels auto -n 8,64 --repeat 2 --json auto.json"_words);
  expect_holds(outcome.err, {"note: 64 bodies, gravity: auto: "});
  const json results = read_json("auto.json")["results"];
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0]["n"], 8);
  EXPECT_EQ(results[1]["n"], 64);
  for (const json& result : results) {
    const std::string id = result["kernel"];
    EXPECT_TRUE(id.starts_with("cpu-") || id.starts_with("cuda-")) << id;
  }
}

TEST_F(BenchCommand, RanksWhatHasIntervals) {
  const Outcome ranked = bench("-n 8,64 --repeat 6 --csv a.csv"_words);
  EXPECT_EQ(ranked.status, 0) << ranked.err;
  EXPECT_TRUE(says(ranked, "ranking at n=8") && says(ranked, "ranking at n=64")) << ranked.out;
  const auto csv = lines(read("a.csv"));
  ASSERT_EQ(csv.size(), 6u);
  expect_holds(csv[1], {"rank_first,rank_last,registers,local_bytes,occupancy,sm_clock_mhz_before"});
  const auto fields = [](const std::string& line) { return std::ranges::count(line, ','); };
  EXPECT_EQ(fields(csv[1]), fields(csv[4])) << "cpu-serial, of which no field holds a comma";
  const Outcome few = bench("-n 8 --repeat 5"_words);
  EXPECT_TRUE(says(few, "no ranking at n=8: fewer than 6 samples")) << few.out;
  const Outcome one = run_orrery("bench --kernels cpu-serial -n 8 --repeat 5"_words);
  EXPECT_TRUE(says(one, "fewer than 6 samples give no interval, and so no rank")) << one.out;
}

TEST_F(BenchCommand, ComparesWithABaseline) {
  const Words measure = "-n 64 --repeat 6 --json old.json"_words;
  ASSERT_EQ(bench(measure).status, 0);
  json old = read_json("old.json");
  const auto with_interval = [&](double low, double high) {
    json changed = old;
    for (json& result : changed["results"]) result["step_ms"].update({{"low", low}, {"median", low}, {"high", high}});
    return changed;
  };
  const Words compare = "-n 64 --repeat 6 --baseline old.json --json new.json"_words;

  write("old.json", with_interval(1e-12, 1e9).dump());
  const Outcome same = bench(compare);
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_TRUE(says(same, "0 slower, 0 faster, 2 unchanged within the noise, 0 not comparable")) << same.out;
  EXPECT_EQ(read_json("new.json")["comparison"]["unchanged"], 2) << "as the text says";

  write("old.json", with_interval(1e-12, 1e-11).dump());
  const Outcome slower = bench(compare);
  EXPECT_EQ(slower.status, 1);
  EXPECT_TRUE(says(slower, "2 slower")) << slower.out;
  EXPECT_EQ(read_json("new-1.json")["comparison"]["slower"], 2);

  write("slow.json", with_interval(1e9, 2e9).dump());
  Words several = compare;
  several.insert(several.end(), {"--baseline", "slow.json", "--noise", "1"});
  const Outcome between = bench(several);
  EXPECT_EQ(between.status, 0) << between.err;
  EXPECT_TRUE(says(between, "compared with old.json, slow.json") && says(between, "2 unchanged")) << between.out;
  EXPECT_EQ(read_json("new-2.json")["comparison"]["noise_percent"], 1);

  write("old.json", with_interval(1e9, 2e9).dump());
  const Outcome faster = bench(compare);
  EXPECT_EQ(faster.status, 0);
  EXPECT_TRUE(says(faster, "2 faster")) << faster.out;

  for (json& result : old["results"]) result["step_ms"]["low"] = nullptr;
  write("old.json", old.dump());
  const Outcome unknown = bench(compare);
  EXPECT_EQ(unknown.status, 1);
  EXPECT_TRUE(says(unknown, "2 not comparable")) << unknown.out;
  expect_holds(unknown.err, {"'old.json'"});
}

TEST_F(BenchCommand, TellsOfKernelCards) {
  const Outcome outcome = bench("-n 8 --repeat 1 --card --json a.json"_words);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(says(outcome, "no kernel card: nothing ran on a GPU")) << outcome.out;
  const json whole = read_json("a.json");
  EXPECT_TRUE(whole["results"][0].contains("limits") && whole["results"][0]["limits"].is_null());
  EXPECT_TRUE(whole["peak_rates"].contains("reason") || whole["peak_rates"].contains("fma_per_s"));
}

TEST_F(BenchCommand, RefusesABaselineThatCannotBeRead) {
  expect_refused(bench("-n 8 --baseline none.json"_words), 1, {"none.json", "no such file"});
  write("torn.json", "{\"results\": [");
  expect_refused(bench("-n 8 --baseline torn.json"_words), 1, {"torn.json", "not JSON"});
  std::ofstream{path("deep.json")} << R"({"results": [{"step_ms": {}, "n": )" << std::string(100'000, '[');
  expect_refused(bench("-n 8 --baseline deep.json"_words), 1, {"deep.json", "levels deep"});
  expect_refused(run_orrery({"bench", "--kernels", "auto", "-n", "8", "--baseline", path("deep.json")}), 1,
                 {"deep.json", "levels deep"});  // before auto measures
  expect_refused(bench({"-n", "8", "--baseline"}), 2, {"--baseline needs a value"});
  expect_refused(bench({"-n", "8", "--baseline", ""}), 2, {"--baseline"});
  expect_refused(bench("-n 8 --noise 5"_words), 2, {"--noise", "add --baseline"});
  expect_refused(bench("-n 8 --baseline a --noise nan"_words), 2, {"--noise", "nan"});
}

TEST_F(BenchCommand, RefusesWhatTheProtocolDecides) {
  for (const Words& option :
       {Words{"-n", "8"}, {"--repeat", "3"}, {"--warmup", "3"}, {"--integrator", "leapfrog"}, {"--baseline", "a"}}) {
    expect_refused(bench(Words{"--protocol", "uth"} + option), 2,
                   {option.front() + " cannot be used with --protocol uth", "30000, 64000 and 128000"});
  }
  expect_refused(bench({"--protocol", "uth", "a.bin"}), 2, {"a.bin"});
  expect_refused(bench({"--protocol", "mit"}), 2, {"'mit'", "uth"});
  expect_refused(bench("--protocol uth --scene two-body"_words), 2, {"two-body"});
}

TEST_F(BenchCommand, KeepsWhatWasMeasuredWhenItIsInterrupted) {
  const Outcome outcome = bench("-n 64 --repeat 1000000 --csv a.csv --json a.json"_words, "a.csv");
  EXPECT_EQ(outcome.status, 130);
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  if (!std::filesystem::exists(path("a.json"))) return;  // the signal came before the first sample had ended
  const json whole = read_json("a.json");
  EXPECT_EQ(whole["stopped"], true);
  ASSERT_EQ(whole["results"].size(), 1u);
  EXPECT_EQ(lines(read("a.csv")).size(), 3u);
}

// `orrery verify` of the built program: what it prints, what it writes, and when it fails.

using VerifyCommand = ProgramTest;

TEST_F(VerifyCommand, ChecksEveryCountUnderEveryLaw) {
  const Outcome outcome = succeed("verify --kernels cpu-serial,cpu-simd -n 1,2,33 --csv v.csv"_words);
  expect_holds(outcome.out, {"12 checks, 0 failed"});
  expect_lacks(outcome.out, {"last place", "second euler step"});
  const auto csv = lines(read("v.csv"));
  ASSERT_EQ(csv.size(), 2u + 12u);
  expect_holds(csv[2], {",PASS"});
  expect_holds(csv[1], {"n,dt,softening,repulsion,sample,error_rms,error_median,error_p99,error_max,worst_body,"});
  const auto metadata = nlohmann::json::parse(csv[0].substr(2));
  EXPECT_EQ(metadata["law"], (std::vector<std::string>{"gravity", "attract-repel"}));
  EXPECT_EQ(metadata["n"], (std::vector{1, 2, 33}));
  EXPECT_EQ(metadata["repulsion"], 0.002);
  EXPECT_EQ(metadata["sample"], 4096);
}

TEST_F(VerifyCommand, EvaluatesTheSampleAlone) {
  const auto rows = [this](const Words& more) {
    succeed(
        "verify --kernels cpu-serial,cpu-symmetric -n 300 --sample 7 --softening 0.1 --repulsion 0.003 "
        "--json v.json --force"_words +
        more);
    return read_json("v.json")["results"];
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

TEST_F(VerifyCommand, TakesASampleOrAllBodies) {
  const auto sample = [this](const char* size) {
    succeed("verify --kernels cpu-serial -n 100 --law gravity --json v.json --force --sample"_words + Words{size});
    return read_json("v.json")["results"].at(0);
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

TEST_F(VerifyCommand, ShowsDistributionsWhereAskedFor) {
  const Outcome outcome =
      succeed("verify --kernels cpu-serial,cpu-simd -n 100 --histogram --digits --csv v.csv --json v.json"_words);
  expect_holds(outcome.out, {"components by units in the last place"});
  EXPECT_NE(outcome.out.find("none: 300 (100%)"), std::string::npos) << "cpu-serial against itself: " << outcome.out;
  expect_holds(outcome.out, {"wrote v.csv\nwrote v.json\n"});
  const auto whole = read_json("v.json");
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
  expect_holds(read("v.csv"), {",none:300,0,PASS,PASS\n"});
}

// One body whose forces overflow: infinity times the zero distance to itself.
TEST_F(VerifyCommand, FailsWhereForcesAreNotFinite) {
  const std::string heavy = path("heavy.tipsy");
  write_snapshot(heavy, {{{{0, 0, 0, 1e15f}}, {{0, 0, 0, 0}}}});
  const Outcome outcome = run_orrery({"verify", heavy, "--kernels", "cpu-serial", "--law", "attract-repel",
                                      "--softening", "1e-6", "--repulsion", "1e6", "--histogram", "--digits"});
  EXPECT_EQ(outcome.status, 1);
  expect_holds(outcome.out, {"nan", "FAIL", "not finite: 3 (100%)", "integer part: 3 (100%)", "1 check, 1 failed"});
}

TEST_F(VerifyCommand, ChecksEveryValueOfASetting) {
  const Outcome outcome = succeed("verify --kernels cpu-simd --set rows=all -n 33 --law gravity"_words);
  expect_holds(outcome.out, {"rows=1 ", "rows=4 "});
}

// `orrery compare` of the built program: what it prints, what it writes, and what it refuses.

using CompareCommand = ProgramTest;

TEST_F(CompareCommand, WritesTheSamplesAndTheirGrowth) {
  const Outcome outcome = succeed(
      "compare --a cpu-serial --b cpu-simd --scene plummer -n 100 --steps 10 --every 2 --csv c.csv --json c.json"_words);
  expect_holds(outcome.out, {"Too few samples for an e-folding time", "wrote c.csv\nwrote c.json\n"});
  const auto csv = lines(read("c.csv"));
  ASSERT_EQ(csv.size(), 2u + 6u) << "the first state, and every second step";
  EXPECT_EQ(csv[1], "step_a,step_b,time,distance_rms,distance_median,distance_greatest,energy_error_a,energy_error_b");
  EXPECT_EQ(csv[2], "0,0,0,0,0,0,0,0");
  EXPECT_TRUE(csv.back().starts_with("10,10,")) << csv.back();
  const auto whole = read_json("c.json");
  EXPECT_EQ(whole["metadata"]["a"]["kernel"], "cpu-serial");
  EXPECT_EQ(whole["metadata"]["b"]["kernel"], "cpu-simd");
  EXPECT_EQ(whole["metadata"]["n"], 100);
  EXPECT_EQ(whole["growth"]["kind"], "too-few");
  EXPECT_TRUE(whole["growth"]["e_folding_time"].is_null());
  EXPECT_EQ(whole["samples"].size(), 6u);
  EXPECT_GT(whole["speeds"]["b"]["step_ms"].get<double>(), 0);
  EXPECT_EQ(whole["stopped"], false);
}

TEST_F(CompareCommand, SaysInItsFileThatItWasStopped) {
  const Outcome outcome = run_orrery(
      "compare --a cpu-serial --b cpu-simd --scene plummer -n 100 --steps 100000000 --csv c.csv --json c.json"_words,
      {.folder = folder.path().string(), .interrupt_when_exists = folder / "c.csv"});
  expect_complaint(outcome, 130, {"stopped before the end"});
  EXPECT_EQ(read_json("c.json")["stopped"], true);
}

TEST_F(CompareCommand, SaysThatTheSameRunIsIdentical) {
  const Outcome outcome = succeed("compare --a cpu-serial --b cpu-serial --scene plummer -n 50 --steps 5"_words);
  expect_holds(outcome.out, {"The runs are identical"});
}

TEST_F(CompareCommand, ReportsABodyThatIsNotFiniteInOneLine) {
  const Outcome outcome =
      run_orrery("compare --a cpu-serial --b cpu-serial,dt=1e30 --dt 1e30 --scene plummer -n 50 --steps 5"_words);
  expect_complaint(outcome, 1, {"A (cpu-serial): body", "is not finite"});
}

TEST_F(CompareCommand, RefusesWhatItCannotCompare) {
  expect_refused(run_orrery({"compare"}), 2, {"needs two variants", "--a KERNEL"});
  expect_refused(run_orrery({"compare", "--a", "cpu-simd"}), 2, {"needs two variants", "--b KERNEL"});
  expect_refused(run_orrery("compare --a cpu-simd --b cpu-tree,theta=9"_words), 2, {"theta", "9"});
  expect_refused(run_orrery("compare --a cpu-simd --b cpu-simd,dt=0.003 --dt 0.01"_words), 2,
                 {"0.01", "0.003", "whole multiple"});
  expect_refused(run_orrery("compare --a cpu-simd --b cpu-simd --steps 0"_words), 2, {"--steps"});
  expect_refused(run_orrery("compare --a cpu-simd --b cpu-simd --drag 1"_words), 2, {"attract-repel"});
}

// The choices that `auto` keeps from one run of the program to the next.

struct AutoCommand : ProgramTest {
  /// Lines on stderr that are no notes of bench.
  static int complaints(const Outcome& outcome) {
    return static_cast<int>(std::ranges::count_if(
        lines(outcome.err), [](const std::string& line) { return line.starts_with("orrery: "); }));
  }
  Outcome run(const Words& words) const {
    return run_orrery(words, {.folder = folder.path().string(), .cache_folder = cache});
  }
  Outcome choose(const std::string& cache_folder, const std::string& count = "64") const {
    const Outcome outcome = run_orrery({"bench", "--kernels", "auto", "-n", count, "--repeat", "1"},
                                       {.folder = folder.path().string(), .cache_folder = cache_folder});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    expect_holds(outcome.err, {"note: " + format_count(std::stoi(count)) + " bodies, gravity: auto: "});
    return outcome;
  }
  json info() const {
    const Outcome outcome = run({"info", "--json"});
    EXPECT_NE(outcome.status, 1) << outcome.err;
    return json::parse(outcome.out)["auto"];
  }

  const std::string cache = path("cache");
  const std::filesystem::path file = folder / "cache" / "orrery" / "auto-kernels.json";
};

TEST_F(AutoCommand, IsTakenByEveryCommandThatTakesKernels) {
  for (const Words& words :
       {"verify --kernels auto -n 64 --law gravity"_words, "verify --kernels auto,cpu-serial -n 64 --law gravity"_words,
        "bench --kernels cpu-serial,auto -n 64 --repeat 1"_words,
        "race --scene plummer -n 64 --until 0.01 --kernels auto --integrators leapfrog,hermite4 --dt 0.01"_words,
        "compare --a auto --b cpu-serial --scene plummer -n 64 --steps 4"_words,
        "profile --kernels auto --scene plummer -n 64"_words}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 0) << words.front() << ": " << outcome.err;
    const std::string before = " bodies, gravity: auto: ";
    const std::size_t at = outcome.err.find(before);
    ASSERT_NE(at, std::string::npos) << words.front() << ": " << outcome.err;
    const std::string rest = outcome.err.substr(at + before.size());
    expect_holds(outcome.out, {rest.substr(0, rest.find_first_of(" ,\n"))});
  }
}

TEST_F(AutoCommand, ARunSaysWhatAutoChose) {
  const Outcome outcome = run("run --scene plummer -n 4096 --steps 1 --diagnostics d.csv"_words);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  expect_holds(outcome.out, {"auto chose the kernel (accuracy 0.0005): "});
  const std::string first = lines(read("d.csv")).front();
  const json metadata = json::parse(first.substr(first.find('{')));
  expect_holds(outcome.out, {"kernel " + metadata["kernel"].get<std::string>()});
  EXPECT_FALSE(metadata["settings"].empty());
  EXPECT_EQ(metadata["auto"]["accuracy"], 5e-4);
  const Outcome named = run("run --scene plummer -n 64 --steps 1 --kernel cpu-simd --set rows=2"_words);
  expect_holds(named.out, {"kernel cpu-simd rows=2\n"});
  expect_lacks(named.out, {"auto chose"});
}

TEST_F(AutoCommand, KeepsWhatItMeasuredAndTells) {
  EXPECT_EQ(info()["choices"].size(), 0u);
  EXPECT_EQ(complaints(choose(cache)), 0);
  const std::string cached = contents(file);
  EXPECT_EQ(complaints(choose(cache)), 0);
  EXPECT_EQ(contents(file), cached) << "nothing is measured again";
  const json told = info();
  EXPECT_EQ(told["cache"], file.string());
  EXPECT_EQ(told["problem"], "");
  ASSERT_EQ(told["choices"].size(), 1u);
  EXPECT_EQ(told["choices"][0]["law"], "gravity");
  EXPECT_EQ(told["choices"][0]["bodies"], 64);
  EXPECT_GT(told["choices"][0]["step_ms"], 0);
  expect_holds(run({"info", "--wide"}).out, {file.string(), "gravity, about 64 bodies"});
}

TEST_F(AutoCommand, TellsForWhichTreesItMeasured) {
  choose(cache, "8192");
  const std::string cached = contents(file);
  choose(cache, "8192");
  EXPECT_EQ(contents(file), cached) << "the same ones meet the accuracy";
  const json told = info();
  ASSERT_EQ(told["choices"].size(), 1u);
  const json trees = told["choices"][0]["accurate_variants"];
  ASSERT_GE(trees.size(), 1u) << told;
  const Outcome text = run({"info", "--wide"});
  const std::string line = "accuracy 0.0005 (met by " + trees[0].get<std::string>();
  expect_holds(text.out, {line});
}

TEST_F(AutoCommand, GoesOnWithoutACacheThatCanBeUsed) {
  choose(cache);
  std::ofstream{file} << "rubbish";
  const Outcome corrupt = choose(cache);
  EXPECT_EQ(complaints(corrupt), 1) << corrupt.err;
  expect_holds(corrupt.err, {file.string()});
  EXPECT_EQ(complaints(choose(cache)), 0) << "it was written anew";

  std::ofstream{file} << std::string(300'000, '[');
  expect_holds(info()["problem"].get<std::string>(), {file.string()});
  EXPECT_EQ(complaints(choose(cache)), 1);

  std::ofstream{folder / "file"} << "in the way";
  const Outcome blocked = choose(path("file"));
  EXPECT_EQ(complaints(blocked), 1) << blocked.err;
  expect_holds(blocked.err, {"cannot be cached"});
}

}  // namespace
}  // namespace orrery::test
