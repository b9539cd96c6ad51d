#include "app/features/runs/simulation_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/temporary_folder.h"
#include "compute/core/threads.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/app/support/text_file.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr float dt = 0.01f;

class ASimulationRun : public testing::Test {
 protected:
  Simulation simulation() const {
    Simulation made{test::backends(), {.scene = "plummer", .count = 50}, test::backends().kernels().find("cpu-serial")};
    made.apply(SetTimeStep{dt});
    return made;
  }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  bool run(Simulation& simulation, const RunOrder& order, const SimulationRun::Outputs& outputs = {}) {
    return run_until(
        simulation, order, [] { return false; }, outputs);
  }
  bool run_until(Simulation& simulation, const RunOrder& order, const std::function<bool()>& stop,
                 SimulationRun::Outputs outputs = {}) {
    outputs.metadata = metadata_;
    for (const char* folder : {"out", "odd", "again"}) fs::create_directories(folder_ / folder);
    SimulationRun run{simulation, order, outputs};
    const bool ended = run.run(stop, [](const SimulationRun::Progress&) {});
    if (!ended) run.write_checkpoint(order.checkpoint);
    return ended;
  }
  /// The rows under the two lines of the header.
  std::vector<std::string> rows(const char* name) const {
    std::vector<std::string> lines = test::lines(test::contents(path(name)));
    lines.erase(lines.begin(), lines.begin() + 2);
    return lines;
  }
  std::vector<std::string> files(const char* folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator{folder_ / folder}) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }

  TemporaryFolder folder_;
  const Json metadata_{{"program", "orrery"}};  // as that of a run of the program
};

TEST_F(ASimulationRun, WritesTheFirstRowOnceIfItIsStoppedBeforeItsFirstStep) {
  const RunOrder order{.steps = 4,
                       .every = 0.02,
                       .snapshots = path("out"),
                       .diagnostics = path("d.csv"),
                       .checkpoint = path("a.checkpoint")};
  Simulation first = simulation();
  EXPECT_FALSE(run_until(first, order, [] { return true; }));
  const RunCheckpoint found = find_checkpoint(path("a.checkpoint")).checkpoint;
  ASSERT_EQ(found.step, 0);
  EXPECT_TRUE(run(first, order, {.diagnostics = found.diagnostics, .continues_snapshots = true}));
  const std::vector<std::string> written = rows("d.csv");
  ASSERT_EQ(written.size(), 3u) << "steps 0, 2, 4";
  EXPECT_TRUE(written[1].starts_with("2,")) << written[1];
  EXPECT_EQ(files("out").size(), 3u);
}

TEST_F(ASimulationRun, EndsAtItsStepOrTime) {
  Simulation by_steps = simulation(), by_time = simulation();
  EXPECT_TRUE(run(by_steps, {.steps = 7}));
  EXPECT_EQ(by_steps.status().step, 7);
  EXPECT_TRUE(run(by_time, {.until = 0.065}));
  EXPECT_EQ(by_time.status().step, 7) << "the first step that reaches the time";
}

TEST_F(ASimulationRun, StoresTheNumberOfThreadsIfTheBitsDependOnIt) {
  const auto setting = [](const char* kernel, const char* threads) {
    Simulation sim{test::backends(), {.scene = "plummer", .count = 1500}, test::backends().kernels().find(kernel)};
    sim.apply(SetTunable{"threads", threads});
    return checkpoint_of(sim).setup.settings.at("threads");
  };
  EXPECT_EQ(setting("cpu-symmetric", "auto"), std::to_string(usable_threads()));
  EXPECT_EQ(setting("cpu-symmetric", "3"), "3");
  EXPECT_EQ(setting("cpu-simd", "auto"), "auto") << "its bits are the same with any number";
}

TEST_F(ASimulationRun, ContinuesWithTheSameBitsWhereOtherThreadsMayRun) {
  Simulation undisturbed{
      test::backends(), {.scene = "plummer", .count = 1500}, test::backends().kernels().find("cpu-symmetric")};
  undisturbed.run(2);
  const RunCheckpoint checkpoint = checkpoint_of(undisturbed);
  undisturbed.run(2);
  Simulation other{test::backends(), {.scene = "two-body"}, test::backends().kernels().find("cpu-simd")};
  limit_threads(usable_threads() > 1 ? 1 : 2);
  other.resume(checkpoint.setup, checkpoint.state, checkpoint.step, checkpoint.hermite);
  other.run(2);
  limit_threads(std::numeric_limits<int>::max());
  EXPECT_EQ(other.bodies().positions, undisturbed.bodies().positions);
}

TEST_F(ASimulationRun, WritesTheFirstStateTheOrderedOnesAndTheLast) {
  Simulation sim = simulation();
  run(sim, {.steps = 10, .every = 0.025, .snapshots = path("out"), .diagnostics = path("d.csv")});
  EXPECT_EQ(files("out"),
            (std::vector<std::string>{"snapshot_00000.tipsy", "snapshot_00001.tipsy", "snapshot_00002.tipsy",
                                      "snapshot_00003.tipsy", "snapshot_00004.tipsy"}));
  const std::vector<std::string> found = rows("d.csv");
  ASSERT_EQ(found.size(), 5u);
  const std::vector<int> steps{0, 3, 5, 8, 10};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(found[i].starts_with(std::to_string(steps[i]) + ",")) << found[i];
    const Snapshot snapshot = read_snapshot(folder_ / "out" / fmt::format("snapshot_{:05}.tipsy", i));
    EXPECT_NEAR(snapshot.time, steps[i] * double{dt}, 1e-6);
  }
  Simulation odd = simulation();
  run(odd, {.steps = 7, .every = 0.03, .snapshots = path("odd")});
  EXPECT_EQ(files("odd").size(), 4u) << "the last state has one of its own";
}

TEST_F(ASimulationRun, ContinuesToTheSameBytes) {
  Simulation whole = simulation();
  run(whole, {.steps = 20, .every = 0.05, .snapshots = path("out"), .diagnostics = path("whole.csv")});

  Simulation first = simulation();
  int asked = 0;
  const RunOrder order{.steps = 20,
                       .every = 0.05,
                       .snapshots = path("again"),
                       .diagnostics = path("d.csv"),
                       .checkpoint = path("a.checkpoint")};
  EXPECT_FALSE(run_until(first, order, [&] { return ++asked > 3; }));
  const FoundCheckpoint found = find_checkpoint(path("a.checkpoint"));
  EXPECT_EQ(found.note, "");
  EXPECT_LT(found.checkpoint.step, 20);
  ASSERT_TRUE(found.checkpoint.order && found.checkpoint.diagnostics);
  EXPECT_EQ(*found.checkpoint.order, order);

  Simulation second{test::backends(), {.scene = "two-body"}};
  second.resume(found.checkpoint.setup, found.checkpoint.state, found.checkpoint.step);
  EXPECT_TRUE(run(second, order, {.diagnostics = found.checkpoint.diagnostics}));
  EXPECT_EQ(second.bodies(), whole.bodies());
  EXPECT_EQ(rows("d.csv"), rows("whole.csv"));
  EXPECT_EQ(files("again"), files("out"));
}

TEST_F(ASimulationRun, BeginsItsOwnDiagnosticsAnewIfTheFirstSnapshotFailed) {
  Simulation whole = simulation();
  run(whole, {.steps = 5, .every = 0.02, .snapshots = path("out"), .diagnostics = path("whole.csv")});

  std::ofstream{path("d.csv")} << "precious";
  const fs::path in_the_way = folder_ / "again" / "snapshot_00000.tipsy";
  fs::create_directories(in_the_way);
  Simulation first = simulation();
  SimulationRun failed{first,
                       {.steps = 5, .every = 0.02, .snapshots = path("again"), .diagnostics = path("d.csv")},
                       {.metadata = metadata_}};
  EXPECT_THROW(failed.run([] { return false; }, [](const SimulationRun::Progress&) {}), OutputFailure);
  failed.write_checkpoint(path("a.checkpoint"));
  fs::remove(in_the_way);

  const RunCheckpoint found = find_checkpoint(path("a.checkpoint")).checkpoint;
  ASSERT_TRUE(found.order);
  EXPECT_TRUE(run(first, *found.order, {.diagnostics = found.diagnostics, .due = found.outputs_due}));
  EXPECT_EQ(rows("d-1.csv"), rows("whole.csv"));
  EXPECT_FALSE(fs::exists(path("d-1-1.csv")));
  EXPECT_EQ(test::contents(path("d.csv")), "precious");
  EXPECT_EQ(files("again"), files("out"));
}

TEST_F(ASimulationRun, WritesItsLastSnapshotIfThatWasAllThatFailed) {
  for (RunOrder order :
       {RunOrder{.steps = 7}, RunOrder{.until = 0.065}}) {  // both are 7 steps; the last is no multiple
    order.every = 0.02;
    order.snapshots = path("out");
    order.diagnostics = path("whole.csv");
    Simulation whole = simulation();
    run(whole, order, {.existing = Existing::replace});

    order.snapshots = path("again");
    order.diagnostics = path("d.csv");
    const fs::path in_the_way = folder_ / "again" / files("out").back();
    fs::create_directories(in_the_way);
    Simulation first = simulation();
    SimulationRun failed{first, order, {.existing = Existing::replace, .metadata = metadata_}};
    EXPECT_THROW(failed.run([] { return false; }, [](const SimulationRun::Progress&) {}), OutputFailure);
    failed.write_checkpoint(path("a.checkpoint"));
    fs::remove(in_the_way);

    const RunCheckpoint found = find_checkpoint(path("a.checkpoint")).checkpoint;
    EXPECT_EQ(found.step, 7);
    RunOrder earlier = *found.order;
    earlier.steps = 6;
    EXPECT_THROW(RunSchedule(first.status(), earlier, found.outputs_due), UsageError);
    EXPECT_TRUE(run(first, *found.order, {.diagnostics = found.diagnostics, .due = found.outputs_due}));
    EXPECT_EQ(rows("d.csv"), rows("whole.csv"));
    EXPECT_EQ(files("again"), files("out"));
    EXPECT_THROW(RunSchedule(first.status(), *found.order, false), UsageError) << "nothing is left to do";
    fs::remove_all(folder_ / "again");
  }
}

TEST_F(ASimulationRun, ForgetsLastOutputsThatFailedIfAnotherOrderHasNoneThere) {
  RunOrder order{.steps = 7, .every = 0.02, .snapshots = path("again"), .diagnostics = path("d.csv")};
  const fs::path in_the_way = folder_ / "again" / "snapshot_00004.tipsy";
  fs::create_directories(in_the_way);
  Simulation sim = simulation();
  SimulationRun failed{sim, order, {.metadata = metadata_}};
  EXPECT_THROW(failed.run([] { return false; }, [](const SimulationRun::Progress&) {}), OutputFailure);
  failed.write_checkpoint(path("a.checkpoint"));
  fs::remove(in_the_way);

  const RunCheckpoint found = find_checkpoint(path("a.checkpoint")).checkpoint;
  order.steps = 12;
  order.checkpoint = path("b.checkpoint");
  const SimulationRun::Outputs outputs{.diagnostics = found.diagnostics, .due = found.outputs_due};
  EXPECT_TRUE(outputs.due);
  EXPECT_FALSE(run_until(
      sim, order, [] { return true; }, outputs));
  const RunCheckpoint next = find_checkpoint(path("b.checkpoint")).checkpoint;
  EXPECT_FALSE(next.outputs_due);
  EXPECT_TRUE(run(sim, order, {.diagnostics = next.diagnostics, .due = next.outputs_due}));
  EXPECT_EQ(rows("d.csv").size(), 7u) << "steps 0 to 12";
  EXPECT_FALSE(fs::exists(path("d-1.csv")));
}

TEST_F(ASimulationRun, BeginsANewFileOfDiagnosticsWithTheStateThatItContinues) {
  Simulation sim = simulation();
  sim.run(7);
  EXPECT_TRUE(run(sim, {.steps = 12, .every = 0.05, .snapshots = path("out"), .diagnostics = path("new.csv")}));
  const std::vector<std::string> found = rows("new.csv");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(found[0].starts_with("7,")) << found[0];
  EXPECT_TRUE(found[1].starts_with("10,")) << found[1];
  EXPECT_EQ(files("out").size(), 2u) << "snapshots stand at their own times alone";
}

TEST_F(ASimulationRun, RefusesAnOrderThatCannotBeMet) {
  Simulation sim = simulation();
  const auto refused = [&](const RunOrder& order, const char* cause) {
    test::expect_failure(
        test::Failure::usage,
        [&] {
          SimulationRun{sim, order, {}};
        },
        cause);
  };
  refused({}, "--until");
  refused({.until = 1e30}, "too many");
  refused({.steps = 10, .every = 0.001, .snapshots = path("out")}, "time step");
  sim.run(5);
  refused({.steps = 4}, "step 5");
  refused({.steps = 5}, "later end");
  refused({.until = 0.01}, "later end");
}

TEST_F(ASimulationRun, EndsWhereABodyIsNotFinite) {
  Simulation sim = simulation();
  sim.apply(SetTimeStep{1e30f});
  test::expect_failure(
      test::Failure::runtime, [&] { run(sim, {.steps = 10, .checkpoint = path("a.checkpoint")}); }, "not finite");
  EXPECT_FALSE(fs::exists(path("a.checkpoint"))) << "nothing could start from there";
}

TEST_F(ASimulationRun, KeepsTheLastTwoCheckpoints) {
  Simulation sim = simulation();
  keep_checkpoint(path("a.checkpoint"), checkpoint_of(sim));
  EXPECT_EQ(previous_name("b/a.checkpoint"), "b/a.previous.checkpoint");
  EXPECT_FALSE(fs::exists(path("a.previous.checkpoint")));
  sim.run(2);
  keep_checkpoint(path("a.checkpoint"), checkpoint_of(sim));
  EXPECT_EQ(find_checkpoint(path("a.checkpoint")).checkpoint.step, 2);
  EXPECT_EQ(find_checkpoint(path("a.previous.checkpoint")).checkpoint.step, 0);
  EXPECT_FALSE(find_checkpoint(path("a.checkpoint")).checkpoint.order) << "no run without a window wrote it";

  std::ofstream{path("a.checkpoint")} << "damaged";
  const FoundCheckpoint found = find_checkpoint(path("a.checkpoint"));
  EXPECT_EQ(found.checkpoint.step, 0);
  EXPECT_NE(found.note.find("a.previous.checkpoint"), std::string::npos) << found.note;
  fs::remove(path("a.previous.checkpoint"));
  test::expect_failure(
      test::Failure::runtime, [&] { find_checkpoint(path("a.checkpoint")); }, "a.checkpoint", "not a checkpoint");
}

TEST_F(ASimulationRun, ReadsItsFileAsBeforeWhenItContinues) {
  std::ofstream{path("a.tab")} << "9 1 0 0 1 0 0.5 0\n9 -1 0 0 1 0 -0.5 0\n";
  using enum BodyColumn;
  const SceneRequest request{
      .scene = {},
      .file = path("a.tab"),
      .hints = {.columns = {skip, x, y, z, mass, vx, vy, vz}, .units = parse_units("--units", "3pc,7e4Msun,km/s")}};
  Simulation sim{test::backends(), request, test::backends().kernels().find("cpu-serial")};
  sim.run(3);
  keep_checkpoint(path("a.checkpoint"), checkpoint_of(sim));
  const FoundCheckpoint found = find_checkpoint(path("a.checkpoint"));
  EXPECT_EQ(found.checkpoint.setup.scene.hints, request.hints);
  Simulation second{test::backends(), {.scene = "two-body"}};
  second.resume(found.checkpoint.setup, found.checkpoint.state, found.checkpoint.step);
  EXPECT_EQ(second.bodies(), sim.bodies());
  second.apply(Restart{});
  sim.apply(Restart{});
  EXPECT_EQ(second.status().sim_time, 0) << "the file's first state, not that of the checkpoint";
  EXPECT_EQ(second.bodies(), sim.bodies());
}

TEST_F(ASimulationRun, ASnapshotHasNoSettingsToContinueWith) {
  write_snapshot(folder_ / "bodies.checkpoint", simulation().snapshot());
  test::expect_failure(
      test::Failure::runtime, [&] { find_checkpoint(path("bodies.checkpoint")); }, "without the settings", "FILE");
}

TEST(RunOrder, SurvivesJson) {
  const RunOrder all{.steps = 5,
                     .until = {},
                     .every = 0.1,
                     .snapshots = "out",
                     .snapshot_format = "checkpoint",
                     .diagnostics = "d.csv",
                     .checkpoint_every_s = 7};
  const Json written = Json::parse(to_json(all).dump());
  EXPECT_EQ(run_order_of(JsonObject{written, "order"}), all);
  for (const char* bad :
       {R"({"steps":-1})", R"({"every":"often"})", R"({"checkpoint_every_s":0})", R"({"until":-2e30})"}) {
    const Json json = Json::parse(bad);
    EXPECT_EQ(test::failure_of([&] {
                (void)run_order_of(JsonObject{json, "order"});
              }).kind,
              test::Failure::usage)
        << bad;
  }
}

}  // namespace
}  // namespace orrery
