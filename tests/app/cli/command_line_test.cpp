// The built program as a person runs it: exit statuses, what it prints where, what it writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compute/core/temporary_folder.h"
#include "compute/kernels/kernel.h"
#include "compute/sim/backends.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/app/support/program.h"
#include "tests/app/support/text_file.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

using test::contents;
using test::expect_refused;
using test::lines;
using test::Outcome;
using test::run_orrery;
using Words = std::vector<std::string>;

struct BadInput {
  Words arguments;
  Words said;  ///< what the one line on stderr must contain
};

void expect_all_refused(int status, const std::vector<BadInput>& inputs) {
  for (const BadInput& input : inputs) {
    std::string command = "orrery";
    for (const std::string& word : input.arguments) command.append(" '").append(word).append("'");
    SCOPED_TRACE(command);
    const Outcome outcome = run_orrery(input.arguments);
    expect_refused(outcome, status, input.said);
  }
}

TEST(CommandLine, RefusesUnknownNames) {
  expect_all_refused(2, {
                            {{"--kernle", "cpu-simd"}, {"--kernle", "--kernel"}},
                            {{"bench", "--frames", "3"}, {"--frames", "--repeat"}},
                            {{"kernels", "--csv", "a"}, {"--csv", "--json"}},
                            {{"kernels", "fast"}, {"'fast'", "cpu-serial"}},
                            {{"kernels", "cpu-simd", "cpu-serial"}, {"'cpu-serial'", "one ID"}},
                            {{"info", "all"}, {"'all'", "--json"}},
                            {{"bnech"},
                             {"bnech",
                              "view, render, bench, report, verify, profile, compare, race, run, replay, convert, "
                              "inspect, kernels, info"}},
                            {{"bench", "a.bin", "b.bin"}, {"b.bin", "one FILE"}},
                            {{"--kernel", "fast"}, {"'fast'", "cpu-serial"}},
                            {{"bench", "--kernels", "cpu-simd,fast"}, {"'fast'", "cpu-serial"}},
                            {{"--kernel", "cpu-simd", "--set", "warp=3"}, {"'warp'", "threads"}},
                            {{"--kernel", "cpu-simd", "--set", "threads=0"}, {"threads", "'0'", "auto"}},
                            {{"--kernel", "cpu-simd", "--block", "64"}, {"'block'", "threads"}},
                            {{"--set", "theta=0.5", "--offscreen", "--frames", "2"},
                             {"--set theta needs the kernel that it is for: add --kernel with one of: cpu-tree"}},
                            {{"run", "--steps", "1", "--set", "theta=0.5"}, {"--kernel with one of: cpu-tree"}},
                            {{"--integrator", "rk4"}, {"'rk4'", "leapfrog", "euler"}},
                            {{"--law", "push"}, {"'push'", "gravity", "attract-repel"}},
                            {{"verify", "--law", "push"}, {"'push'", "gravity", "attract-repel"}},
                            {{"--scene", "galaxy"}, {"'galaxy'", "collision", "two-body"}},
                            {{"--byte-order", "middle"}, {"'middle'", "big", "little"}},
                            {{"render", "--theme", "pink"}, {"'pink'", "dark", "light"}},
                        });
}

TEST(CommandLine, RefusesValuesOutOfRange) {
  std::vector<BadInput> inputs;
  for (const char* count : {"0", "-1", "abc", "", "1.5", "99999999999", "k"}) {
    for (const Words& before : {Words{}, {"bench"}, {"verify"}}) {
      Words arguments = before;
      arguments.insert(arguments.end(), {"-n", count});
      inputs.push_back({arguments, {"-n", std::string{"'"}.append(count).append("'")}});
    }
  }
  for (const char* step : {"0", "-0.1", "nan", "inf", "fast"}) inputs.push_back({{"--dt", step}, {"--dt", "above 0"}});
  for (const char* size : {"640", "0x0", "640x", "wide"}) inputs.push_back({{"--size", size}, {"--size", "1280x720"}});
  inputs.insert(inputs.end(), {
                                  {{"--softening", "0"}, {"--softening", "from 1e-10 to 1e12"}},
                                  {{"--softening", "2e12"}, {"--softening", "from 1e-10 to 1e12"}},
                                  {{"--repulsion", "-1"}, {"--repulsion", "from 0 to 1e6"}},
                                  {{"--repulsion", "2e6"}, {"--repulsion", "from 0 to 1e6"}},
                                  {{"--drag", "nan"}, {"--drag", "from 0 to 1e6"}},
                                  {{"--drag", "inf"}, {"--drag", "from 0 to 1e6"}},
                                  {{"bench", "-n", "8,2000M"}, {"memory"}},
                                  {{"verify", "--scene", "collision", "-n", "8,1"}, {"collision", "1", "2"}},
                                  {{std::string(300, 'x')}, {"neither a subcommand nor a file"}},
                                  {{"--frames", "0"}, {"--frames", "at least 1"}},
                                  {{"--steps-per-frame", "1001"}, {"--steps-per-frame", "1 to 1000"}},
                                  {{"--seed", "-1"}, {"--seed"}},
                                  {{"--panel", "yes"}, {"--panel", "on or off"}},
                                  {{"--device", "-1"}, {"--device"}},
                                  {{"bench", "--devices", "0,,1"}, {"--devices", "0,,1", "all"}},
                                  {{"bench", "--repeat", "0"}, {"--repeat"}},
                                  {{"bench", "--warmup", "-1"}, {"--warmup"}},
                                  {{"bench", "-n", "1k,,2k"}, {"-n", "1k,,2k"}},
                                  {{"bench", "--scene", "two-body", "-n", "3"}, {"two-body", "3", "2"}},
                                  {{"verify", "--scene", "collision", "-n", "1"}, {"collision", "1", "2"}},
                                  {{"verify", "--sample", "0"}, {"--sample", "'0'", "all"}},
                                  {{"verify", "--sample", "some"}, {"--sample", "'some'", "all"}},
                                  {{"verify", "--set", "warp=all"}, {"'warp'", "threads"}},
                                  {{"-n"}, {"-n needs a value"}},
                                  {{"--kernel"}, {"--kernel needs a value"}},
                                  {{"--record", ""}, {"--record"}},
                              });
  expect_all_refused(2, inputs);
}

TEST(CommandLine, RefusesMoreBodiesThanMemoryHolds) {
  expect_all_refused(2, {{{"bench", "-n", "2147483647"}, {"2147483647", "memory"}}});
}

TEST(CommandLine, RefusesScriptsByTheirLine) {
  const TemporaryFolder folder;
  const std::string script = (folder / "demo.txt").string();
  std::ofstream{script} << "0 pause\n1 kernel fast\n";
  expect_all_refused(2, {{{"--script", script}, {"demo.txt:2: ", "'fast'", "cpu-serial"}}});
  expect_all_refused(1, {{{"--script", (folder / "none.txt").string()}, {"none.txt", "No such file"}}});
}

TEST(CommandLine, FailsWhereAFileCannotBeUsed) {
  const TemporaryFolder folder;
  const std::string missing = (folder / "none.bin").string(), empty = (folder / "empty.bin").string();
  std::ofstream{empty} << "";
  const Words quick{"bench", "--kernels", "cpu-serial", "-n", "8", "--repeat", "1"};
  const auto with = [&](const Words& more) {
    Words arguments = quick;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  expect_all_refused(1, {
                            {{"bench", missing}, {"none.bin"}},
                            {{"verify", missing}, {"none.bin"}},
                            {{"bench", empty}, {"empty.bin"}},
                            {with({"--csv", (folder / "none").string() + "/a.csv"}), {"a.csv", "No such file"}},
                            {with({"--json", folder.path().string() + "/none/a.json"}), {"a.json", "No such file"}},
                            {with({"--csv", "/dev/full"}), {"/dev/full", "No space left"}},
                        });
}

// One body whose forces overflow: infinity times the zero distance to itself.
TEST(CommandLine, FailsWhereForcesAreNotFinite) {
  const TemporaryFolder folder;
  const std::string heavy = (folder / "heavy.tipsy").string();
  write_snapshot(heavy, {{{{0, 0, 0, 1e15f}}, {{0, 0, 0, 0}}}});
  const Outcome outcome = run_orrery({"bench", heavy, "--kernels", "cpu-serial", "--repeat", "1", "--law",
                                      "attract-repel", "--softening", "1e-6", "--repulsion", "1e6"});
  expect_refused(outcome, 1, {"cpu-serial n=1", "not finite"});
}

TEST(CommandLine, LeavesNoFileBehindWhereNothingWasMeasured) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_orrery({"bench", "--kernels", "cpu-serial", "-n", "8", "--csv", "a.csv", "--json", "none/b.json"},
                 {.folder = folder.path().string()});
  expect_refused(outcome, 1, {"b.json", "No such file"});
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Measurements are still shown when a file cannot take them.
TEST(CommandLine, LosesNoResultsToAFullDisk) {
  const Outcome json = run_orrery({"bench", "--kernels", "cpu-serial", "-n", "8", "--json", "/dev/full"});
  test::expect_complaint(json, 1, {"/dev/full", "No space left"});
  EXPECT_NE(json.out.find("cpu-serial"), std::string::npos);

  const TemporaryFolder folder;
  const std::string file = (folder / "a.csv").string();
  const Outcome csv = run_orrery({"verify", "--kernels", "cpu-serial", "--csv", file}, {.most_file_bytes = 2048});
  test::expect_complaint(csv, 1, {file, "File too large"});
  EXPECT_NE(csv.out.find("20 checks, 0 failed"), std::string::npos) << csv.out;
  EXPECT_EQ(contents(file).back(), '\n');

  expect_refused(run_orrery({"kernels"}, {.stdout_to = "/dev/full"}), 1, {"stdout", "No space left"});
}

TEST(CommandLine, NamesTheReasonForADeviceThatIsNotHere) {
  if (test::backends().status(Backend::cuda).available) GTEST_SKIP() << "there is one";
  const std::string& reason = test::backends().status(Backend::cuda).reason;
  expect_all_refused(1, {{{"bench", "--device", "0"}, {"device 0", reason}},
                         {{"bench", "--devices", "all"}, {"device 0", reason}},
                         {{"verify", "--devices", "1,0"}, {"device 1", reason}},
                         {{"run", "--steps", "1", "--devices", "0,1"}, {"device 0", reason}},
                         {{"view", "--offscreen", "--devices", "0,1"}, {"device 0", reason}}});
  for (const KernelPtr& kernel : test::kernels()) {
    if (kernel->backend == Backend::cuda) {
      expect_all_refused(1, {{{"bench", "--kernels", kernel->id}, {kernel->id, reason}}});
    }
  }
  EXPECT_NE(run_orrery({"info", "--wide"}).out.find("unavailable: " + reason), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(run_orrery({"info", "--json"}).out)["cuda"]["reason"], reason);
  if (ORRERY_HAVE_CUDA) {
    EXPECT_NE(run_orrery({"kernels", "--wide"}).out.find("unavailable: " + reason), std::string::npos);
  }
}

TEST(CommandLine, ShowsHelpAndVersion) {
  for (const Words& arguments : {Words{"--help"},
                                 {"view", "--help"},
                                 {"bench", "-h"},
                                 {"verify", "-h"},
                                 {"kernels", "-h"},
                                 {"info", "-h"},
                                 {"help"},
                                 {"help", "bench"},
                                 {"--version"},
                                 {"version"}}) {
    const Outcome outcome = run_orrery(arguments);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_NE(outcome.out.find("orrery"), std::string::npos);
    for (const std::string& line : lines(outcome.out)) EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST(CommandLine, ListsEveryKernel) {
  const Outcome json = run_orrery({"kernels", "--json"}), text = run_orrery({"kernels"});
  EXPECT_EQ(json.status + text.status, 0);
  const auto list = nlohmann::json::parse(json.out);
  ASSERT_EQ(list.size(), test::kernels().size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const KernelInfo& kernel = *test::kernels()[i];
    EXPECT_EQ(list[i]["id"], kernel.id);
    EXPECT_EQ(list[i]["tunables"].size(), kernel.tunables.size());
    EXPECT_EQ(list[i]["available"], test::backends().status(kernel.backend).available);
    EXPECT_EQ(list[i]["lesson"], kernel.lesson);
    EXPECT_EQ(list[i]["repeatable"], kernel.repeatable);
    EXPECT_EQ(list[i]["takes_targets"], kernel.takes_targets);
    EXPECT_EQ(list[i]["gives_jerks"], kernel.gives_jerks);
    EXPECT_EQ(list[i]["tolerance"]["max"], kernel.tolerance.max);
    EXPECT_NE(text.out.find(kernel.id), std::string::npos);
  }
}

TEST(CommandLine, DescribesOneKernel) {
  const KernelInfo& kernel = *test::find_kernel("cpu-simd");
  const Outcome json = run_orrery({"kernels", "cpu-simd", "--json"}),
                text = run_orrery({"kernels", "cpu-simd", "--wide"});
  EXPECT_EQ(json.status + text.status, 0) << json.err << text.err;
  const auto list = nlohmann::json::parse(json.out);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["id"], "cpu-simd");
  EXPECT_NE(text.out.find(kernel.lesson), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("cpu-serial"), std::string::npos) << text.out;
}

TEST(CommandLine, DescribesTheMachine) {
  const Outcome json = run_orrery({"info", "--json"}), text = run_orrery({"info"});
  const auto info = nlohmann::json::parse(json.out);
  const std::map<std::string, int> statuses{{"healthy", 0}, {"degraded", 3}, {"broken", 4}};
  ASSERT_TRUE(statuses.contains(info["health"])) << info["health"];
  EXPECT_EQ(json.status, statuses.at(info["health"])) << json.err;
  EXPECT_EQ(text.status, json.status) << text.err;
  EXPECT_EQ(run_orrery({"doctor"}).status, json.status);
  for (const auto& finding : info["findings"]) EXPECT_TRUE(finding["health"] == "healthy" || finding["cure"] != "");
  EXPECT_TRUE(info["health"] == "healthy" || !info["findings"].empty());
  EXPECT_EQ(info["ranks"], 1);
  EXPECT_EQ(info["cpu"]["name"], test::backends().status(Backend::cpu).device);
  EXPECT_GT(info["cpu"]["peak_rates"]["fma_per_s"], 0);
  EXPECT_TRUE(info["cpu"]["peak_rates"].contains("memory_bytes_per_s"));
  EXPECT_EQ(info["cuda"]["available"], test::backends().status(Backend::cuda).available);
  EXPECT_EQ(info["cuda"]["built_for"].get<std::string>().find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz-,"),
            std::string::npos)
      << "not a list of architectures: " << info["cuda"]["built_for"];
  EXPECT_TRUE(info["gl"].contains("renderer"));
  EXPECT_NE(text.out.find("OpenGL"), std::string::npos);
  const std::string why = test::backends().status(Backend::cuda).reason.substr(0, 30);  // more may be on the next line
  const std::size_t first = text.out.find(why);
  EXPECT_TRUE(why.empty() || text.out.find(why, first + 1) == std::string::npos) << "once is enough: " << text.out;
}

TEST(CommandLine, SaysThatTheViewerWasNotBuilt) {
  const auto info = nlohmann::json::parse(run_orrery({"info", "--json"}).out);
  if (info["gl"]["problem"] != "the viewer was not built") GTEST_SKIP() << "it was";
  expect_all_refused(
      1, {{{}, {"viewer was not built", "ORRERY_VIEWER"}}, {{"view", "-n", "8"}, {"viewer was not built"}}});
}

TEST(CommandLine, Benches) {
  const TemporaryFolder folder;
  const Words arguments{"bench",       "--kernels", "cpu-serial,cpu-simd",
                        "-n",          "8,64",      "--set",
                        "threads=1,2", "--repeat",  "6",
                        "--csv",       "a.csv",     "--json",
                        "a.json"};
  const Outcome outcome = run_orrery(arguments, {.folder = folder.path().string()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("cpu-serial has no setting 'threads'"), std::string::npos) << outcome.err;
  const auto csv = lines(contents((folder / "a.csv").string()));
  ASSERT_EQ(csv.size(), 2u + 6u) << "2 counts of (cpu-serial, cpu-simd with 1 thread, with 2)";
  const auto metadata = nlohmann::json::parse(csv[0].substr(2));
  for (const char* name : {"program", "version", "git", "build_flags", "date", "cpu", "gpu", "driver", "scene", "n",
                           "seed", "integrator", "law", "dt", "softening"}) {
    EXPECT_TRUE(metadata.contains(name)) << name;
  }
  EXPECT_EQ(metadata["warmup_steps"], 3);
  EXPECT_NE(metadata["build_flags"].get<std::string>().find(" -"), std::string::npos)
      << "the compiler's flags: " << metadata["build_flags"];
  EXPECT_EQ(csv[2].find("cpu-serial,cpu,"), 0u);
  const auto json = nlohmann::json::parse(contents((folder / "a.json").string()));
  ASSERT_EQ(json["results"].size(), 6u);
  EXPECT_EQ(json["metadata"], metadata);
  for (const auto& result : json["results"]) {
    EXPECT_GT(result["interactions_per_s"].get<double>(), 0);
    EXPECT_LE(result["step_ms"]["min"].get<double>(), result["step_ms"]["median"].get<double>());
    EXPECT_LE(result["step_ms"]["low"].get<double>(), result["step_ms"]["median"].get<double>());
    EXPECT_LT(result["error"]["median"].get<double>(), 1e-5);
  }
  EXPECT_EQ(run_orrery(arguments, {.folder = folder.path().string()}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "a-1.csv") && std::filesystem::exists(folder / "a-1.json"));
}

TEST(CommandLine, RecordsTheWarmUpStepsThatAreAlwaysMade) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_orrery({"bench", "--kernels", "cpu-serial", "-n", "8", "--repeat", "1", "--warmup", "0", "--json", "a.json"},
                 {.folder = folder.path().string()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(contents((folder / "a.json").string()))["metadata"]["warmup_steps"], 2);
}

TEST(CommandLine, BenchesAllThatCanRunAndListsTheRest) {
  const Outcome outcome = run_orrery({"bench", "-n", "8", "--repeat", "1"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::size_t first = outcome.out.find("skipped ");
  const std::string measured = outcome.out.substr(0, first), skipped = outcome.out.substr(measured.size());
  for (const KernelPtr& kernel : test::kernels()) {
    const bool available = test::backends().status(kernel->backend).available;
    EXPECT_EQ(measured.find(std::string{kernel->id} + ' ') != std::string::npos, available) << kernel->id;
    EXPECT_TRUE(available || skipped.find(kernel->id) != std::string::npos) << kernel->id;
  }
  EXPECT_EQ(skipped.find("skipped ", 1), std::string::npos) << "one reason, once: " << skipped;
}

TEST(CommandLine, ShowsProgressWhereAskedFor) {
  const Words quick{"verify", "--kernels", "cpu-serial", "-n", "8"};
  EXPECT_EQ(run_orrery(quick).err, "") << "stderr is no terminal here";
  Words asked = quick;
  asked.push_back("--progress");
  EXPECT_NE(run_orrery(asked).err.find('%'), std::string::npos);
}

}  // namespace
}  // namespace orrery
