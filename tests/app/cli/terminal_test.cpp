// The built program's text for people: it fits, in Markdown as well, and no name in it steers a terminal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/text/table.h"
#include "compute/core/temporary_folder.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/app/support/program.h"
#include "tests/app/support/text_file.h"

namespace orrery {
namespace {

using test::lines;
using test::Outcome;
using test::run_orrery;
using Words = std::vector<std::string>;

const std::vector<Words> commands{{"bench", "-n", "64,128", "--repeat", "6", "--set", "threads=1,2"},
                                  {"bench", "-n", "64", "--repeat", "6", "--card"},
                                  {"verify", "-n", "33,100", "--histogram", "--digits"},
                                  {"kernels"},
                                  {"kernels", "cpu-tree"},
                                  {"info"}};

/// Not refused and not failed: `info` has a status of its own for each state of the machine.
Outcome run(const Words& words) {
  const Outcome outcome = run_orrery(words);
  EXPECT_TRUE(outcome.status == 0 || (words.front() == "info" && outcome.status >= 3)) << outcome.err;
  return outcome;
}

Outcome run_with(Words words, const std::string& more) {
  words.push_back(more);
  return run(words);
}

TEST(Terminal, TablesFitAHundredColumns) {
  for (const Words& words : commands) {
    const Outcome outcome = run(words);
    EXPECT_GT(lines(outcome.out).size(), 1u) << "a table";
    for (const std::string& line : lines(outcome.out)) EXPECT_LE(columns_of(line), 100u) << line;
    EXPECT_EQ(outcome.out.find('\033'), std::string::npos) << "colours are for terminals";
  }
}

TEST(Terminal, TablesAreWholeWhereTheyMayBeWide) {
  const std::string bench = run_with(commands[0], "--wide").out;
  for (const char* part : {"min ms", "95% interval", "GFLOP/s", "error p99", "rows=auto threads=1"}) {
    EXPECT_NE(bench.find(part), std::string::npos) << part << " is not in\n" << bench;
  }
  EXPECT_NE(run_with({"verify", "-n", "33"}, "--wide").out.find("allowed median"), std::string::npos);
}

TEST(Terminal, TablesAreMarkdownWhereAskedFor) {
  for (const Words& words : commands) {
    const std::string text = run_with(words, "--markdown").out;
    std::ptrdiff_t pipes = 0;
    for (const std::string& line : lines(text)) {
      if (!line.starts_with('|')) {
        pipes = 0;
        continue;
      }
      const std::ptrdiff_t here = std::ranges::count(line, '|') - 2 * (line.find("\\|da\\|") != std::string::npos);
      if (pipes > 0) {
        EXPECT_EQ(here, pipes) << "as many cells in every row of a table: " << line;
      }
      pipes = here;
    }
    EXPECT_NE(text.find("| --- |"), std::string::npos) << text;
  }
}

TEST(Terminal, JsonHasNoTables) {
  for (const char* command : {"kernels", "info"}) {
    const Outcome outcome = run_orrery({command, "--json", "--wide"});
    EXPECT_EQ(outcome.status, 2) << outcome.err;
  }
}

TEST(Terminal, CountsHaveCommasForPeopleAndNoneInFiles) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_orrery({"bench", "--kernels", "cpu-simd", "-n", "1493", "--repeat", "1", "--json", "a.json"},
                 {.folder = folder.path().string()});
  EXPECT_NE(outcome.out.find("1,493"), std::string::npos) << outcome.out;
  EXPECT_EQ(nlohmann::json::parse(test::contents((folder / "a.json").string()))["results"][0]["n"], 1493);
}

TEST(Terminal, NamesTheInstructionSetAsOthersDo) {
  const Outcome info = run_orrery({"info"}),
                bench = run_orrery({"bench", "--wide", "--kernels", "cpu-simd", "-n", "8"});
  for (const Outcome& outcome : {info, bench}) EXPECT_EQ(outcome.out.find("AVX3"), std::string::npos) << outcome.out;
}

TEST(Messages, EchoNoControlCharactersAndNoWordOfAnyLength) {
  const std::vector<Words> hostile{{"--scene", "a\033[2J\a"},
                                   {"--scene", std::string(100'000, 'x')},
                                   {std::string(100'000, 'y')},
                                   {"--\033[31mred"},
                                   {"bench", "none\033[1m.tipsy"},
                                   {"--script", "none\n\033[1m.txt"},
                                   {"bench", "-n", std::string(100'000, '1')}};
  for (const Words& words : hostile) {
    const Outcome outcome = run_orrery(words);
    EXPECT_GT(outcome.status, 0);
    EXPECT_LT(outcome.err.size(), 2000u);
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_TRUE(std::ranges::none_of(outcome.err, [](char c) { return c != '\n' && c >= 0 && c < ' '; }))
        << outcome.err;
  }
}

TEST(Messages, OfAFileNameNoKernelAndNoCount) {
  const Outcome outcome = run_orrery({"bench", "/nowhere/at-all.tipsy"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("at-all.tipsy"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("cpu-"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("n=0"), std::string::npos) << outcome.err;
}

TEST(Messages, OfABaselineThatIsAFolderNameIt) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_orrery({"bench", "-n", "8", "--kernels", "cpu-serial", "--baseline", folder.path().string()});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find(folder.path().string()), std::string::npos) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
}

TEST(Messages, OfAFileWithoutForcesSayWhatHelps) {
  const TemporaryFolder folder;
  const std::string file = (folder / "far.tipsy").string();
  write_snapshot(file, {{{{-9e14f, 0, 0, 1e-30f}, {9e14f, 0, 0, 1e-30f}}, {{}, {}}}});
  for (const char* command : {"bench", "verify"}) {
    const Outcome outcome = run_orrery({command, file, "--kernels", "cpu-serial"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.err.find("rescale the units"), std::string::npos) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }
}

/// The value in the line of a summary that starts with `label`.
std::string value_of(const std::string& summary, const std::string& label) {
  for (const std::string& line : lines(summary)) {
    if (!line.starts_with(label + "  ")) continue;
    return line.substr(line.find_first_not_of(' ', label.size()));
  }
  ADD_FAILURE() << "no line of '" << label << "' in: " << summary;
  return "0";
}

class Summary : public testing::Test {
 protected:
  void SetUp() override {
    const auto info = nlohmann::json::parse(run_orrery({"info", "--json"}).out);
    if (info["gl"]["problem"] != "") GTEST_SKIP() << info["gl"]["problem"];
  }
};

TEST_F(Summary, OfARunThatNobodyWatchedHasItsTrueNumbers) {
  const Outcome run = run_orrery({"--offscreen", "--frames", "40", "--scene", "plummer", "-n", "1493", "--size",
                                  "64x64", "--kernel", "cpu-simd", "--set", "threads=1"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(value_of(run.out, "kernel"), "cpu-simd threads=1");
  EXPECT_EQ(value_of(run.out, "bodies").substr(0, 14), "1,493 (plummer");
  EXPECT_EQ(value_of(run.out, "steps"), "40");
  const std::string rate = value_of(run.out, "interactions/s");
  const std::size_t prefix = std::string{"kMGT"}.find(rate.back());
  const double per_s =
      std::stod(rate) * (prefix == std::string::npos ? 1 : std::pow(1000, static_cast<double>(prefix) + 1));
  const double interactions = per_s * std::stod(value_of(run.out, "step")) * 1e-3;
  EXPECT_NEAR(interactions / (1493.0 * 1493.0), 1, 0.02) << "of one step";
  const std::string error = value_of(run.out, "force error");
  EXPECT_NE(error.find("of 256 bodies at step"), std::string::npos) << error;
  const double median = std::stod(error.substr(error.find("median ") + 7));
  EXPECT_GT(median, 0);
  EXPECT_LT(median, 1e-5);
}

TEST_F(Summary, NamesWhatAutoChose) {
  const Outcome run = run_orrery({"--offscreen", "--frames", "3", "-n", "64", "--size", "64x64"});
  EXPECT_EQ(value_of(run.out, "kernel").substr(0, 6), "auto: ") << run.out;
}

TEST_F(Summary, SaysWhatWasNotMeasured) {
  const TemporaryFolder folder;
  const std::string script = (folder / "s.txt").string();
  std::ofstream{script} << "0 probe off\n0 pause\n";
  const Outcome run = run_orrery(
      {"--offscreen", "--frames", "2", "-n", "64", "--size", "64x64", "--kernel", "cpu-serial", "--script", script});
  for (const char* label : {"step", "interactions/s", "force error"}) {
    EXPECT_EQ(value_of(run.out, label), "not measured") << label;
  }
}

}  // namespace
}  // namespace orrery
