// The built program's text for people: it fits, in Markdown as well, and no name in it steers a terminal.
#include "app/text/printable.h"
#include "app/text/table.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/app/support/program.h"

namespace orrery::test {
namespace {

const std::vector<Words> commands{"bench -n 64,128 --repeat 6 --set threads=1,2"_words,
                                  "bench -n 64 --repeat 6 --card"_words,
                                  "verify -n 33,100 --histogram --digits"_words,
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

using Terminal = ProgramTest;

TEST_F(Terminal, TablesFitAHundredColumns) {
  for (const Words& words : commands) {
    const Outcome outcome = run(words);
    EXPECT_GT(lines(outcome.out).size(), 1u) << "a table";
    for (const std::string& line : lines(outcome.out)) EXPECT_LE(columns_of(line), 100u) << line;
    EXPECT_EQ(outcome.out.find('\033'), std::string::npos) << "colours are for terminals";
  }
}

TEST_F(Terminal, TablesAreWholeWhereTheyMayBeWide) {
  const std::string bench = run_with(commands[0], "--wide").out;
  expect_holds(bench, {"min ms", "95% interval", "GFLOP/s", "error p99", "rows=auto threads=1"});
  expect_holds(run_with({"verify", "-n", "33"}, "--wide").out, {"allowed median"});
}

TEST_F(Terminal, TablesAreMarkdownWhereAskedFor) {
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
    expect_holds(text, {"| --- |"});
  }
}

TEST_F(Terminal, JsonHasNoTables) {
  for (const char* command : {"kernels", "info"}) {
    const Outcome outcome = run_orrery({command, "--json", "--wide"});
    EXPECT_EQ(outcome.status, 2) << outcome.err;
  }
}

TEST_F(Terminal, CountsHaveCommasForPeopleAndNoneInFiles) {
  expect_holds(run("bench --kernels cpu-simd -n 1493 --repeat 1 --json a.json"_words).out, {"1,493"});
  EXPECT_EQ(read_json("a.json")["results"][0]["n"], 1493);
}

TEST_F(Terminal, NamesTheInstructionSetAsOthersDo) {
  const Outcome info = run_orrery({"info"}), bench = run_orrery("bench --wide --kernels cpu-simd -n 8"_words);
  for (const Outcome& outcome : {info, bench}) EXPECT_EQ(outcome.out.find("AVX3"), std::string::npos) << outcome.out;
}

using Messages = ProgramTest;

TEST_F(Messages, EchoNoControlCharactersAndNoWordOfAnyLength) {
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

TEST_F(Messages, OfAFileNameNoKernelAndNoCount) {
  const Outcome outcome = run_orrery({"bench", "/nowhere/at-all.tipsy"});
  EXPECT_EQ(outcome.status, 1);
  expect_holds(outcome.err, {"at-all.tipsy"});
  expect_lacks(outcome.err, {"cpu-", "n=0"});
}

TEST_F(Messages, OfABaselineThatIsAFolderNameIt) {
  const Outcome outcome =
      run_orrery({"bench", "-n", "8", "--kernels", "cpu-serial", "--baseline", folder.path().string()});
  EXPECT_EQ(outcome.status, 1);
  expect_holds(outcome.err, {folder.path().string()});
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
}

TEST_F(Messages, OfAFileWithoutForcesSayWhatHelps) {
  const std::string file = path("far.tipsy");
  write_snapshot(file, {{{{-9e14f, 0, 0, 1e-30f}, {9e14f, 0, 0, 1e-30f}}, {{}, {}}}});
  for (const char* command : {"bench", "verify"}) {
    const Outcome outcome = run_orrery({command, file, "--kernels", "cpu-serial"});
    EXPECT_EQ(outcome.status, 1);
    expect_holds(outcome.err, {"rescale the units"});
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

struct Summary : ProgramTest {
  void SetUp() override {
    const auto info = nlohmann::json::parse(run_orrery({"info", "--json"}).out);
    if (info["gl"]["problem"] != "") GTEST_SKIP() << info["gl"]["problem"];
  }
};

TEST_F(Summary, OfARunThatNobodyWatchedHasItsTrueNumbers) {
  const Outcome run = run_orrery(
      "--offscreen --frames 40 --scene plummer -n 1493 --size 64x64 --kernel cpu-simd --set threads=1"_words);
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
  expect_holds(error, {"of 256 bodies at step"});
  const double median = std::stod(error.substr(error.find("median ") + 7));
  EXPECT_GT(median, 0);
  EXPECT_LT(median, 1e-5);
}

TEST_F(Summary, NamesWhatAutoChose) {
  const Outcome run = run_orrery("--offscreen --frames 3 -n 64 --size 64x64"_words);
  EXPECT_EQ(value_of(run.out, "kernel").substr(0, 6), "auto: ") << run.out;
}

TEST_F(Summary, SaysWhatWasNotMeasured) {
  write("s.txt", "0 probe off\n0 pause\n");
  const Outcome run = succeed("--offscreen --frames 2 -n 64 --size 64x64 --kernel cpu-serial --script s.txt"_words);
  for (const char* label : {"step", "interactions/s", "force error"}) {
    EXPECT_EQ(value_of(run.out, label), "not measured") << label;
  }
}

// No name and no text of a file steers the terminal: the built program with hostile names, verb by verb.

/// C0 with ESC, BEL, CR and a line end, DEL, C1, an embedding and an isolate of bidirectional text, and no UTF-8.
const std::string hostile = "e\033]0;pwn\007\033[31m\r\n\x7f\u009b2J\u202e\u2066\xff";

/// Nothing but printable text in lines, and no line that a name has begun.
void expect_harmless(const std::string& text, const std::string& what) {
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(1)) {
    ASSERT_FALSE(rest.front() != '\n' && control_size(rest) > 0)
        << what << ": byte " << text.size() - rest.size() << " of:\n"
        << printable_lines(text);
  }
  expect_lacks(text, {"\xff", "\npwned"});
}

struct HostileNames : ProgramTest {
  std::string name(const std::string& end) const { return hostile + "\npwned" + end; }
  std::string here(const std::string& end) const { return (folder / name(end)).string(); }

  /// Runs the program in the folder. Returns what it printed, which must be harmless, whether it succeeds or not.
  Outcome run(const Words& words, std::optional<int> status) const {
    const Outcome outcome = ProgramTest::run(words);
    const std::string what = printable(words.front());
    EXPECT_EQ(outcome.status, status.value_or(outcome.status)) << what << ": " << outcome.err;
    expect_harmless(outcome.out, what + ", stdout");
    expect_harmless(outcome.err, what + ", stderr");
    return outcome;
  }

  void write_bodies() const {
    succeed("run --scene plummer -n 64 --kernel cpu-simd --steps 2 --checkpoint plain.checkpoint"_words);
    (void)run({"convert", "plain.checkpoint", name(".tipsy")}, 0);
  }
};

TEST_F(HostileNames, OfBodiesDoNotSteerTheTerminal) {
  write_bodies();
  const std::string file = name(".tipsy");
  (void)run({"inspect", file}, 0);
  (void)run({"convert", file, name(".hdf5")}, 0);
  (void)run({"convert", file, name(".csv")}, 0);
  (void)run({"bench", file, "--kernels", "cpu-simd", "--repeat", "1", "--json", name(".json"), "--csv", name(".out")},
            0);
  (void)run({"verify", file, "--kernels", "cpu-simd"}, 0);
  (void)run({"race", file, "--kernels", "cpu-simd,cpu-serial", "--until", "0.1"}, 0);
  (void)run({"compare", file, "--a", "cpu-simd", "--b", "cpu-serial", "--steps", "4"}, 0);
  (void)run({"inspect", name(".none")}, 1);
  (void)run({"bench", name(".none")}, 1);
  (void)run({"lesson", name(".md")}, 2);
  (void)run({"lesson", "--file", name(".md")}, 1);
  (void)run({"replay", name(".replay")}, 1);
  (void)run({name("")}, 2);
  (void)run({"bench", "--kernels", name("")}, 2);
  (void)run({"run", "--kernel-file", name(".cu"), "--steps", "1"}, 1);
}

TEST_F(HostileNames, OfOutputsAndOfACheckpointDoNotSteerTheTerminal) {
  write_bodies();
  (void)run({"run", name(".tipsy"), "--kernel", "cpu-simd", "--steps", "4", "--snapshots", name(".folder"), "--every",
             "0.1", "--diagnostics", name(".dat"), "--checkpoint", name(".checkpoint")},
            0);
  (void)run({"run", name(".tipsy"), "--kernel", "cpu-simd", "--steps", "4", "--checkpoint", "own.checkpoint"}, 0);
  (void)run({"inspect", "own.checkpoint"}, 0);
  const Outcome resumed = run("run --resume own.checkpoint --steps 6"_words, 0);  // it has the scene's name
  expect_holds(resumed.out, {"pwned.tipsy"});
}

TEST_F(HostileNames, InABaselineDoNotSteerTheTerminal) {
  (void)run("bench --scene plummer -n 64 --kernels cpu-simd --repeat 1 --json a.json"_words, 0);
  nlohmann::ordered_json baseline = nlohmann::ordered_json::parse(read("a.json"));
  const std::string text = "\033[2Jx\u009b\u202e\u2066\r\npwned\x7f";
  for (const char* member : {"cpu", "gpu", "build_flags"}) baseline["metadata"][member] = text;
  nlohmann::ordered_json other = baseline["results"][0];
  other["kernel"] = text;
  baseline["results"].push_back(other);
  std::ofstream{here(".json")} << baseline.dump();
  for (const char* member : {"scene", "law", "integrator"}) baseline["metadata"][member] = text;
  std::ofstream{folder / "other.json"} << baseline.dump();
  for (const char* layout : {"--wide", "--markdown"}) {
    const Outcome outcome = run({"bench", "--scene", "plummer", "-n", "64", "--kernels", "cpu-simd", "--repeat", "1",
                                 "--baseline", name(".json"), "--baseline", "other.json", layout},
                                std::nullopt);
    expect_holds(outcome.out, {"only in ", "measured differently"});
  }
}

TEST_F(HostileNames, InALessonDoNotSteerTheTerminal) {
  std::ofstream{here(".md")} << "# A title\rpwned\n";
  expect_holds(run({"lesson", "--file", name(".md")}, 2).err, {"control characters"});
}

TEST_F(HostileNames, AreInNoJsonForThePrograms) {
  write_bodies();
  const Outcome bench = run({"bench", name(".tipsy"), "--kernels", "cpu-simd", "--repeat", "1", "--json", "-"}, 0);
  EXPECT_NE(nlohmann::json::parse(bench.out)["metadata"]["scene"].get<std::string>().find("\u202e"), std::string::npos)
      << "escaped, but the same text";
}

TEST_F(HostileNames, OfTheEnvironmentDoNotSteerTheTerminal) {
  const Variable display{"DISPLAY", hostile.c_str()}, kept{"XDG_STATE_HOME", hostile.c_str()},
      threads{"OMP_NUM_THREADS", hostile.c_str()};
  const Outcome info = run_orrery({"info"});
  expect_harmless(info.out + info.err, "info");
}

TEST_F(Messages, OfAWindowNameWaylandWhereOnlyThatIs) {
  const Outcome kernels = run_orrery({"view", "--help"});
  if (kernels.out.find("--offscreen") == std::string::npos) GTEST_SKIP() << "a build without a window";
  const Variable display{"DISPLAY", nullptr}, wayland{"WAYLAND_DISPLAY", "wayland-0"};
  expect_complaint(run_orrery({"view", "-n", "64"}), 1, {"WAYLAND_DISPLAY", "XWayland", "--offscreen"});
}

TEST_F(Messages, OfLibrariesAreInOwnWords) {
  const auto expect_own_words = [](const Outcome& outcome, const Words& said) {
    expect_complaint(outcome, outcome.status, said);
    EXPECT_GT(outcome.status, 0);
    expect_lacks(outcome.err, {"filesystem error", "json.exception", "what()", "std::", "basic_string"});
  };
  for (const std::string option : {"--checkpoint", "--diagnostics", "--snapshots"}) {
    for (const std::size_t length : {238u, 245u, 255u, 300u, 5000u}) {
      const bool checkpoint = option == "--checkpoint";
      const Outcome outcome =
          run("run --scene plummer -n 64 --kernel cpu-simd --steps 2"_words +
              Words{option, std::string(length, option[2])} + (checkpoint ? Words{} : Words{"--every", "0.1"}));
      if (outcome.status == 0) continue;
      expect_own_words(outcome, {checkpoint ? "the name is too long" : "File name too long"});
    }
  }
  std::ofstream{folder / "file"} << "no folder";
  expect_own_words(run("run --scene plummer -n 64 --steps 1 --checkpoint file/a"_words), {"Not a directory"});
}

// OpenMP's threads in the program sleep soon where they wait, unless the user wants it otherwise.

/// How often a thread looks before it sleeps, as GNU's library says at its start: of the last one that started. Less
/// than 0 where another library is in use.
long long looks_before_sleep(const char* policy) {
  const Variable show{"OMP_DISPLAY_ENV", "verbose"}, wait{"OMP_WAIT_POLICY", policy}, spin{"GOMP_SPINCOUNT", nullptr};
  const std::string said = run_orrery({"--version"}).err;
  const std::string name = "GOMP_SPINCOUNT = '";
  const std::size_t at = said.rfind(name);
  return at == std::string::npos ? -1 : std::stoll(said.substr(at + name.size()));
}

TEST(OpenmpThreads, TheDoctorFindsSettingsThatTakeProcessorsFromKernels) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor";
  const auto said = [](const char* name, const char* value) {
    const Variable setting{name, value};
    return run_orrery({"info", "--wide"}).out;
  };
  const std::string found = "CPU kernels get 1 of ";
  expect_holds(said("OMP_THREAD_LIMIT", "1"), {found});
  expect_holds(said("OMP_PLACES", "{0}"), {found});
  expect_holds(said("OMP_DYNAMIC", "true"), {"unset "});
  EXPECT_EQ(said("OMP_NUM_THREADS", "1").find(found), std::string::npos) << "each kernel asks for its own number";
}

TEST(OpenmpThreads, SleepSoonUnlessTheUserWantsItOtherwise) {
  const long long looks = looks_before_sleep(nullptr);
  if (looks < 0) GTEST_SKIP() << "not GNU's library";
  EXPECT_LE(looks, 1000);
  EXPECT_GT(looks_before_sleep("active"), 1'000'000);
}

}  // namespace
}  // namespace orrery::test
