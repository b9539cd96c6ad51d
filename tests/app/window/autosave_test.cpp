#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/recording/run_checkpoint.h"
#include "app/window/handover.h"
#include "compute/core/temporary_folder.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

class AutosaveTest : public testing::Test {
 protected:
  static constexpr double soon = 1e-6;  // seconds

  AutosaveTest() { simulation_.apply(SelectKernel{"cpu-serial"}); }

  /// Steps once and follows until nothing is written any more. Returns what was said.
  std::string step(Autosave& autosave) {
    simulation_.run(1);
    std::string said = autosave.follow(simulation_);
    for (int i = 0; i < 3000 && said.empty() && !fs::exists(present()); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
      said = autosave.follow(simulation_);
    }
    return said;
  }
  fs::path present() const { return present_; }
  fs::path state() const { return folder_ / "state"; }

  TemporaryFolder folder_;
  fs::path present_ = folder_ / "state/run.checkpoint";
  Simulation simulation_{test::backends(), {.scene = "plummer", .count = 50}};
};

TEST_F(AutosaveTest, KeepsTheRunForTheNextWindow) {
  {
    Autosave first{state(), soon};
    EXPECT_FALSE(first.last_run() || first.last_run_age_s());
    EXPECT_EQ(step(first), "");
  }
  const auto kept = find_checkpoint(present().string());
  EXPECT_EQ(kept.checkpoint.step, 1);
  EXPECT_EQ(kept.checkpoint.state.bodies, simulation_.bodies());
  for (int session = 0; session < 2; ++session) {  // the second finds what the first did not replace
    const Autosave next{state(), 1e6};
    ASSERT_TRUE(next.last_run());
    EXPECT_EQ(find_checkpoint(next.last_run()->string()).checkpoint.step, 1);
    EXPECT_LT(*next.last_run_age_s(), 60);
    EXPECT_FALSE(fs::exists(present())) << "a later run is not that one";
  }
}

TEST_F(AutosaveTest, KeepsTheLastStateAtTheEnd) {
  {
    Autosave first{state(), 1e6};
    EXPECT_EQ(first.finish(simulation_), "");
    EXPECT_FALSE(fs::exists(present())) << "nothing was done";
    simulation_.run(3);
    EXPECT_EQ(first.finish(simulation_), "") << "long before the period has passed";
  }
  {
    Autosave next{state(), 1e6};
    ASSERT_TRUE(next.last_run());
    EXPECT_EQ(next.last_run_words(), fmt::format("plummer, 50 bodies, t = {:.4g}", simulation_.status().sim_time));
    EXPECT_EQ(find_checkpoint(next.last_run()->string()).checkpoint.state.bodies, simulation_.bodies());
    next.continued(simulation_.status().step);
    EXPECT_EQ(next.finish(simulation_), "");
    EXPECT_FALSE(fs::exists(present())) << "it has not gone on";
    simulation_.run(2);
    EXPECT_EQ(next.finish(simulation_), "");
  }
  const Autosave last{state(), 1e6};
  ASSERT_TRUE(last.last_run());
  EXPECT_EQ(find_checkpoint(last.last_run()->string()).checkpoint.step, 5) << "not the older state again";
  EXPECT_EQ(find_checkpoint(previous_name(last.last_run()->string())).checkpoint.step, 3);
}

TEST_F(AutosaveTest, KeepsNothingAtTheEndIfItIsOff) {
  simulation_.run(1);
  for (const auto& [folder, period_s] : {std::pair{state(), 0.0}, {fs::path{}, 1.0}}) {
    Autosave autosave{folder, period_s};
    EXPECT_EQ(autosave.finish(simulation_), "");
  }
  EXPECT_FALSE(fs::exists(present()));
}

TEST_F(AutosaveTest, WritesNothingTooSoonNorWithoutAStep) {
  for (const double period_s : {1e6, 0.0}) {
    Autosave autosave{state(), period_s};
    simulation_.run(1);
    EXPECT_EQ(autosave.follow(simulation_), "");
  }
  Simulation unmoved{test::backends(), {.scene = "plummer", .count = 50}};
  {
    Autosave autosave{state(), soon};
    EXPECT_EQ(autosave.follow(unmoved), "");
  }
  EXPECT_FALSE(fs::exists(present()));
}

TEST_F(AutosaveTest, WindowsThatAreOpenTogetherKeepTheirOwnRuns) {
  const fs::path first_file = present_, second_file = folder_ / "state/run-2.checkpoint";
  {
    Autosave first{state(), soon};
    EXPECT_EQ(step(first), "");
    Autosave second{state(), soon};
    EXPECT_FALSE(second.last_run()) << "that of the first goes on";
    present_ = second_file;
    EXPECT_EQ(step(second), "");
    EXPECT_EQ(find_checkpoint(first_file.string()).checkpoint.step, 1);
  }
  EXPECT_EQ(find_checkpoint(second_file.string()).checkpoint.step, 2);
  fs::last_write_time(first_file, fs::last_write_time(second_file) - std::chrono::minutes{5});
  const Autosave third{state(), soon}, fourth{state(), soon}, fifth{state(), soon};
  ASSERT_TRUE(third.last_run() && fourth.last_run());
  EXPECT_EQ(third.last_run()->filename(), "last-run-2.checkpoint") << "the latest";
  EXPECT_EQ(fourth.last_run()->filename(), "last-run.checkpoint");
  EXPECT_FALSE(fifth.last_run());
}

TEST_F(AutosaveTest, SaysInOneLineThatTooManyWindowsAreOpen) {
  std::vector<std::unique_ptr<Autosave>> open;
  for (int i = 0; i < Autosave::most_places; ++i) open.push_back(std::make_unique<Autosave>(state(), soon));
  Autosave more{state(), soon};
  simulation_.run(1);
  EXPECT_NE(more.follow(simulation_).find("does not keep its run"), std::string::npos);
  EXPECT_EQ(more.follow(simulation_), "") << "once";
}

TEST_F(AutosaveTest, DoesNotWaitForEverForAnotherProcess) {
  fs::create_directories(state());
  const auto held = locked_file(state() / "windows.lock", true);
  Autosave autosave{state(), soon, {}, std::chrono::milliseconds{1}};
  simulation_.run(1);
  EXPECT_NE(autosave.follow(simulation_).find("windows.lock"), std::string::npos);
  EXPECT_FALSE(autosave.last_run());
}

TEST_F(AutosaveTest, SaysInOneLineWhyItFailed) {
  std::ofstream{state()} << "a file";
  Autosave autosave{state(), soon};
  const std::string said = step(autosave);
  EXPECT_NE(said.find("not saved for the next window"), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace orrery
