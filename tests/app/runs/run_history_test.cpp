#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "app/features/runs/replay.h"
#include "compute/core/temporary_folder.h"
#include "compute/snapshots/checkpoint.h"
#include "compute/snapshots/columns.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

/// A simulation that is run as a window runs it, and its history.
class FollowedRun {
 public:
  explicit FollowedRun(const SceneRequest& scene = {.scene = "plummer", .count = 60}, bool lockstep = true)
      : simulation_{test::backends(), scene, test::find_kernel("cpu-serial")}, history_{lockstep} {
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
  Replay replay() { return parse_replay(replay_text(replay_of(history_, simulation_, test::backends())), "a.replay"); }
  Simulation& simulation() { return simulation_; }
  RunHistory& history() { return history_; }

 private:
  Simulation simulation_;
  RunHistory history_;
};

ReplayOutcome play(const Replay& replay) {
  return play_replay(
      test::backends(), replay, "a.replay", [] { return false; }, [](const ReplayProgress&) {});
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

TEST(ARunHistory, LeadsThroughKernelsPhysicsResetsAndOtherNumbersOfBodies) {
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

TEST(ARunHistory, LeadsToHermiteIntegratorsAndBackInOneStep) {
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

TEST(ARunHistory, HasTheStatesBeforeAndAfterOtherDigits) {
  FollowedRun run;
  run.apply(SetDigits{Digits::compensated});  // at the first step, whose state was summed up
  run.frames(32);
  run.apply(SetDigits{Digits::single});  // at a step that is to be summed up
  run.frames(40);
  run.apply(SetDigits{Digits::compensated});
  expect_equal_again(run, 1);
}

TEST(ARunHistory, HasTheStepBeforeACommandThatCameWhileStepsRan) {
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

TEST(ARunHistory, LeavesOutWhatWasTakenBack) {
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

TEST(ARunHistory, KeepsABoundedNumberOfStates) {
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

TEST(ARunHistory, StartsAtARestartIfTheRunContinuedACheckpoint) {
  FollowedRun run;
  run.frames(5);
  run.history().lose(run.simulation(), "it continues something");
  run.frames(5);
  test::expect_failure(
      test::Failure::usage, [&] { (void)run.replay(); }, "it continues something");
  run.apply(Restart{});
  run.frames(5);
  expect_equal_again(run, 1);
}

TEST(ARunHistory, CannotNameAFileWithOptions) {
  const TemporaryFolder folder;
  const std::string file = (folder / "bodies.txt").string();
  std::ofstream{file} << "1 0 0 0 0 0 0\n1 1 0 0 0 1 0\n";
  FollowedRun plain{{.scene = {}, .file = file}};
  plain.frames(3);
  expect_equal_again(plain, 1);
  FollowedRun with_options{{.scene = {}, .file = file, .hints = {.columns = parse_columns("", "m,x,y,z,vx,vy,vz")}}};
  test::expect_failure(
      test::Failure::usage, [&] { (void)with_options.replay(); }, "--columns", "orrery convert");
  std::ofstream{file} << "1 0 0 0 0 0 0\n1 1 0 0 0 1.5 0\n";
  const ReplayOutcome outcome = play(plain.replay());
  ASSERT_TRUE(outcome.different);
  EXPECT_EQ(outcome.different->step, 0);
  EXPECT_NE(outcome.different->reasons.at(0).find("file of bodies"), std::string::npos);
}

TEST(ARunHistory, EndsWithABodyThatIsNotFinite) {
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
  for (const char* part : {"0.0.1 (elsewhere)", "Another processor", "AVX9"}) {
    EXPECT_NE(why.find(part), std::string::npos) << why;
  }
}

TEST(AReplay, NamesTheLineThatCannotBeCarriedOut) {
  FollowedRun run;
  run.frames(3);
  Replay replay = run.replay();
  replay.lines.back() = {3, Command{SelectKernel{"cpu-nothing"}}, 42};
  test::expect_failure(
      test::Failure::usage, [&] { (void)play(replay); }, "a.replay:42: ", "cpu-nothing");
  std::get<ReturnToRun>(std::get<Command>(replay.lines.front().event)).run.scene = {.scene = {}, .file = "/none"};
  test::expect_failure(
      test::Failure::runtime, [&] { (void)play(replay); }, fmt::format("a.replay:{}: ", replay.lines.front().line),
      "/none");
}

TEST(AReplay, StopsWhenAsked) {
  FollowedRun run;
  run.frames(50);
  const Replay replay = run.replay();
  const ReplayOutcome outcome = play_replay(
      test::backends(), replay, "a.replay", [] { return true; }, [](const ReplayProgress&) {});
  EXPECT_TRUE(outcome.stopped);
  EXPECT_FALSE(outcome.different);
  EXPECT_EQ(outcome.states, 1) << "the first";
}

}  // namespace
}  // namespace orrery
