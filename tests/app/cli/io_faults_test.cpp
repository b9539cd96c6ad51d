// Disks that fail while the built program writes: the old file or the whole new one is there, and nothing else.
#include "tests/app/support/program.h"

namespace orrery::test {
namespace {

namespace fs = std::filesystem;

struct Output {
  const char* name;
  Words command;
  const char* option;
};

const std::vector<Output> whole_files{{"a.json", short_bench, "--json"},
                                      {"v.json", "verify --kernels cpu-serial -n 8"_words, "--json"},
                                      {"a.png", short_view, "--screenshot"},
                                      {"a.tipsy", short_view, "--save"}};
const std::vector<Output> growing_files{{"a.csv", short_bench, "--csv"}, {"r.csv", short_view, "--record"}};

/// Whether nothing of the file is missing, as far as its format can tell.
bool is_whole(const Output& output, const std::string& text) {
  const std::string kind = fs::path{output.name}.extension();
  if (kind == ".json") return nlohmann::json::accept(text);
  if (kind == ".tipsy") return text.size() == 32 + 8 * 36;
  if (kind == ".png") return text.find("IEND") != std::string::npos;
  return lines(text).size() == 3;  // metadata, names, one row
}

struct IoFaults : ProgramTest {
  static std::vector<Output> outputs_here() {
    std::vector<Output> here;
    for (const std::vector<Output>& kind : {whole_files, growing_files}) {
      for (const Output& output : kind) {
        if (output.command != short_view || has_viewer()) here.push_back(output);
      }
    }
    return here;
  }
  /// `fault`: CALL NUMBER FAULT, of calls in this test's folder.
  Outcome run(const Output& output, const std::string& fault, bool force) const {
    return run_words(output.command + Words{output.option, output.name} + (force ? Words{"--force"} : Words{}), fault,
                     {});
  }
  Outcome run_words(const Words& words, const std::string& fault, const std::string& cache) const {
    const std::string part = folder.path().filename().string();
    return run_orrery(words, {.folder = folder.path().string(),
                              .cache_folder = cache,
                              .io_fault = fault.empty() ? fault : fault + ' ' + part});
  }
  fs::path file(const Output& output) const { return folder / output.name; }
  void put_old(const Output& output) const { std::ofstream{file(output)} << "old"; }
  std::ptrdiff_t entries() const { return std::distance(fs::directory_iterator{folder.path()}, {}); }

  static void expect_one_line(const Outcome& outcome, const std::string& name, const std::string& cause) {
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    expect_holds(outcome.err, {name, cause});
    expect_lacks(outcome.out, {"wrote " + name});
  }
};

struct FailingCall {
  const char* fault;
  const char* cause;
};

TEST_F(IoFaults, AFailedWriteLeavesNoNewFile) {
  for (const Output& output : outputs_here()) {
    for (const FailingCall& call : {FailingCall{"write 1 EIO", "Input/output error"},
                                    {"write 1 ENOSPC", "No space left"},
                                    {"fsync 1 EIO", "Input/output error"},
                                    {"link 1 ENOSPC", "No space left"}}) {
      SCOPED_TRACE(std::string{output.name} + ": " + call.fault);
      expect_one_line(run(output, call.fault, false), output.name, call.cause);
      EXPECT_EQ(entries(), 0);
    }
  }
}

TEST_F(IoFaults, AFailedWriteKeepsTheOldFile) {
  for (const Output& output : outputs_here()) {
    for (const FailingCall& call : {FailingCall{"write 1 ENOSPC", "No space left"},
                                    {"fsync 1 EIO", "Input/output error"},
                                    {"link 1 ENOSPC", "No space left"},
                                    {"rename 1 EIO", "Input/output error"}}) {
      SCOPED_TRACE(std::string{output.name} + ": " + call.fault);
      put_old(output);
      expect_one_line(run(output, call.fault, true), output.name, call.cause);
      EXPECT_EQ(contents(file(output).string()), "old");
      EXPECT_EQ(entries(), 1);
      fs::remove(file(output));
    }
  }
}

TEST_F(IoFaults, AKillBeforeTheRenameKeepsTheOldFileAndTheNextWriteCleansUp) {
  for (const Output& output : outputs_here()) {
    SCOPED_TRACE(output.name);
    put_old(output);
    EXPECT_EQ(run(output, "rename 1 kill", true).status, -1);
    EXPECT_EQ(contents(file(output).string()), "old");
    EXPECT_EQ(run(output, "", true).status, 0);
    EXPECT_TRUE(is_whole(output, contents(file(output).string())));
    EXPECT_EQ(entries(), 1);
    fs::remove(file(output));
  }
}

TEST_F(IoFaults, AKillWhileWritingLeavesNothing) {
  for (const Output& output : outputs_here()) {
    SCOPED_TRACE(output.name);
    EXPECT_EQ(run(output, "fsync 1 kill", false).status, -1);
    EXPECT_EQ(entries(), 0);
  }
}

TEST_F(IoFaults, ShortWritesLoseNothing) {
  for (const Output& output : outputs_here()) {
    SCOPED_TRACE(output.name);
    const Outcome outcome = run(output, "write 0 short", false);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(is_whole(output, contents(file(output).string())));
    EXPECT_EQ(entries(), 1);
    fs::remove(file(output));
  }
}

// A file system without nameless files, and one that cannot rename without replacing, as NFS.
TEST_F(IoFaults, NamedTemporaryFilesDoAsWell) {
  for (const Output& output : outputs_here()) {
    for (const bool force : {false, true}) {
      SCOPED_TRACE(output.name);
      put_old(output);
      EXPECT_EQ(run(output, "nameless 0 EOPNOTSUPP", force).status, 0);
      EXPECT_EQ(contents(file(output).string()) == "old", !force);
      EXPECT_EQ(entries(), force ? 1 : 2);
      for (const auto& entry : fs::directory_iterator{folder.path()}) fs::remove(entry.path());
    }
  }
}

// An unfinished CSV file keeps the whole lines that fitted.
TEST_F(IoFaults, AGrowingFileEndsWithAWholeLine) {
  const Output& csv = growing_files.front();
  const Words several = "bench --kernels cpu-serial -n 8,16,32 --repeat 1"_words;
  expect_one_line(run({csv.name, several, csv.option}, "write 3 ENOSPC", false), csv.name, "No space left");
  const std::string text = contents(file(csv).string());
  EXPECT_GE(lines(text).size(), 3u) << text;
  EXPECT_EQ(text.back(), '\n');
}

// A choice that cannot be cached is not a failure of the run.
TEST_F(IoFaults, TheCacheOfChoicesIsWholeOrAsBefore) {
  const Words words = "bench --kernels auto -n 8 --repeat 1"_words;
  const fs::path cache = folder / "orrery/auto-kernels.json";
  ASSERT_EQ(run_words(words, "", folder.path().string()).status, 0);
  const std::string before = contents(cache.string());
  ASSERT_TRUE(nlohmann::json::accept(before));
  Words other = words;
  other[4] = "64";  // another number of bodies is another choice to keep
  for (const char* fault : {"write 0 ENOSPC", "fsync 0 EIO", "rename 0 EIO", "link 0 ENOSPC"}) {
    SCOPED_TRACE(fault);
    const Outcome outcome = run_words(other, fault, folder.path().string());
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    expect_holds(outcome.err, {"auto-kernels.json"});
    EXPECT_EQ(contents(cache.string()), before);
    EXPECT_EQ(std::distance(fs::directory_iterator{cache.parent_path()}, {}), 1);
  }
}

}  // namespace
}  // namespace orrery::test
