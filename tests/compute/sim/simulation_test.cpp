// Commands, switches and batches, on the kernels of one backend.
#include "compute/sim/simulation.h"

#include "compute/core/error.h"
#include "compute/core/temporary_folder.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/support/backend.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::setup_of;

class SimulationTest : public test::BackendTest {
 protected:
  /// With a direct sum that has the same bits in every run.
  static Simulation small(int count = 257) {
    Simulation sim{test::backends(), {.scene = "plummer", .count = count}};
    for (const KernelPtr& kernel : test::kernels_under_test()) {
      if (kernel->repeatable && !kernel->is_tree) sim.apply(SelectKernel{kernel->id});
    }
    return sim;
  }
};

/// The message that refuses the command, or "" if it was accepted.
std::string refusal(Simulation& sim, const Command& command) {
  const test::Failure failure = test::failure_of([&] { sim.apply(command); });
  return failure.kind == test::Failure::usage ? failure.message : "";
}

TEST_F(SimulationTest, StatusIsCopiedOnlyAfterWhatMayChangeIt) {
  Simulation sim = small();
  sim.run(1);
  auto& shown = const_cast<Status&>(sim.status());
  const std::function<void()> changes[] = {[&] { sim.apply(KeepCheckpoint{}); }, [&] { (void)sim.collect(); },
                                           [&] { sim.report(""); }, [&] { sim.set_bodies(sim.bodies()); }};
  for (const std::function<void()>& change : changes) {
    shown.step = -1;  // a mark
    EXPECT_EQ(sim.status().step, -1);
    change();
    EXPECT_GE(sim.status().step, 0);
  }
}

TEST_F(SimulationTest, EverySwitchKeepsTheStateBitForBit) {
  Simulation sim = small();
  sim.run(3);
  const Bodies state = sim.bodies();
  const auto unchanged_after = [&](const Command& command, const std::string& what) {
    sim.apply(command);
    EXPECT_EQ(sim.bodies(), state) << what;
  };
  for (const KernelPtr& kernel : test::kernels()) {  // both backends, to and fro
    if (!test::backends().status(kernel->backend).available) continue;
    unchanged_after(SelectKernel{kernel->id}, kernel->id);
    for (const Tunable& tunable : kernel->tunables) {
      unchanged_after(SetTunable{tunable.name, tunable.values.back()}, tunable.name);
      unchanged_after(SetTunable{tunable.name, tunable.initial}, tunable.name);
    }
  }
  unchanged_after(SelectKernel{"cpu-jerk"}, "the kernel that suits every integrator");
  for (const IntegratorInfo* integrator : integrators())
    unchanged_after(SelectIntegrator{integrator->id}, integrator->id);
  for (const LawInfo& law : laws()) unchanged_after(SelectLaw{law.id}, law.id);
  unchanged_after(SetTimeStep{0.001f}, "dt");
  unchanged_after(SetSoftening{0.1f}, "softening");
  EXPECT_EQ(sim.status().step, 3);
}

TEST_F(SimulationTest, SwitchingKernelsDoesNotChangeThePhysics) {
  constexpr int rounds = 3;
  for (const KernelPtr& kernel : test::kernels_under_test()) {
    SCOPED_TRACE(kernel->id);
    Simulation steady = small(), switching = small();
    const std::string other = steady.status().kernel_id;
    double pull = 0;
    for (const Vec4& a : steady.accelerations()) {
      const double size = std::hypot(double{a.x}, a.y, a.z);
      ASSERT_TRUE(std::isfinite(size));
      pull = std::max(pull, size);
    }
    ASSERT_GT(pull, 0);
    for (int round = 0; round < rounds; ++round) {
      for (const std::string& id : {std::string{kernel->id}, other}) {
        switching.apply(SelectKernel{id});
        switching.run(2);
        steady.run(2);
      }
    }
    EXPECT_EQ(steady.status().step, switching.status().step);
    const Bodies a = steady.bodies(), b = switching.bodies();
    std::vector<double> apart;
    for (std::size_t i = 0; i < a.positions.size(); ++i) {
      const Vec4 &p = a.positions[i], &q = b.positions[i];
      apart.push_back(std::hypot(double{p.x} - q.x, double{p.y} - q.y, double{p.z} - q.z));
      ASSERT_TRUE(std::isfinite(apart.back())) << i;
    }
    std::ranges::sort(apart);
    // How far the largest acceleration moves a body in this time: an error of either kernel does so by its part of it.
    const double time = steady.status().sim_time, way = pull * time * time / 2;
    const Tolerance one = kernel->tolerance, two = test::find_kernel(other)->tolerance;
    EXPECT_LE(apart[apart.size() / 2], 1e-5 + (one.median + two.median) * way);
    EXPECT_LE(apart.back(), 1e-5 + (one.max + two.max) * way);
  }
}

TEST_F(SimulationTest, KernelsKeepTheirSettingsWhileAnotherIsSelected) {
  Simulation sim = small();
  const KernelInfo& kernel = *test::find_kernel(sim.status().kernel_id);
  ASSERT_FALSE(kernel.tunables.empty());
  const Tunable& tunable = kernel.tunables.front();
  test::apply(sim, SetTunable{tunable.name, tunable.values.front()},
              SelectKernel{test::kernels_under_test().front()->id}, SelectKernel{kernel.id});
  EXPECT_EQ(sim.status().settings.text(tunable.name), tunable.values.front());
}

TEST_F(SimulationTest, AKernelIsSelectedTogetherWithItsSettings) {
  Simulation sim = small();
  const KernelInfo& kernel = *test::kernels_under_test().back();
  const Tunable& tunable = kernel.tunables.front();
  sim.apply(SelectKernel{test::kernels_under_test().front()->id});
  sim.apply(SelectKernel{kernel.id, {{tunable.name, tunable.values.back()}}});
  EXPECT_EQ(sim.status().settings.text(tunable.name), tunable.values.back());
  EXPECT_NE(refusal(sim, SelectKernel{kernel.id, {{tunable.name, "purple"}}}), "");
  EXPECT_EQ(sim.status().settings.text(tunable.name), tunable.values.back());
}

TEST_F(SimulationTest, RefusalsNameTheCauseAndTheChoicesAndChangeNothing) {
  Simulation sim = small();
  sim.run(1);
  const Bodies state = sim.bodies();
  const Status before = sim.status();
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  EXPECT_NE(refusal(sim, SelectKernel{"cuda-magic"}).find(before.kernel_id), std::string::npos);
  EXPECT_NE(refusal(sim, SetTunable{"colour", "red"}).find("colour"), std::string::npos);
  for (const IntegratorInfo* known : integrators()) {
    EXPECT_NE(refusal(sim, SelectIntegrator{"rk4"}).find(known->id), std::string::npos) << known->id;
  }
  for (const LawInfo& known : laws()) {
    EXPECT_NE(refusal(sim, SelectLaw{"magnetism"}).find(known.id), std::string::npos) << known.id;
  }
  for (const float bad : {0.0f, -1.0f, nan, infinity}) EXPECT_NE(refusal(sim, SetTimeStep{bad}), "") << bad;
  for (const float bad : {0.0f, -1.0f, 1e-11f, 1e13f, nan, infinity}) {
    EXPECT_NE(refusal(sim, SetSoftening{bad}), "") << bad;
  }
  for (const float bad : {-1.0f, 1e7f, nan, infinity}) EXPECT_NE(refusal(sim, SetRepulsion{bad}), "") << bad;
  for (const float bad : {-1.0f, 1e7f, nan, infinity}) EXPECT_NE(refusal(sim, SetDrag{bad}), "") << bad;
  for (const int bad : {0, -1, 1001})
    EXPECT_NE(refusal(sim, SetStepsPerFrame{bad}).find("1 to 1000"), std::string::npos);
  EXPECT_NE(refusal(sim, LoadScene{{.scene = "nebula"}}).find("collision"), std::string::npos);
  EXPECT_NE(refusal(sim, LoadScene{{.scene = "plummer", .count = -5}}), "");

  const Status after = sim.status();
  EXPECT_EQ(sim.bodies(), state);
  EXPECT_EQ(after.kernel_id, before.kernel_id);
  EXPECT_EQ(after.settings, before.settings);
  EXPECT_EQ(after.law, before.law);
  EXPECT_EQ(after.time_step, before.time_step);
  EXPECT_EQ(after.scene, before.scene);
  EXPECT_EQ(after.step, 1);
}

TEST_F(SimulationTest, FramesRunWhatWasAskedForAndReportIt) {
  Simulation sim = small();
  sim.apply(SetStepsPerFrame{4});
  EXPECT_EQ(sim.advance_frame(17), 4);
  sim.wait();
  const std::vector<StepTiming> timings = sim.collect();
  ASSERT_EQ(timings.size(), 1u);
  EXPECT_EQ(timings[0].tag, 17);
  EXPECT_EQ(timings[0].steps, 4);
  EXPECT_GT(timings[0].force_ms, 0);
  EXPECT_EQ(timings[0].evaluations, 5) << "leapfrog's first step needs the accelerations at the start, too";
  EXPECT_EQ(timings[0].interactions_per_evaluation, 257 * 257) << "a direct sum";
  EXPECT_EQ(sim.status().step, 4);
  EXPECT_NEAR(sim.status().sim_time, 4. * sim.status().time_step, 1e-6);
  EXPECT_TRUE(sim.idle());

  sim.apply(SetPaused{true});
  EXPECT_EQ(sim.advance_frame(18), 0);
  sim.apply(StepOnce{});
  EXPECT_EQ(sim.advance_frame(19), 1);
  EXPECT_EQ(sim.advance_frame(20), 0) << "once";
  sim.wait();
  sim.apply(SetPaused{false});
  EXPECT_EQ(sim.advance_frame(21), 4);
}

TEST_F(SimulationTest, RatesCountTheEvaluationsThatRan) {
  Simulation sim = small();
  EXPECT_EQ(sim.run(3).evaluations, 4);
  EXPECT_EQ(sim.run(3).evaluations, 3);
  sim.apply(SetTimeStep{0.001f});  // the accelerations stay what they are
  EXPECT_EQ(sim.run(3).evaluations, 3);
  sim.apply(SetSoftening{0.1f});  // they do not
  EXPECT_EQ(sim.run(3).evaluations, 4);
  sim.apply(SelectIntegrator{"euler"});
  EXPECT_EQ(sim.run(3).evaluations, 3);
}

TEST_F(SimulationTest, ResetRestoresTheScenesOwnPhysicsAndRestartKeepsWhatIsSet) {
  Simulation sim = small();
  const Bodies start = sim.bodies();
  const Status fresh = sim.status();
  const Physics own{.integrator_id = fresh.integrator_id, .law = fresh.law, .time_step = fresh.time_step};
  EXPECT_EQ(fresh.scene_physics, own);
  for (const Command& command :
       {Command{SetTimeStep{1e-4f}}, Command{SetSoftening{0.5f}}, Command{SelectLaw{"attract-repel"}},
        Command{SetRepulsion{0.25f}}, Command{SetDrag{0.125f}}, Command{SelectIntegrator{"euler"}},
        Command{SetStepsPerFrame{7}}}) {
    sim.apply(command);
  }
  const Status changed = sim.status();
  EXPECT_EQ(changed.scene_physics, own) << "the scene's own are what they were";
  sim.run(2);
  sim.apply(Restart{});
  EXPECT_EQ(sim.bodies(), start);
  EXPECT_EQ(sim.status().time_step, 1e-4f);
  EXPECT_EQ(sim.status().law, changed.law);
  EXPECT_EQ(sim.status().integrator_id, "euler");
  sim.run(2);
  sim.apply(Reset{});
  EXPECT_EQ(sim.bodies(), start);
  EXPECT_EQ(sim.status().step, 0);
  EXPECT_EQ(sim.status().time_step, own.time_step);
  EXPECT_EQ(sim.status().law, own.law);
  EXPECT_EQ(sim.status().integrator_id, own.integrator_id);
  EXPECT_EQ(sim.status().kernel_id, fresh.kernel_id);
  EXPECT_EQ(sim.status().steps_per_frame, 7);
}

TEST_F(SimulationTest, AnotherSceneWithAnotherCountStartsAfresh) {
  Simulation sim = small();
  sim.run(1);
  sim.apply(LoadScene{{.scene = "disc", .count = 1000}});  // every array is made anew
  EXPECT_EQ(sim.status().count, 1000);
  EXPECT_EQ(sim.status().scene_name, "disc");
  sim.run(2);
  EXPECT_EQ(sim.bodies().count(), 1000);
  EXPECT_EQ(sim.status().step, 2);
}

TEST_F(SimulationTest, HasOneStatusWhoseNamesAreCopiedByCommandsAlone) {
  Simulation sim = small();
  const Status& status = sim.status();
  const std::int64_t before = status.step;
  const_cast<Status&>(status).scene_name = "a mark that a copy would remove";
  sim.run(2);
  EXPECT_EQ(status.step, before) << "it is brought up to date when somebody looks";
  EXPECT_EQ(&sim.status(), &status);
  EXPECT_EQ(status.step, before + 2);
  EXPECT_EQ(status.scene_name, "a mark that a copy would remove");
  for (const Command& command :
       {Command{SetStepsPerFrame{7}}, Command{SetTimeStep{0.125f}}, Command{SetPaused{true}}}) {
    sim.apply(command);
  }
  EXPECT_EQ(sim.status().scene_name, "plummer");
  EXPECT_EQ(sim.status().steps_per_frame, 7);
  EXPECT_EQ(sim.status().time_step, 0.125f);
  EXPECT_TRUE(sim.status().paused);
  sim.report("trouble");
  EXPECT_EQ(sim.status().last_error, "trouble");
  sim.set_bodies(Bodies{{{0, 0, 0, 1}}, {{}}});
  EXPECT_EQ(sim.status().count, 1);
}

// A run that is continued from its state goes the way that it would have gone.

class ResumedRun : public test::KernelTest {};

TEST_P(ResumedRun, GoesOnBitForBit) {
  const KernelPtr& kernel = GetParam();
  for (const Digits digits : {Digits::single, Digits::compensated}) {
    SCOPED_TRACE(word_of(digits));
    Simulation first{test::backends(), {.scene = "plummer", .count = 300, .seed = 5}, kernel};
    test::apply(first, SetDigits{digits}, SetTimeStep{0.003f}, SetSoftening{0.05f});
    first.run(3);
    first.run(2);
    const RunSetup setup = setup_of(first.status());
    const Snapshot state = first.snapshot();

    Simulation second{test::backends(), {.scene = "two-body"}, kernel};
    second.resume(setup, state, first.status().step);
    const Status& now = second.status();
    EXPECT_EQ(now.step, 5);
    EXPECT_EQ(now.sim_time, first.status().sim_time);
    EXPECT_EQ(now.scene, first.status().scene);
    EXPECT_EQ(now.law, first.status().law);
    EXPECT_EQ(now.time_step, 0.003f);
    first.run(4);
    second.run(1);
    second.run(3);
    EXPECT_EQ(second.status().step, 9);
    if (kernel->repeatable) {
      EXPECT_EQ(second.bodies(), first.bodies());
    }
    second.apply(Restart{});
    EXPECT_EQ(second.bodies(), with_digits(find_scene("plummer").generate(300, 5).bodies, digits)) << "the first state";
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, ResumedRun, testing::ValuesIn(test::kernels_under_test()), test::test_name);

TEST(Resuming, ChangesNothingWhereItFails) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const KernelPtr kernel = test::kernels_under_test().front();
  Simulation sim{test::backends(), {.scene = "plummer", .count = 40}, kernel};
  sim.run(2);
  const Bodies before = sim.bodies();
  Snapshot state = sim.snapshot();
  state.bodies.positions.pop_back();
  state.bodies.velocities.pop_back();
  const RunSetup run{.scene = {.scene = "plummer", .count = 40},
                     .physics = {.integrator_id = "leapfrog", .law = {}, .time_step = 0.01f},
                     .kernel_id = kernel->id,
                     .settings = {}};
  EXPECT_RUNTIME_ERROR(sim.resume(run, state, 2), "40", "39");
  EXPECT_EQ(sim.bodies(), before);
  EXPECT_EQ(sim.status().step, 2);
}

TEST(Resuming, DoesWithoutTheFileOfTheScene) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const KernelPtr kernel = test::kernels_under_test().front();
  Simulation sim{test::backends(), {.scene = "plummer", .count = 40}, kernel};
  sim.run(2);
  const Snapshot state = sim.snapshot();
  const RunSetup run{.scene = {.file = "no/such/galaxy.tipsy"},
                     .physics = {.integrator_id = "leapfrog", .law = {}, .time_step = 0.01f},
                     .kernel_id = kernel->id,
                     .settings = {}};
  sim.resume(run, state, 2);
  EXPECT_EQ(sim.status().scene_name, "galaxy.tipsy");
  sim.run(1);
  sim.apply(Restart{});
  EXPECT_EQ(sim.bodies(), state.bodies) << "the state that it continued from";
}

class ReturnToARun : public test::BackendTest {
 protected:
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
    test::apply(sim, SetTimeStep{0.002f}, SetSoftening{0.125f});
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
  test::apply(sim, ReturnToRun{another_run()}, UndoReturn{});
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

TEST_F(ReturnToARun, StartsAnewWhereTheBodiesAreNotFinite) {
  for (const bool same_scene : {true, false}) {
    SCOPED_TRACE(same_scene);
    Simulation sim{test::backends(), {.scene = "plummer", .count = 33}, first()};
    const Bodies start = sim.bodies();
    const RunSetup run = same_scene ? setup_of(sim.status()) : another_run();
    Bodies bad = start;
    bad.velocities[7].x = std::numeric_limits<float>::infinity();
    sim.set_bodies(bad);
    EXPECT_THROW(sim.run(1), std::runtime_error);
    sim.apply(ReturnToRun{run});
    EXPECT_FALSE(sim.status().non_finite);
    if (same_scene) {
      EXPECT_EQ(sim.bodies(), start);
      continue;
    }
    EXPECT_EQ(sim.status().undo_step, 0);
    sim.apply(UndoReturn{});
    EXPECT_EQ(sim.bodies(), start) << "bodies that are not finite do not come back";
  }
}

// The file that a run started from, and what the run keeps of it.

class RunFromAFile : public testing::Test {
 protected:
  static constexpr int count = 600;  // of each species a third
  static constexpr double start = 12.5;

  void SetUp() override {
    ORRERY_SKIP_WITHOUT_BACKEND();
    written_.bodies = find_scene("plummer").generate(count, 3).bodies;
    for (int i = 0; i < count; ++i) {
      written_.bodies.positions[static_cast<std::size_t>(i)].w = 1e-3f * static_cast<float>(1 + i);
      written_.properties.species.push_back(i < count / 3       ? Species::gas
                                            : i < 2 * count / 3 ? Species::dark
                                                                : Species::star);
      written_.properties.softening.push_back(1e-4f * static_cast<float>(1 + i));
    }
    written_.time = start;
    write_snapshot(file(), written_);
  }
  std::filesystem::path file() const { return folder_ / "start.tipsy"; }
  SceneRequest request() const { return {.file = file().string()}; }
  Simulation simulation() const { return {test::backends(), request(), test::kernels_under_test().front()}; }

  TemporaryFolder folder_;
  Snapshot written_;
};

TEST_F(RunFromAFile, ContinuesItsTime) {
  Simulation sim = simulation();
  EXPECT_EQ(sim.status().sim_time, start);
  EXPECT_EQ(sim.status().step, 0);
  test::apply(sim, SetTimeStep{0.25f}, MeasureConserved{});
  sim.run(4);
  EXPECT_EQ(sim.status().sim_time, start + 1);
  EXPECT_EQ(sim.status().step, 4);
  EXPECT_EQ(sim.snapshot().time, start + 1);
  ASSERT_TRUE(sim.status().conserved);
  EXPECT_EQ(sim.status().conserved->sim_time, start + 1);
}

TEST_F(RunFromAFile, GoesBackToItsTime) {
  Simulation sim = simulation();
  for (const Command& back : {Command{Restart{}}, Command{Reset{}}, Command{LoadScene{request()}}}) {
    sim.run(2);
    EXPECT_GT(sim.status().sim_time, start);
    sim.apply(back);
    EXPECT_EQ(sim.status().sim_time, start);
    EXPECT_EQ(sim.status().step, 0);
  }
  sim.run(1);
  const Snapshot before = sim.snapshot();
  const Status status = sim.status();
  sim.apply(ReturnToRun{{.scene = {.scene = "two-body", .count = 2},
                         .physics = status.scene_physics,
                         .kernel_id = status.kernel_id,
                         .settings = {}}});
  EXPECT_EQ(sim.status().sim_time, 0) << "another scene has its own time";
  EXPECT_EQ(sim.snapshot().properties, BodyProperties{});
  sim.apply(UndoReturn{});
  EXPECT_EQ(sim.snapshot().time, before.time);
  EXPECT_EQ(sim.snapshot().properties, before.properties);
}

TEST_F(RunFromAFile, EveryKernelLeavesEachBodyInItsPlace) {
  Simulation sim = simulation();
  for (const KernelPtr& kernel : test::kernels_under_test()) {
    sim.apply(SelectKernel{kernel->id});
    sim.run(3);
    const Snapshot now = sim.snapshot();
    EXPECT_EQ(now.properties, written_.properties) << kernel->id;
    for (std::size_t i = 0; i < count; ++i) {  // each mass is there once
      ASSERT_EQ(now.bodies.positions[i].w, written_.bodies.positions[i].w) << kernel->id << ", body " << i;
    }
  }
}

TEST_F(RunFromAFile, ASavedStateStartsWhereTheRunWas) {
  Simulation sim = simulation();
  sim.run(3);
  const Snapshot saved = sim.snapshot();
  write_snapshot(folder_ / "later.tipsy", saved);
  Simulation later{test::backends(), {.file = (folder_ / "later.tipsy").string()}, test::kernels_under_test().front()};
  const Snapshot found = later.snapshot();
  EXPECT_EQ(found.time, saved.time);
  EXPECT_EQ(found.bodies, saved.bodies);
  EXPECT_EQ(found.properties, written_.properties);
}

TEST_F(RunFromAFile, BodiesWithoutLengthsHaveThoseOfTheRun) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 20}, test::kernels_under_test().front()};
  sim.apply(SetSoftening{0.375f});
  write_snapshot(folder_ / "soft.tipsy", sim.snapshot());
  EXPECT_EQ(read_snapshot(folder_ / "soft.tipsy").properties.softening, std::vector<float>(20, 0.375f));
}

}  // namespace
}  // namespace orrery
