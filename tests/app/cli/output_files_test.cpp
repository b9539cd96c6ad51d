// Files that the built program is to write: before, during and after a run.
#include "tests/app/support/program.h"

namespace orrery::test {
namespace {

namespace fs = std::filesystem;

const Words verify = "verify --kernels cpu-serial -n 8"_words;

struct OutputFiles : ProgramTest {
  Outcome run(const Words& words, const Words& more, const std::string& stdout_to = {}) const {
    return run_orrery(words + more, {.folder = folder.path().string(), .stdout_to = stdout_to});
  }
  std::ptrdiff_t entries() const { return std::distance(fs::directory_iterator{folder.path()}, {}); }
  /// Refused in one line before anything was done.
  void expect_refused(const Words& command, const Words& more, int status, const Words& said) const {
    SCOPED_TRACE(more.back());
    const std::ptrdiff_t before = entries();
    test::expect_refused(run(command, more), status, said);
    EXPECT_EQ(entries(), before);
  }
};

TEST_F(OutputFiles, AreTriedBeforeAnyWork) {
  write("file", "");
  // None of these runs would ever reach its end.
  const Words endless = "bench --kernels cpu-serial -n 1M --repeat 1000000"_words;
  expect_refused(endless, {"--json", "none/a.json"}, 1, {"--json", "none/a.json", "No such file"});
  expect_refused(endless, {"--csv", "file/a.csv"}, 1, {"--csv", "file/a.csv", "Not a directory"});
  expect_refused(endless, {"--json", "."}, 1, {"--json", "it is a folder"});
  if (!has_viewer()) return;
  const Words endless_view = "--offscreen --frames 1000000000 -n 1M --kernel cpu-serial"_words;
  for (const char* option : {"--screenshot", "--save", "--record"}) {
    expect_refused(endless_view, {option, "none/a.png"}, 1, {option, "none/a.png", "No such file"});
  }
  write("script", "0 pause\n1000 save none/b.tipsy\n");
  expect_refused(endless_view, {"--script", "script"}, 1, {"script:2", "none/b.tipsy", "No such file"});
}

TEST_F(OutputFiles, HaveNamesOfTheirOwn) {
  write("a", "a");
  fs::create_symlink("a", folder / "link");
  fs::create_hard_link(folder / "a", folder / "hard");
  expect_refused(short_bench, "--csv new --json ./new"_words, 2, {"--csv", "--json"});
  expect_refused(verify, "--csv a --json link"_words, 2, {"--csv", "--json"});
  expect_refused(verify, "--csv a --json hard --force"_words, 2, {"--csv", "--json"});
  expect_refused(short_bench, "--baseline a --json link"_words, 2, {"--baseline", "--json"});
  expect_refused({"bench", "a"}, {"--csv", "hard"}, 2, {"FILE", "--csv"});
  expect_refused(short_bench, "--csv /dev/stdout --json /dev/fd/1"_words, 2, {"--csv", "--json"});
  expect_refused(short_bench, "--csv - --json /dev/stdout"_words, 2, {"--csv", "--json"});
  EXPECT_EQ(run(short_bench, "--csv /dev/null --json /dev/null"_words).status, 0) << "nothing is kept there";
  if (!has_viewer()) return;
  expect_refused(short_view, "--save new.png --screenshot ./new.png"_words, 2, {"--save", "--screenshot"});
  expect_refused(short_view, "--save run-conserved.csv --record run.csv"_words, 2, {"--save", "--record"});
  expect_refused({"view", "a", "--offscreen"}, {"--save", "link"}, 2, {"FILE", "--save"});
  write("script", "0 screenshot b.png\n0 save ./b.png\n");
  expect_refused(short_view, {"--script", "script"}, 2, {"script:1", "script:2"});
  write("script", "0 record script\n");
  expect_refused(short_view, {"--script", "script"}, 2, {"script:1", "--script"});
}

TEST_F(OutputFiles, AreNumberedOrOverwrittenByOneRule) {
  const auto writes = [&](const Words& command, const char* option, const std::string& name) {
    SCOPED_TRACE(option);
    const std::string numbered = fs::path{name}.stem().string() + "-1" + fs::path{name}.extension().string();
    write(name, "old");
    const Outcome kept = run(command, {option, name});
    EXPECT_EQ(kept.status, 0) << kept.err;
    expect_holds(kept.out, {"wrote " + numbered + '\n'});
    EXPECT_EQ(read(name), "old");
    const Outcome forced = run(command, {option, name, "--force"});
    EXPECT_EQ(forced.status, 0) << forced.err;
    expect_holds(forced.out, {"wrote " + name + '\n'});
    EXPECT_EQ(read(name).substr(0, 4), read(numbered).substr(0, 4));
    fs::permissions(folder / name, fs::perms{0444});
    expect_refused(command, {option, name, "--force"}, 1, {name, "Permission denied"});
  };
  writes(short_bench, "--csv", "bench.csv");
  writes(short_bench, "--json", "bench.json");
  writes(verify, "--json", "verify.json");
  if (!has_viewer()) return;
  writes(short_view, "--record", "run.csv");
  writes(short_view, "--screenshot", "last.png");
  writes(short_view, "--save", "last.tipsy");
}

TEST_F(OutputFiles, PicturesArePng) {
  if (!has_viewer()) GTEST_SKIP() << "the viewer was not built";
  expect_refused(short_view, {"--screenshot", "x.jpg"}, 2, {"x.jpg", ".png"});
  write("script", "0 screenshot x.jpg\n");
  expect_refused(short_view, {"--script", "script"}, 2, {"script:1", "x.jpg", ".png"});
}

TEST_F(OutputFiles, JsonHasStdoutToItself) {
  for (const auto& [command, name] : {std::pair{short_bench, "/dev/stdout"}, {short_bench, "-"}, {verify, "-"}}) {
    const Outcome piped = run(command, {"--json", name});
    EXPECT_EQ(piped.status, 0) << piped.err;
    EXPECT_TRUE(nlohmann::json::parse(piped.out, nullptr, false).contains("results")) << piped.out;
    EXPECT_NE(piped.err.find("cpu-serial"), std::string::npos) << "the table goes to stderr";
    EXPECT_EQ(run(command, {"--json", name}, (folder / "all").string()).status, 0);
    EXPECT_TRUE(nlohmann::json::parse(read("all"), nullptr, false).contains("results")) << read("all");
    EXPECT_FALSE(fs::exists(folder / "-"));
  }
}

TEST_F(OutputFiles, AnInterruptedRunLeavesNoEmptyJson) {
  const Outcome outcome = run_orrery("verify --kernels cpu-serial -n 64k --csv a.csv --json a.json"_words,
                                     {.folder = folder.path().string(), .interrupt_when_exists = folder / "a.csv"});
  EXPECT_NE(outcome.status, 0);
  EXPECT_TRUE(!fs::exists(folder / "a.json") || nlohmann::json::accept(read("a.json")));
}

}  // namespace
}  // namespace orrery::test
