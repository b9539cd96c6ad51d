#include <fmt/format.h>

#include <variant>

#include "app/features/runs/replay.h"
#include "compute/snapshots/checkpoint.h"
#include "compute/snapshots/columns.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

/// A simulation that is run as a window runs it, and its history.
class FollowedRun {
 public:
  explicit FollowedRun(const SceneRequest& scene = {.scene = "plummer", .count = 60}, bool lockstep = true)
      : simulation_{backends(), scene, find_kernel("cpu-serial")}, history_{lockstep} {
    history_.begin(simulation_);
  }

  void apply(const Command& command) {
    simulation_.apply(command);
    history_.took(command, simulation_);
  }
  /// Frames that wait for their steps.
  void frames(int number) {
    for (int i = 0; i < number; ++i) {
      start_frame();
      simulation_.wait();
      (void)simulation_.collect();
    }
  }
  /// A frame whose steps may still run when this returns.
  void start_frame() {
    (void)simulation_.collect();
    history_.follow(simulation_);
    (void)simulation_.advance_frame(0);
  }
  Replay replay() { return parse_replay(replay_text(replay_of(history_, simulation_, backends())), "a.replay"); }
  Simulation& simulation() { return simulation_; }
  RunHistory& history() { return history_; }

 private:
  Simulation simulation_;
  RunHistory history_;
};

ReplayOutcome play(const Replay& replay) {
  return play_replay(
      backends(), replay, "a.replay", [] { return false; }, [](const ReplayProgress&) {});
}

std::size_t sums_in(const Replay& replay) {
  return static_cast<std::size_t>(std::ranges::count_if(
      replay.lines, [](const auto& line) { return std::holds_alternative<Replay::StateSum>(line.event); }));
}

/// Expects that the run can be computed again, bit for bit, and that the file ends with its present state.
void expect_equal_again(FollowedRun& run, int starts) {
  const Replay replay = run.replay();
  const ReplayOutcome outcome = play(replay);
  EXPECT_FALSE(outcome.different) << outcome.different->line << ": " << outcome.different->what << "\n"
                                  << replay_text(replay);
  EXPECT_FALSE(outcome.stopped);
  EXPECT_EQ(outcome.starts, starts) << replay_text(replay);
  EXPECT_EQ(static_cast<std::size_t>(outcome.states), sums_in(replay));
  const auto* last = std::get_if<Replay::StateSum>(&replay.lines.back().event);
  ASSERT_TRUE(last) << "the last line is a state";
  EXPECT_EQ(last->value, checksum(run.simulation().bodies()));
  EXPECT_EQ(replay.lines.back().step, run.simulation().status().step);
}

using ARunHistory = InFolder;

TEST_F(ARunHistory, LeadsThroughKernelsPhysicsResetsAndOtherNumbersOfBodies) {
  FollowedRun run;
  run.apply(SetStepsPerFrame{7});
  run.frames(3);
  run.apply(SelectKernel{"cpu-simd"});
  run.frames(2);
  run.apply(SetTimeStep{0.003f});
  run.apply(SelectIntegrator{"euler"});
  run.frames(10);
  run.apply(Restart{});
  run.frames(3);
  run.apply(Reset{});
  run.frames(3);
  run.apply(SelectLaw{"attract-repel"});
  run.apply(SetRepulsion{0.01f});
  run.apply(SetDrag{0.001f});
  run.apply(SetSoftening{0.1f});
  run.frames(3);
  run.apply(LoadScene{{.scene = "plummer", .count = 97, .seed = 3}});
  run.frames(5);
  run.apply(StepOnce{});
  run.frames(3);
  run.apply(SelectKernel{auto_kernel});
  run.apply(SetPaused{false});
  run.frames(40);
  expect_equal_again(run, 4);
  EXPECT_GE(sums_in(run.replay()), 4u + 280 / 32);
}

TEST_F(ARunHistory, LeadsToHermiteIntegratorsAndBackInOneStep) {
  FollowedRun run;
  run.frames(5);
  run.apply(SelectKernel{"cpu-jerk"});
  run.apply(SelectIntegrator{"hermite4"});
  run.frames(5);
  run.apply(SetDigits{Digits::compensated});
  run.frames(5);
  run.apply(SelectIntegrator{"leapfrog"});
  run.apply(SelectKernel{"cpu-serial"});
  run.frames(5);
  expect_equal_again(run, 1);
}

TEST_F(ARunHistory, HasTheStatesBeforeAndAfterOtherDigits) {
  FollowedRun run;
  run.apply(SetDigits{Digits::compensated});  // at the first step, whose state was summed up
  run.frames(32);
  run.apply(SetDigits{Digits::single});  // at a step that is to be summed up
  run.frames(40);
  run.apply(SetDigits{Digits::compensated});
  expect_equal_again(run, 1);
}

TEST_F(ARunHistory, HasTheStepBeforeACommandThatCameWhileStepsRan) {
  FollowedRun run{{.scene = "plummer", .count = 400}, false};
  run.apply(SetStepsPerFrame{1000});
  std::set<std::int64_t> steps;
  for (int i = 0; i < 12; ++i) {
    run.start_frame();
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    run.start_frame();  // starts nothing: the engine is still busy
    run.apply(SetTimeStep{0.001f + 0.0005f * static_cast<float>(i % 3)});
    steps.insert(run.simulation().status().step);
  }
  EXPECT_TRUE(std::ranges::any_of(steps, [](std::int64_t step) { return step % 1000 != 0; }))
      << "no command came while steps ran: the test shows nothing";
  expect_equal_again(run, 1);
}

TEST_F(ARunHistory, LeavesOutWhatWasTakenBack) {
  FollowedRun run;
  run.frames(40);
  run.apply(KeepCheckpoint{});
  run.frames(5);
  run.apply(SetTimeStep{0.002f});
  run.frames(50);
  run.apply(RestoreCheckpoint{});
  EXPECT_EQ(run.simulation().status().step, 40);
  run.frames(11);
  expect_equal_again(run, 1);
  const RunSetup other{.scene = {.scene = "plummer", .count = 31},
                       .physics = {.integrator_id = "leapfrog", .law = {.softening = 0.05f}, .time_step = 0.01f},
                       .kernel_id = "cpu-serial",
                       .settings = {}};
  run.apply(ReturnToRun{other});
  run.frames(20);
  expect_equal_again(run, 2);
  run.apply(UndoReturn{});
  EXPECT_EQ(run.simulation().status().step, 51);
  run.frames(4);
  expect_equal_again(run, 1);
  RunSetup same = other;
  same.scene = run.simulation().status().scene;
  run.apply(ReturnToRun{same});  // keeps the bodies
  run.frames(9);
  expect_equal_again(run, 1);
  run.apply(UndoReturn{});
  run.frames(3);
  EXPECT_EQ(run.simulation().status().step, 58);
  expect_equal_again(run, 1);
}

TEST_F(ARunHistory, KeepsABoundedNumberOfStates) {
  FollowedRun run{{.scene = "two-body"}};
  run.apply(SetStepsPerFrame{1000});
  run.frames(400);
  EXPECT_LT(sums_in(run.replay()), 260u);
  EXPECT_GT(sums_in(run.replay()), 100u);
  expect_equal_again(run, 1);
  for (int i = 0; i < 1100; ++i) run.apply(Restart{});
  EXPECT_LE(run.replay().lines.size(), 3000u);
  expect_equal_again(run, 1000);
}

TEST_F(ARunHistory, StartsAtARestartIfTheRunContinuedACheckpoint) {
  FollowedRun run;
  run.frames(5);
  run.history().lose(run.simulation(), "it continues something");
  run.frames(5);
  expect_usage_error({"it continues something"}, [&] { (void)run.replay(); });
  run.apply(Restart{});
  run.frames(5);
  expect_equal_again(run, 1);
}

TEST_F(ARunHistory, CannotNameAFileWithOptions) {
  const std::string file = write("bodies.txt", "1 0 0 0 0 0 0\n1 1 0 0 0 1 0\n");
  FollowedRun plain{{.scene = {}, .file = file}};
  plain.frames(3);
  expect_equal_again(plain, 1);
  FollowedRun with_options{{.scene = {}, .file = file, .hints = {.columns = parse_columns("", "m,x,y,z,vx,vy,vz")}}};
  expect_usage_error({"--columns", "orrery convert"}, [&] { (void)with_options.replay(); });
  std::ofstream{file} << "1 0 0 0 0 0 0\n1 1 0 0 0 1.5 0\n";
  const ReplayOutcome outcome = play(plain.replay());
  ASSERT_TRUE(outcome.different);
  EXPECT_EQ(outcome.different->step, 0);
  expect_holds(outcome.different->reasons.at(0), {"file of bodies"});
}

TEST_F(ARunHistory, EndsWithABodyThatIsNotFinite) {
  FollowedRun run{{.scene = "two-body"}};
  run.frames(10);
  run.apply(SetTimeStep{1e30f});
  run.frames(10);
  ASSERT_TRUE(run.simulation().status().non_finite);
  expect_equal_again(run, 1);
  run.apply(Reset{});
  run.apply(SetPaused{false});
  run.frames(40);
  expect_equal_again(run, 2);
}

TEST(AReplay, NamesTheFirstStepThatDiffersAndWhy) {
  FollowedRun run;
  run.frames(100);
  Replay replay = run.replay();
  const auto change_at = std::ranges::find_if(replay.lines, [](const auto& line) { return line.step == 64; });
  ASSERT_NE(change_at, replay.lines.end());
  const int next_line = (change_at + 1)->line;
  replay.lines.insert(change_at + 1, {64, Command{SetTimeStep{0.5f}}, 0});
  replay.program = "0.0.1 (elsewhere)";
  replay.processor = "Another processor";
  replay.lines.insert(replay.lines.begin() + 1, {0, Replay::Chosen{"AVX9"}, 0});
  const ReplayOutcome outcome = play(replay);
  ASSERT_TRUE(outcome.different);
  EXPECT_EQ(outcome.different->line, next_line);
  EXPECT_EQ(outcome.different->step, 96);
  EXPECT_EQ(outcome.agreed, 64);
  EXPECT_EQ(outcome.states, 3);
  std::string why;
  for (const std::string& reason : outcome.different->reasons) why += reason + "\n";
  expect_holds(why, {"0.0.1 (elsewhere)", "Another processor", "AVX9"});
}

TEST(AReplay, NamesTheLineThatCannotBeCarriedOut) {
  FollowedRun run;
  run.frames(3);
  Replay replay = run.replay();
  replay.lines.back() = {3, Command{SelectKernel{"cpu-nothing"}}, 42};
  expect_usage_error({"a.replay:42: ", "cpu-nothing"}, [&] { (void)play(replay); });
  std::get<ReturnToRun>(std::get<Command>(replay.lines.front().event)).run.scene = {.scene = {}, .file = "/none"};
  expect_runtime_error({fmt::format("a.replay:{}: ", replay.lines.front().line), "/none"}, [&] { (void)play(replay); });
}

TEST(AReplay, StopsWhenAsked) {
  FollowedRun run;
  run.frames(50);
  const Replay replay = run.replay();
  const ReplayOutcome outcome = play_replay(
      backends(), replay, "a.replay", [] { return true; }, [](const ReplayProgress&) {});
  EXPECT_TRUE(outcome.stopped);
  EXPECT_FALSE(outcome.different);
  EXPECT_EQ(outcome.states, 1) << "the first";
}

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
  expect_usage_error({"a.replay:" + std::to_string(line) + ": ", words}, [&] { (void)parse_replay(text, "a.replay"); });
}

using AReplayFile = InFolder;

TEST_F(AReplayFile, ReadsBackAsItWasWritten) {
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

TEST_F(AReplayFile, IsReadFromDisk) {
  const std::string file = path("a.replay");
  EXPECT_EQ(write_replay(file, a_replay(), Existing::keep), file);
  EXPECT_EQ(replay_text(read_replay(file)), replay_text(a_replay()));
  EXPECT_EQ(write_replay(file, a_replay(), Existing::keep), path("a-1.replay"));
  expect_runtime_error({"cannot read the replay"}, [&] { (void)read_replay(path("none")); });
}

TEST_F(AReplayFile, IsRefusedAtTheLineThatIsWrong) {
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
}  // namespace orrery::test
