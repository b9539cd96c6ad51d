// No name and no text of a file steers the terminal: the built program with hostile names, verb by verb.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/text/printable.h"
#include "compute/core/temporary_folder.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/app/support/program.h"
#include "tests/app/support/text_file.h"

namespace orrery {
namespace {

using test::Outcome;
using test::run_orrery;
using Words = std::vector<std::string>;

/// C0 with ESC, BEL, CR and a line end, DEL, C1, an embedding and an isolate of bidirectional text, and no UTF-8.
const std::string hostile = "e\033]0;pwn\007\033[31m\r\n\x7f\u009b2J\u202e\u2066\xff";

/// Nothing but printable text in lines, and no line that a name has begun.
void expect_harmless(const std::string& text, const std::string& what) {
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(1)) {
    ASSERT_FALSE(rest.front() != '\n' && control_size(rest) > 0)
        << what << ": byte " << text.size() - rest.size() << " of:\n"
        << printable_lines(text);
  }
  EXPECT_EQ(text.find("\xff"), std::string::npos) << what;
  EXPECT_EQ(text.find("\npwned"), std::string::npos) << what << ":\n" << text;
}

class HostileNames : public testing::Test {
 protected:
  std::string name(const std::string& end) const { return hostile + "\npwned" + end; }
  std::string here(const std::string& end) const { return (folder / name(end)).string(); }

  /// Runs the program in the folder. Returns what it printed, which must be harmless, whether it succeeds or not.
  Outcome run(const Words& words, std::optional<int> status) const {
    const Outcome outcome = run_orrery(words, {.folder = folder.path().string()});
    const std::string what = printable(words.front());
    EXPECT_EQ(outcome.status, status.value_or(outcome.status)) << what << ": " << outcome.err;
    expect_harmless(outcome.out, what + ", stdout");
    expect_harmless(outcome.err, what + ", stderr");
    return outcome;
  }

  void write_bodies() const {
    const Outcome made = run({"run", "--scene", "plummer", "-n", "64", "--kernel", "cpu-simd", "--steps", "2",
                              "--checkpoint", "plain.checkpoint"},
                             0);
    ASSERT_EQ(made.status, 0);
    ASSERT_EQ(run({"convert", "plain.checkpoint", name(".tipsy")}, 0).status, 0);
  }

  const TemporaryFolder folder;
};

TEST_F(HostileNames, OfBodiesDoNotSteerTheTerminal) {
  write_bodies();
  const std::string file = name(".tipsy");
  const Words cheap{"--kernels", "cpu-simd", "--repeat", "1"};
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
  const Outcome resumed = run({"run", "--resume", "own.checkpoint", "--steps", "6"}, 0);  // it has the scene's name
  EXPECT_NE(resumed.out.find("pwned.tipsy"), std::string::npos) << resumed.out;
}

TEST_F(HostileNames, InABaselineDoNotSteerTheTerminal) {
  (void)run({"bench", "--scene", "plummer", "-n", "64", "--kernels", "cpu-simd", "--repeat", "1", "--json", "a.json"},
            0);
  nlohmann::ordered_json baseline = nlohmann::ordered_json::parse(test::contents((folder / "a.json").string()));
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
    EXPECT_NE(outcome.out.find("only in "), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("measured differently"), std::string::npos) << outcome.out;
  }
}

TEST_F(HostileNames, InALessonDoNotSteerTheTerminal) {
  std::ofstream{here(".md")} << "# A title\rpwned\n";
  const Outcome outcome = run({"lesson", "--file", name(".md")}, 2);
  EXPECT_NE(outcome.err.find("control characters"), std::string::npos) << outcome.err;
}

TEST_F(HostileNames, AreInNoJsonForThePrograms) {
  write_bodies();
  const Outcome bench = run({"bench", name(".tipsy"), "--kernels", "cpu-simd", "--repeat", "1", "--json", "-"}, 0);
  EXPECT_NE(nlohmann::json::parse(bench.out)["metadata"]["scene"].get<std::string>().find("\u202e"), std::string::npos)
      << "escaped, but the same text";
}

/// Sets a variable, or removes it, while it lives.
class Surrounding {
 public:
  Surrounding(const char* name, const char* value) : name_{name} {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Surrounding() { set(before_ ? before_->c_str() : nullptr); }
  Surrounding(const Surrounding&) = delete;
  Surrounding& operator=(const Surrounding&) = delete;

 private:
  void set(const char* value) const {
    if (value) {
      setenv(name_, value, 1);
    } else {
      unsetenv(name_);
    }
  }
  const char* const name_;
  std::optional<std::string> before_;
};

TEST_F(HostileNames, OfTheEnvironmentDoNotSteerTheTerminal) {
  const Surrounding display{"DISPLAY", hostile.c_str()}, kept{"XDG_STATE_HOME", hostile.c_str()},
      threads{"OMP_NUM_THREADS", hostile.c_str()};
  const Outcome info = run_orrery({"info"});
  expect_harmless(info.out + info.err, "info");
}

TEST(Messages, OfAWindowNameWaylandWhereOnlyThatIs) {
  const Outcome kernels = run_orrery({"view", "--help"});
  if (kernels.out.find("--offscreen") == std::string::npos) GTEST_SKIP() << "a build without a window";
  const Surrounding display{"DISPLAY", nullptr}, wayland{"WAYLAND_DISPLAY", "wayland-0"};
  test::expect_complaint(run_orrery({"view", "-n", "64"}), 1, {"WAYLAND_DISPLAY", "XWayland", "--offscreen"});
}

TEST(Messages, OfLibrariesAreInOwnWords) {
  const TemporaryFolder folder;
  const test::Surroundings there{.folder = folder.path().string()};
  const auto expect_own_words = [](const Outcome& outcome, const Words& said) {
    test::expect_complaint(outcome, outcome.status, said);
    EXPECT_GT(outcome.status, 0);
    for (const char* raw : {"filesystem error", "json.exception", "what()", "std::", "basic_string"}) {
      EXPECT_EQ(outcome.err.find(raw), std::string::npos) << outcome.err;
    }
  };
  for (const std::string option : {"--checkpoint", "--diagnostics", "--snapshots"}) {
    for (const std::size_t length : {238u, 245u, 255u, 300u, 5000u}) {
      Words words{"run", "--scene", "plummer", "-n", "64", "--kernel", "cpu-simd", "--steps", "2"};
      words.insert(words.end(), {option, std::string(length, option[2])});
      if (option != "--checkpoint") words.insert(words.end(), {"--every", "0.1"});
      const Outcome outcome = run_orrery(words, there);
      if (outcome.status != 0)
        expect_own_words(outcome, {option == "--checkpoint" ? "the name is too long" : "File name too long"});
    }
  }
  std::ofstream{folder / "file"} << "no folder";
  expect_own_words(
      run_orrery({"run", "--scene", "plummer", "-n", "64", "--steps", "1", "--checkpoint", "file/a"}, there),
      {"Not a directory"});
}

}  // namespace
}  // namespace orrery
