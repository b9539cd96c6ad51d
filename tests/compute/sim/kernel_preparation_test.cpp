// A kernel that is compiled while the steps go on.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "compute/core/error.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/slow_kernel.h"

namespace orrery {
namespace {

class KernelPreparation : public testing::Test {
 protected:
  KernelPreparation() { catalog.put(slow.info()); }
  ~KernelPreparation() override { slow.finish(); }

  Simulation simulation(Choosing choosing = Choosing::beside) {
    return {backends, {.scene = "plummer", .count = 33}, catalog.find("slow"), nullptr, nullptr, choosing};
  }
  /// Frames as a window makes them.
  static void frames_until(Simulation& sim, const std::function<bool()>& reached) {
    for (int frame = 0; frame < 30'000 && !reached(); ++frame) {
      sim.advance_frame(frame);
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
      (void)sim.collect();
    }
    ASSERT_TRUE(reached());
  }
  static void run_steps(Simulation& sim, int steps) {
    const std::int64_t end = sim.status().step + steps;
    frames_until(sim, [&] { return sim.status().step >= end; });
  }
  static void wait_until_made(Simulation& sim) {
    frames_until(sim, [&] { return !sim.status().preparing; });
  }
  static std::string block(const Simulation& sim) { return sim.status().settings.text("block"); }

  test::SlowKernel slow;
  KernelCatalog catalog;
  const Backends backends{catalog};
};

TEST_F(KernelPreparation, TheOldSettingGoesOnUntilTheNewOneIsCompiled) {
  Simulation sim = simulation();
  sim.apply(SetTunable{"block", "64"});
  ASSERT_TRUE(sim.status().preparing);
  EXPECT_EQ(sim.status().preparing->settings.text("block"), "64");
  run_steps(sim, 5);
  EXPECT_EQ(block(sim), "256");
  EXPECT_FALSE(sim.take_prepared());
  slow.finish();
  wait_until_made(sim);
  EXPECT_EQ(block(sim), "64");
  const auto prepared = sim.take_prepared();
  ASSERT_TRUE(prepared);
  EXPECT_FALSE(prepared->failure);
  EXPECT_EQ(prepared->settings.text("block"), "64");
  run_steps(sim, 3);
}

TEST_F(KernelPreparation, AnErrorIsReportedAndTheOldSettingStays) {
  Simulation sim = simulation();
  sim.apply(SetTunable{"block", "64"});
  run_steps(sim, 2);
  slow.finish("slow.cu(7): too many registers");
  wait_until_made(sim);
  EXPECT_EQ(block(sim), "256");
  EXPECT_EQ(sim.status().last_error, "slow.cu(7): too many registers");
  EXPECT_FALSE(sim.status().paused);
  const auto prepared = sim.take_prepared();
  ASSERT_TRUE(prepared);
  EXPECT_THROW(std::rethrow_exception(prepared->failure), std::runtime_error);
  run_steps(sim, 3);
}

TEST_F(KernelPreparation, OnlyTheLatestOfManyIsCompiled) {
  Simulation sim = simulation();
  sim.apply(SetTunable{"block", "64"});
  frames_until(sim, [&] { return slow.compiled() == "64"; });
  sim.apply(SetTunable{"block", "128"});
  sim.apply(SetTunable{"block", "64"});
  sim.apply(SetTunable{"block", "128"});
  slow.finish();
  wait_until_made(sim);
  EXPECT_EQ(slow.compiled(), "64 128");
  EXPECT_EQ(block(sim), "128");
}

TEST_F(KernelPreparation, OfANewVersionTakesASettingThatIsChangedMeanwhile) {
  Simulation sim = simulation();
  catalog.put(slow.info());
  const int version = catalog.find("slow")->revision;
  sim.apply(SelectKernel{"slow", {{"block", "128"}}});
  sim.apply(SetTunable{"block", "64"});
  slow.finish();
  wait_until_made(sim);
  EXPECT_EQ(block(sim), "64");
  const auto prepared = sim.take_prepared();
  ASSERT_TRUE(prepared);
  EXPECT_EQ(prepared->kernel->revision, version);
}

TEST_F(KernelPreparation, EndsIfTheRunningSettingOrAnotherKernelIsSelected) {
  for (const Command& command : {Command{SetTunable{"block", "256"}}, Command{SelectKernel{"cpu-serial"}}}) {
    Simulation sim = simulation();
    sim.apply(SetTunable{"block", "64"});
    sim.apply(command);
    EXPECT_FALSE(sim.status().preparing);
    slow.finish();
    run_steps(sim, 3);
    EXPECT_FALSE(sim.take_prepared());
    EXPECT_NE(sim.status().settings.text_or_none("block"), "64");
  }
}

TEST_F(KernelPreparation, OtherPhysicsAndBodiesGoWithIt) {
  Simulation sim = simulation();
  sim.apply(SetTunable{"block", "64"});
  sim.apply(SelectLaw{"attract-repel"});
  sim.apply(LoadScene{{.scene = "plummer", .count = 50}});
  EXPECT_TRUE(sim.status().preparing);
  slow.finish();
  wait_until_made(sim);
  EXPECT_EQ(block(sim), "64");
  EXPECT_EQ(sim.status().count, 50);
  EXPECT_EQ(sim.status().law.id, LawId::attract_repel);
  run_steps(sim, 2);
}

TEST_F(KernelPreparation, NoFrameDestroysAKernel) {
  Simulation sim = simulation();
  slow.finish();
  sim.apply(SetTunable{"block", "64"});
  wait_until_made(sim);
  frames_until(sim, [&] { return slow.present() == 1; });
  sim.apply(SetTunable{"block", "128"});
  while (slow.present() == 1) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  sim.apply(SelectKernel{"cpu-serial"});  // the one that was prepared, and the one that ran, are not used any more
  frames_until(sim, [&] { return slow.present() == 0; });
  EXPECT_EQ(slow.destroyed_by(std::this_thread::get_id()), 0);
}

TEST_F(KernelPreparation, AWrongValueIsRefusedAtOnce) {
  Simulation sim = simulation();
  sim.apply(SetTunable{"block", "64"});
  EXPECT_THROW(sim.apply(SetTunable{"block", "65"}), UsageError);
  EXPECT_THROW(sim.apply(SelectKernel{"slow", {{"tile", "1"}}}), UsageError);
  slow.finish();
  ASSERT_TRUE(sim.status().preparing);
  EXPECT_EQ(sim.status().preparing->settings.text("block"), "64");
}

TEST_F(KernelPreparation, ARepeatableRunWaitsForIt) {
  Simulation sim = simulation(Choosing::at_once);
  slow.finish();
  sim.apply(SetTunable{"block", "64"});
  EXPECT_EQ(block(sim), "64");
  EXPECT_FALSE(sim.status().preparing);
}

}  // namespace
}  // namespace orrery
