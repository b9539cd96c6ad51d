// Going back to an earlier run, and undoing that.
#include <gtest/gtest.h>

#include <limits>

#include "compute/core/error.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/run_setup.h"

namespace orrery {
namespace {

using test::setup_of;

class ReturnToARun : public testing::Test {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }

  static KernelPtr first() { return test::kernels_under_test().front(); }
  /// The last kernel that has a tunable.
  static KernelPtr other() {
    KernelPtr found = first();
    for (const KernelPtr& kernel : test::kernels_under_test()) {
      if (!kernel->tunables.empty()) found = kernel;
    }
    return found;
  }
  /// A run of its own in everything.
  static RunSetup another_run() {
    return {.scene = {.scene = "disc", .count = 300, .seed = 9},
            .physics = {.integrator_id = "euler",
                        .law = {.id = LawId::attract_repel, .softening = 0.25f, .repulsion = 0.5f, .drag = 0.125f},
                        .time_step = 0.003f},
            .kernel_id = other()->id,
            .settings = Settings{*other()}.values()};
  }
  static void expect_equal(const RunSetup& a, const RunSetup& b) {
    EXPECT_EQ(a.scene, b.scene);
    EXPECT_EQ(a.physics, b.physics);
    EXPECT_EQ(a.kernel_id, b.kernel_id);
    EXPECT_EQ(a.settings, b.settings);
  }
};

TEST_F(ReturnToARun, TakesEverythingOverAtOnce) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 257}, first()};
  sim.run(2);
  sim.apply(ReturnToRun{another_run()});
  expect_equal(setup_of(sim.status()), another_run());
  EXPECT_EQ(sim.status().step, 0);
  Simulation fresh{test::backends(), another_run().scene, other()};
  EXPECT_EQ(sim.bodies(), fresh.bodies()) << "other bodies start from their first state";
  EXPECT_EQ(sim.run(2).steps, 2);
}

TEST_F(ReturnToARun, TakesTheVersionOfTheKernelThatItHad) {
  KernelCatalog kernels;
  KernelInfo info = *first();
  info.id = "mine";
  const KernelPtr old = kernels.put(info), replacement = kernels.put(info);
  const Backends backends{kernels};
  Simulation sim{backends, {.scene = "plummer", .count = 17}, replacement};
  RunSetup run = setup_of(sim.status());
  run.kernel_revision = old->revision;
  sim.apply(ReturnToRun{run});
  EXPECT_EQ(sim.status().kernel, old);
  sim.apply(UndoReturn{});
  EXPECT_EQ(sim.status().kernel, replacement);
  run.kernel_revision = 3;
  EXPECT_THROW(sim.apply(ReturnToRun{run}), UsageError);
  EXPECT_EQ(sim.status().kernel, replacement) << "a return that fails changes nothing";
}

TEST_F(ReturnToARun, BodiesOfTheSameSceneGoOn) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 257}, first()};
  sim.run(2);
  const Bodies now = sim.bodies();
  RunSetup run = setup_of(sim.status());
  run.physics.time_step *= 2;
  sim.apply(ReturnToRun{run});
  EXPECT_EQ(sim.status().time_step, run.physics.time_step);
  EXPECT_EQ(sim.status().step, 2);
  EXPECT_EQ(sim.bodies(), now);
}

TEST_F(ReturnToARun, IsUndoneWithEverythingThatWasShown) {
  for (const bool same_scene : {false, true}) {
    SCOPED_TRACE(same_scene);
    Simulation sim{test::backends(), {.scene = "plummer", .count = 257, .seed = 3}, first()};
    const Bodies start = sim.bodies();
    sim.apply(SetTimeStep{0.002f});
    sim.apply(SetSoftening{0.125f});
    sim.run(3);
    const Status before = sim.status();
    const Bodies bodies = sim.bodies();
    EXPECT_FALSE(before.undo_step);
    RunSetup run = another_run();
    if (same_scene) run.scene = before.scene;
    sim.apply(ReturnToRun{run});
    EXPECT_EQ(sim.status().undo_step, 3);
    sim.run(2);
    sim.apply(UndoReturn{});
    const Status after = sim.status();
    expect_equal(setup_of(after), setup_of(before));
    EXPECT_EQ(after.scene_physics, before.scene_physics);
    EXPECT_EQ(after.step, 3);
    EXPECT_EQ(after.sim_time, before.sim_time);
    EXPECT_EQ(sim.bodies(), bodies);
    EXPECT_FALSE(after.undo_step);
    sim.apply(Restart{});
    EXPECT_EQ(sim.bodies(), start);
  }
}

TEST_F(ReturnToARun, UndoWithoutAReturnSaysSo) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 33}, first()};
  EXPECT_THROW(sim.apply(UndoReturn{}), UsageError);
  sim.apply(ReturnToRun{another_run()});
  sim.apply(UndoReturn{});
  EXPECT_THROW(sim.apply(UndoReturn{}), UsageError) << "one step back, no more";
}

TEST_F(ReturnToARun, WhatCannotBeTakenOverChangesNothing) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 33}, first()};
  sim.run(1);
  const RunSetup before = setup_of(sim.status());
  const Bodies bodies = sim.bodies();
  const auto refuse = [&](auto&& spoil) {
    RunSetup run = another_run();
    spoil(run);
    EXPECT_THROW(sim.apply(ReturnToRun{run}), UsageError);
    expect_equal(setup_of(sim.status()), before);
    EXPECT_FALSE(sim.status().undo_step);
    EXPECT_EQ(sim.bodies(), bodies);
  };
  refuse([](RunSetup& run) { run.kernel_id = "gone"; });
  refuse([](RunSetup& run) { run.settings = {{"no-such-setting", "1"}}; });
  refuse([](RunSetup& run) { run.scene.scene = "nebula"; });
  refuse([](RunSetup& run) { run.physics.integrator_id = "rk4"; });
  refuse([](RunSetup& run) { run.physics.time_step = std::numeric_limits<float>::quiet_NaN(); });
  refuse([](RunSetup& run) { run.physics.law.softening = 0; });
}

TEST_F(ReturnToARun, BodiesThatAreNotFiniteDoNotComeBack) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 33}, first()};
  const Bodies start = sim.bodies();
  Bodies bad = start;
  bad.velocities[7].x = std::numeric_limits<float>::infinity();
  sim.set_bodies(bad);
  EXPECT_THROW(sim.run(1), std::runtime_error);
  sim.apply(ReturnToRun{another_run()});
  EXPECT_FALSE(sim.status().non_finite);
  EXPECT_EQ(sim.status().undo_step, 0);
  sim.apply(UndoReturn{});
  EXPECT_EQ(sim.bodies(), start);
}

TEST_F(ReturnToARun, OfTheSameSceneStartsAnewWhereTheBodiesAreNotFinite) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 33}, first()};
  const Bodies start = sim.bodies();
  const RunSetup run = setup_of(sim.status());
  Bodies bad = start;
  bad.velocities[7].x = std::numeric_limits<float>::infinity();
  sim.set_bodies(bad);
  EXPECT_THROW(sim.run(1), std::runtime_error);
  sim.apply(ReturnToRun{run});
  EXPECT_FALSE(sim.status().non_finite);
  EXPECT_EQ(sim.bodies(), start);
}

}  // namespace
}  // namespace orrery
