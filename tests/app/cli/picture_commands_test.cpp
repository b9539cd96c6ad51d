// `orrery render` as a person runs it.
#include "compute/core/text.h"
#include "tests/app/support/program.h"

namespace orrery::test {
namespace {

namespace fs = std::filesystem;

Words render(const Words& more) {
  return ("render --kernel cpu-simd -n 500 --size 64x48"_words + more);
}

std::map<std::string, std::string> files(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator{folder}) {
    files[entry.path().filename()] = contents(entry.path().string());
  }
  return files;
}

using RenderCommand = ProgramTest;

TEST_F(RenderCommand, AStoppedFolderIsContinuedToTheSameBytes) {
  const std::string parts = path("parts"), whole = path("whole");
  const Outcome stopped = run_orrery(render({"--out", parts, "--frames", "100000"}),
                                     {.interrupt_when_exists = parts + "/frame-000003.png"});
  EXPECT_EQ(stopped.status, 130) << stopped.err;
  expect_holds(stopped.out, {"stopped before the end"});
  const auto made = files(parts).size() - 1;
  const std::string frames = std::to_string(made + 5);
  const Outcome continued = run_orrery(render({"--out", parts, "--frames", frames, "--progress"}));
  EXPECT_EQ(continued.status, 0) << continued.err;
  const std::string kept = "kept " + format_count(static_cast<std::int64_t>(made)) + " of ";
  expect_holds(continued.out, {kept});
  const std::string all = ": " + frames + " frames (" + std::to_string(made) + " kept), ";
  expect_holds(continued.out, {all});
  expect_holds(continued.err, {"frame 1 of "});
  EXPECT_EQ(run_orrery(render({"--out", whole, "--frames", frames})).status, 0);
  EXPECT_EQ(files(parts), files(whole));
}

TEST_F(RenderCommand, WhatCannotBeRenderedIsOneLine) {
  const std::string film = path("a.mp4");
  struct Bad {
    Words words;
    int status;
    std::string said;
  };
  const std::vector<Bad> all{{{"--frames", "9"}, 2, "--out"},
                             {{"--out", "a.avi"}, 2, ".mp4"},
                             {{"--out", "-"}, 2, ".mp4"},
                             {{"--out", film, "--frames", "0"}, 2, "--frames"},
                             {{"--out", film, "--fps", "0"}, 2, "--fps"},
                             {{"--out", path("none") + "/a.mp4"}, 1, "--out: "},
                             {{"--out", "/proc/none"}, 1, "/proc/none"},
                             {{"--out", film, "--path", path("none.txt")}, 1, "none.txt"},
                             {{"--out", film, "--save", film}, 2, "--out"}};
  for (const auto& [words, status, said] : all) {
    const Outcome outcome = run_orrery(render(words));
    EXPECT_EQ(outcome.status, status) << said << ": " << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    expect_holds(outcome.err, {said});
    EXPECT_FALSE(fs::exists(film));
  }
}

// `orrery replay` on the files that a run of the viewer writes.

struct ReplayCommand : ProgramTest {
  /// A run of many commands, saved twice as they went.
  void write_replays() const {
    std::ofstream{path("script")}
        << "0 steps-per-frame 5\n3 kernel cpu-simd\n5 dt 0.002\n9 reset\n12 look-from 0.5 0.25\n"
           "14 kernel cpu-openmp\n14 save-replay "
        << path("early.replay") << "\n17 scene plummer n=70 seed=9\n20 step\n"
        << "21 set threads 1\n22 pause off\n30 save-replay " << path("late.replay") << "\n";
    const Outcome view = run_orrery({"view", "--offscreen", "--scene", "plummer", "-n", "50", "--kernel", "cpu-serial",
                                     "--size", "64x48", "--frames", "31", "--script", path("script")});
    ASSERT_EQ(view.status, 0) << view.err;
    EXPECT_TRUE(says(view, "wrote " + path("late.replay")));
  }
  static Outcome replay(const std::string& file) { return run_orrery({"replay", file}); }
  /// A copy in which the first `old` is `fresh`.
  std::string changed(const char* name, const std::string& old, const std::string& fresh) const {
    std::string text = read("late.replay");
    const std::size_t place = text.find(old);
    EXPECT_NE(place, std::string::npos) << old << " is not in:\n" << text;
    std::ofstream{path(name)} << text.replace(place, old.size(), fresh);
    return path(name);
  }
};

TEST_F(ReplayCommand, AgreesBitForBit) {
  write_replays();
  for (const auto& [file, starts] :
       {std::pair{path("early.replay"), "2 starts, 60 steps"}, {path("late.replay"), "3 starts"}}) {
    const Outcome outcome = replay(file);
    EXPECT_EQ(outcome.status, 0) << outcome.err << contents(file);
    EXPECT_TRUE(says(outcome, starts)) << outcome.out;
    EXPECT_TRUE(says(outcome, "all equal")) << outcome.out;
  }
  const std::string text = read("late.replay");
  EXPECT_NE(text.find("\ncamera 28.6"), std::string::npos) << "half a radian\n" << text;
  expect_holds(text, {"\n15 kernel cpu-simd", "\n25 dt 0.002\n"});
}

TEST_F(ReplayCommand, NamesTheFirstDifference) {
  write_replays();
  expect_complaint(replay(changed("dt.replay", "\n25 dt 0.002\n", "\n25 dt 0.0021\n")), 1,
                   {"dt.replay:", "is another one", "equal until step", "of start 1", "Possible causes: "});
  expect_complaint(replay(changed("seed.replay", "seed=9", "seed=8")), 1,
                   {"the state after step 0", "nothing of start 3"});
  expect_complaint(replay(changed("program.replay", "\n25 dt", "\n25 softening 0.5\n25 dt")), 1,
                   {"the file is damaged"});
}

TEST_F(ReplayCommand, RefusesOtherFilesInOneLine) {
  std::ofstream{path("foreign")} << "P6 64 48\n";
  expect_refused(replay(path("foreign")), 2, {"foreign:1: ", "not a replay file"});
  std::ofstream{path("newer")} << "orrery-replay 9\n";
  expect_refused(replay(path("newer")), 2, {"newer:1: ", "of a newer program"});
  std::ofstream{path("kernel")} << "orrery-replay 1\n0 return-to cpu-nothing leapfrog 0.01\nend\n";
  expect_refused(replay(path("kernel")), 2, {"kernel:2: ", "cpu-nothing"});
  expect_refused(replay(path("none")), 1, {"cannot read the replay", "none"});
  expect_refused(replay("/dev/zero"), 1, {"not a regular file"});
  expect_refused(run_orrery({"replay"}), 2, {"orrery replay FILE"});
  expect_refused(run_orrery({"replay", "a", "b"}), 2, {"FILE"});
}

TEST_F(ReplayCommand, IsRefusedForARunThatContinuesACheckpoint) {
  ASSERT_EQ(run_orrery({"run", "--scene", "plummer", "-n", "50", "--kernel", "cpu-serial", "--steps", "3",
                        "--checkpoint", path("a.checkpoint")})
                .status,
            0);
  std::ofstream{path("script")} << "2 save-replay " << path("a.replay") << "\n";
  const std::vector<std::string> view{"view",     "--offscreen",        "--size",   "64x48",       "--frames", "5",
                                      "--resume", path("a.checkpoint"), "--script", path("script")};
  expect_complaint(run_orrery(view), 2, {"script:1: ", "checkpoint", "restart"});
  std::ofstream{path("script")} << "1 restart\n4 save-replay " << path("a.replay") << "\n";
  ASSERT_EQ(run_orrery(view).status, 0);
  EXPECT_EQ(replay(path("a.replay")).status, 0);
}

}  // namespace
}  // namespace orrery::test
