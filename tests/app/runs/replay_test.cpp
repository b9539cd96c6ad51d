#include "app/features/runs/replay.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compute/core/temporary_folder.h"
#include "tests/app/support/text_file.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

Replay a_replay() {
  const RunSetup run{.scene = {.scene = "plummer", .count = 50, .seed = 7},
                     .physics = {.integrator_id = "leapfrog", .law = {.softening = 0.03f}, .time_step = 0.01f},
                     .kernel_id = "cpu-serial",
                     .settings = {}};
  RunSetup of_file = run;
  of_file.scene = {.scene = {}, .file = "/tmp/two words #1.tipsy", .count = 3};
  return {.program = "1.2.3 (abc)",
          .processor = "A processor",
          .gpu = "A GPU",
          .camera = {10, -20.5f, 3e-3f, 1, 2, 3},
          .appearance = {{.sprite_scale = 2}},
          .lines = {{0, Command{ReturnToRun{run}}},
                    {0, Replay::StateSum{0x00ab'cdef}},
                    {12, Command{SetTimeStep{0.1f}}},
                    {12, Command{SelectKernel{"cpu-simd", {{"threads", "2"}}}}},
                    {12, Replay::Chosen{"AVX2, rows 4, threads 2"}},
                    {13, Command{SetEta{0.03f}}},
                    {13, Command{SetDigits{Digits::compensated}}},
                    {20, Replay::StateSum{0xffff'ffff}},
                    {0, Command{ReturnToRun{of_file}}},
                    {5, Command{SelectLaw{"attract-repel"}}},
                    {5, Command{SetRepulsion{0.25f}}},
                    {5, Replay::StateSum{0}}}};
}

/// The start of a file whose next line has the number 5.
const std::string head = "orrery-replay 1\nprogram 1\nprocessor p\n0 return-to cpu-serial leapfrog 0.01\n";

void expect_refused(const std::string& text, int line, const std::string& words) {
  SCOPED_TRACE(text);
  test::expect_failure(
      test::Failure::usage, [&] { (void)parse_replay(text, "a.replay"); }, "a.replay:" + std::to_string(line) + ": ",
      words);
}

TEST(AReplayFile, ReadsBackAsItWasWritten) {
  const Replay replay = a_replay();
  const std::string text = replay_text(replay);
  const Replay again = parse_replay(text, "a.replay");
  EXPECT_EQ(replay_text(again), text);
  EXPECT_EQ(again.program, replay.program);
  EXPECT_EQ(again.processor, replay.processor);
  EXPECT_EQ(again.gpu, replay.gpu);
  EXPECT_EQ(again.camera, replay.camera);
  EXPECT_EQ(again.appearance.appearance, replay.appearance.appearance);
  ASSERT_EQ(again.lines.size(), replay.lines.size());
  EXPECT_EQ(std::get<Replay::StateSum>(again.lines[1].event).value, 0x00ab'cdefu);
  EXPECT_EQ(std::get<Replay::Chosen>(again.lines[4].event), std::get<Replay::Chosen>(replay.lines[4].event));
  const std::vector<std::string> lines = test::lines(text);
  for (const Replay::Line& line : again.lines) {
    EXPECT_TRUE(lines[static_cast<std::size_t>(line.line) - 1].starts_with(std::to_string(line.step) + " "));
  }
}

TEST(AReplayFile, IsReadFromDisk) {
  const TemporaryFolder folder;
  const std::string file = (folder / "a.replay").string();
  EXPECT_EQ(write_replay(file, a_replay(), Existing::keep), file);
  EXPECT_EQ(replay_text(read_replay(file)), replay_text(a_replay()));
  EXPECT_EQ(write_replay(file, a_replay(), Existing::keep), (folder / "a-1.replay").string());
  test::expect_failure(
      test::Failure::runtime, [&] { (void)read_replay((folder / "none").string()); }, "cannot read the replay");
}

TEST(AReplayFile, IsRefusedAtTheLineThatIsWrong) {
  EXPECT_EQ(parse_replay(head + "end\n", "a.replay").lines.size(), 1u);
  expect_refused("", 1, "not a replay file");
  expect_refused("\n\n# nothing\n", 3, "not a replay file");
  expect_refused("0 kernel cpu-simd\n", 1, "not a replay file");
  expect_refused(
      "\x7f"
      "ELF\x01\n",
      1, "it is not text");
  expect_refused("orrery-replay\n", 1, "format");
  expect_refused("orrery-replay 2\n", 1, "newer");
  expect_refused("orrery-replay 0\n", 1, "format");
  expect_refused("orrery-replay 1\nend\n", 2, "no 'return-to'");
  expect_refused("orrery-replay 1\nprogam 1\n", 2, "unknown word 'progam'");
  expect_refused("orrery-replay 1\ncamera 1 2 3 4 5\n", 2, "camera");
  expect_refused("orrery-replay 1\ncamera 1 2 3 4 5 6 7\n", 2, "6 numbers");
  expect_refused("orrery-replay 1\ncamera 1 2 nan 4 5 6\n", 2, "'nan'");
  expect_refused("orrery-replay 1\nappearance colour=taste\n", 2, "taste");
  expect_refused("orrery-replay 1\n0 state 00000000\n", 2, "return-to");
  expect_refused(head, 4, "does not end with 'end'");
  expect_refused(head + "end\n5 dt 1\n", 6, "nothing after 'end'");
  expect_refused(head + "gpu x\nend\n", 5, "starts with a step");
  expect_refused(head + "5 return-to cpu-serial leapfrog 0.01\nend\n", 5, "from step 0");
  expect_refused(head + "7 dt 1\n6 dt 1\nend\n", 6, "step 6 comes after step 7");
  expect_refused(head + "-1 dt 1\nend\n", 5, "starts with a step");
  expect_refused(head + "1e9 dt 1\nend\n", 5, "1e9");
  expect_refused(head + "9999999999999 dt 1\nend\n", 5, "9999999999999");
  expect_refused(head + "5 dt nan\nend\n", 5, "nan");
  expect_refused(head + "5 dt 0\nend\n", 5, "dt");
  expect_refused(head + "5 state 123\nend\n", 5, "8 hexadecimal digits");
  expect_refused(head + "5 state 0x123456\nend\n", 5, "8 hexadecimal digits");
  expect_refused(head + "5 state 123456789\nend\n", 5, "8 hexadecimal digits");
  expect_refused(head + "5 reset\nend\n", 5, "'reset' is not a command of a replay file");
  expect_refused(head + "5 quit\nend\n", 5, "'quit' is not a command of a replay file");
  expect_refused(head + "5 kernl cpu-simd\nend\n", 5, "kernl");
  expect_refused(head + "5 kernel " + std::string(70'000, 'x') + "\nend\n", 5, "65536 bytes");
}

}  // namespace
}  // namespace orrery
