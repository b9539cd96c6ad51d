#include "app/features/runs/simulation_run.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstring>
#include <random>

#include "app/features/runs/replay.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/core/threads.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

namespace fs = std::filesystem;

constexpr float dt = 0.01f;

struct ASimulationRun : testing::Test {
  Simulation simulation() const {
    Simulation made{backends(), {.scene = "plummer", .count = 50}, backends().kernels().find("cpu-serial")};
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
    std::vector<std::string> lines = test::lines(contents(path(name)));
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
    Simulation sim{backends(), {.scene = "plummer", .count = 1500}, backends().kernels().find(kernel)};
    sim.apply(SetTunable{"threads", threads});
    return checkpoint_of(sim).setup.settings.at("threads");
  };
  EXPECT_EQ(setting("cpu-symmetric", "auto"), std::to_string(usable_threads()));
  EXPECT_EQ(setting("cpu-symmetric", "3"), "3");
  EXPECT_EQ(setting("cpu-simd", "auto"), "auto") << "its bits are the same with any number";
}

TEST_F(ASimulationRun, ContinuesWithTheSameBitsWhereOtherThreadsMayRun) {
  Simulation undisturbed{backends(), {.scene = "plummer", .count = 1500}, backends().kernels().find("cpu-symmetric")};
  undisturbed.run(2);
  const RunCheckpoint checkpoint = checkpoint_of(undisturbed);
  undisturbed.run(2);
  Simulation other{backends(), {.scene = "two-body"}, backends().kernels().find("cpu-simd")};
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

  Simulation second{backends(), {.scene = "two-body"}};
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
  EXPECT_EQ(contents(path("d.csv")), "precious");
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
    expect_usage_error({cause}, [&] { SimulationRun{sim, order, {}}; });
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
  expect_runtime_error({"not finite"}, [&] { run(sim, {.steps = 10, .checkpoint = path("a.checkpoint")}); });
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
  expect_holds(found.note, {"a.previous.checkpoint"});
  fs::remove(path("a.previous.checkpoint"));
  expect_runtime_error({"a.checkpoint", "not a checkpoint"}, [&] { find_checkpoint(path("a.checkpoint")); });
}

TEST_F(ASimulationRun, ReadsItsFileAsBeforeWhenItContinues) {
  std::ofstream{path("a.tab")} << "9 1 0 0 1 0 0.5 0\n9 -1 0 0 1 0 -0.5 0\n";
  using enum BodyColumn;
  const SceneRequest request{
      .scene = {},
      .file = path("a.tab"),
      .hints = {.columns = {skip, x, y, z, mass, vx, vy, vz}, .units = parse_units("--units", "3pc,7e4Msun,km/s")}};
  Simulation sim{backends(), request, backends().kernels().find("cpu-serial")};
  sim.run(3);
  keep_checkpoint(path("a.checkpoint"), checkpoint_of(sim));
  const FoundCheckpoint found = find_checkpoint(path("a.checkpoint"));
  EXPECT_EQ(found.checkpoint.setup.scene.hints, request.hints);
  Simulation second{backends(), {.scene = "two-body"}};
  second.resume(found.checkpoint.setup, found.checkpoint.state, found.checkpoint.step);
  EXPECT_EQ(second.bodies(), sim.bodies());
  second.apply(Restart{});
  sim.apply(Restart{});
  EXPECT_EQ(second.status().sim_time, 0) << "the file's first state, not that of the checkpoint";
  EXPECT_EQ(second.bodies(), sim.bodies());
}

TEST_F(ASimulationRun, ASnapshotHasNoSettingsToContinueWith) {
  write_snapshot(folder_ / "bodies.checkpoint", simulation().snapshot());
  expect_runtime_error({"without the settings", "FILE"}, [&] { find_checkpoint(path("bodies.checkpoint")); });
}

TEST(RunOrder, SurvivesJson) {
  const RunOrder all{.steps = 5,
                     .until = {},
                     .every = 0.1,
                     .snapshots = "out",
                     .snapshot_format = "checkpoint",
                     .diagnostics = "d.csv",
                     .checkpoint_every_s = 7};
  EXPECT_EQ(run_order_of(JsonObject{Json::parse(to_json(all).dump()), "order"}), all);
  for (const char* bad :
       {R"({"steps":-1})", R"({"every":"often"})", R"({"checkpoint_every_s":0})", R"({"until":-2e30})"}) {
    const Json json = Json::parse(bad);
    EXPECT_EQ(failure_of([&] { (void)run_order_of(JsonObject{json, "order"}); }).kind, Failure::usage) << bad;
  }
}

Status state_of(float time_step, std::int64_t step = 0) {
  Status status{};
  status.time_step = time_step;
  status.step = step;
  status.sim_time = static_cast<double>(step) * nominal_step(time_step);
  return status;
}

/// A step as the user names it: `text` is what --dt got.
struct NamedStep {
  double given;
  float held() const { return static_cast<float>(given); }
};
const std::vector<NamedStep> named_steps{{0.1},     {0.01},    {0.001}, {0.003},    {0.007},    {1.0 / 3}, {1.0 / 7},
                                         {1.0 / 9}, {2.0 / 3}, {0.7},   {1.0 / 64}, {0.000123}, {1e-5},    {12.5}};

TEST(RunSchedule, EndsWithTheStepThatReachesTheTime) {
  for (const NamedStep& named : named_steps) {
    for (const double steps : {1.0, 45.0, 60.0, 61.0, 81.0, 101.0, 999.0, 1e4, 123456.0, 1e6}) {
      const RunSchedule schedule{state_of(named.held()), {.until = named.given * steps}, false};
      EXPECT_EQ(schedule.last_step(), static_cast<std::int64_t>(steps)) << named.given;
    }
    const RunSchedule half{state_of(named.held()), {.until = named.given * 100.5}, false};
    EXPECT_EQ(half.last_step(), 101) << "the first that reaches it";
  }
}

TEST(RunSchedule, HasOutputsEveryWholeNumberOfStepsOverAMillionSteps) {
  for (const NamedStep& named : named_steps) {
    for (const int apart : {7, 20, 333}) {
      const std::int64_t last = std::int64_t{1'000'000} / apart * apart;
      RunOrder order{.until = named.given * static_cast<double>(last), .every = named.given * apart};
      order.diagnostics = "rows.csv";
      const RunSchedule schedule{state_of(named.held()), order, false};
      std::int64_t step = 0, events = 0;
      while (step < last) {
        step = schedule.next_event(step);
        ++events;
        if (step == events * apart && schedule.event_at(step) == events) continue;
        FAIL() << named.given << ": outputs " << events << " at step " << step;
      }
    }
  }
}

TEST(RunSchedule, ContinuesAsIfNothingHadStoppedIt) {
  for (const NamedStep& named : named_steps) {
    for (const std::int64_t done : {1, 46, 61, 99'999}) {
      const RunSchedule schedule{state_of(named.held(), done), {.until = named.given * 1e5}, false};
      EXPECT_EQ(schedule.last_step(), 100'000) << named.given;
    }
  }
}

TEST(NominalStep, IsTheShortestDecimalOfTheFloat) {
  EXPECT_EQ(nominal_step(0.01f), 0.01);
  EXPECT_EQ(nominal_step(0.015625f), 0.015625);
  EXPECT_EQ(static_cast<float>(nominal_step(1.0f / 3)), 1.0f / 3);
  EXPECT_TRUE(std::isnan(nominal_step(std::nanf(""))));
}

// The files of a run, and what a checkpoint may do to them.

namespace fs = std::filesystem;

constexpr std::size_t setup_at = 64, setup_bytes_at = 48;

/// A checkpoint file with another setup and, if `sealed`, the checksum that fits.
void put_setup(const std::string& file, const std::string& setup, bool sealed = true) {
  std::string bytes = contents(file);
  std::uint64_t size = 0;
  std::memcpy(&size, &bytes[setup_bytes_at], sizeof size);
  bytes.replace(setup_at, size, setup);
  size = setup.size();
  std::memcpy(&bytes[setup_bytes_at], &size, sizeof size);
  bytes.resize(bytes.size() - 4);
  const auto sum = static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) +
                                              (sealed ? 0 : 1));
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  std::ofstream{file, std::ios::binary} << bytes;
}

std::string setup_in(const std::string& file) {
  const std::string bytes = contents(file);
  std::uint64_t size = 0;
  std::memcpy(&size, &bytes[setup_bytes_at], sizeof size);
  return bytes.substr(setup_at, size);
}

struct RunFilesTest : testing::Test {
  /// A finished run of 20 steps, with all outputs, in a folder of this name.
  void run_in(const fs::path& folder, const RunOrder& more = {}) {
    fs::create_directories(folder / "s");
    RunOrder order = more;
    order.steps = 20, order.every = 0.05;
    order.snapshots = (folder / "s").string();
    if (order.diagnostics.empty()) order.diagnostics = (folder / "d.csv").string();
    order.checkpoint = (folder / "c.checkpoint").string();
    Simulation sim{backends(), {.scene = "plummer", .count = 50}, backends().kernels().find("cpu-serial")};
    sim.apply(SetTimeStep{0.01f});
    SimulationRun run{sim, order, {.metadata = {{"program", "orrery"}}, .id = "00112233aabbccdd"}};
    EXPECT_TRUE(run.run([] { return false; }, [](const SimulationRun::Progress&) {}));
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  TemporaryFolder folder_;
};

TEST_F(RunFilesTest, ACopiedFolderNamesItsOwnFiles) {
  run_in(folder_ / "a");
  fs::copy(path("a"), path("b"), fs::copy_options::recursive);
  fs::rename(path("b/c.checkpoint"), path("b/backup.checkpoint"));
  const FoundCheckpoint found = find_checkpoint(path("b/backup.checkpoint"));
  ASSERT_TRUE(found.checkpoint.order);
  EXPECT_EQ(found.checkpoint.order->diagnostics, path("b/d.csv"));
  EXPECT_EQ(found.checkpoint.order->snapshots, path("b/s"));
  EXPECT_EQ(found.checkpoint.order->checkpoint, path("b/backup.checkpoint")) << "the file that was asked for";
  EXPECT_FALSE(found.snapshots_elsewhere || found.diagnostics_elsewhere);
  EXPECT_EQ(setup_in(path("a/c.checkpoint")).find(path("a")), std::string::npos) << "no name from the root";
}

TEST_F(RunFilesTest, OutputsElsewhereAreToldApart) {
  run_in(folder_ / "a", {.diagnostics = path("elsewhere.csv")});
  EXPECT_TRUE(find_checkpoint(path("a/c.checkpoint")).diagnostics_elsewhere);
  EXPECT_EQ(find_checkpoint(path("a/c.checkpoint")).checkpoint.order->diagnostics, path("elsewhere.csv"));
  fs::create_directory_symlink(path("x"), path("a/link"));
  const std::string setup = setup_in(path("a/c.checkpoint")), old = "\"snapshots\":\"s\"";
  ASSERT_NE(setup.find(old), std::string::npos) << setup;
  for (const std::string name : {"../x", "/etc", "s/../../x", "link"}) {
    std::string evil = setup;
    evil.replace(evil.find(old), old.size(), "\"snapshots\":\"" + name + "\"");
    put_setup(path("a/c.checkpoint"), evil);
    EXPECT_TRUE(find_checkpoint(path("a/c.checkpoint")).snapshots_elsewhere) << name;
  }
  std::string absolute = setup;  // as earlier versions wrote it
  absolute.replace(absolute.find(old), old.size(), "\"snapshots\":\"" + path("a/s") + "\"");
  put_setup(path("a/c.checkpoint"), absolute);
  EXPECT_FALSE(find_checkpoint(path("a/c.checkpoint")).snapshots_elsewhere);
}

TEST_F(RunFilesTest, AFolderNeedNotBeUtf8) {
  const fs::path folder = folder_ / "Z\xfcrich";
  run_in(folder, {.diagnostics = (folder / "d\xff.csv").string()});
  const FoundCheckpoint found = find_checkpoint((folder / "c.checkpoint").string());
  EXPECT_EQ(found.checkpoint.order->snapshots, (folder / "s").string());
  EXPECT_EQ(found.checkpoint.order->diagnostics, (folder / "d\xff.csv").string());
}

TEST_F(RunFilesTest, OnlyARunsOwnDiagnosticsAreContinued) {
  run_in(folder_ / "a");
  const std::string id = find_checkpoint(path("a/c.checkpoint")).checkpoint.id, own = path("a/d.csv");
  EXPECT_EQ(id, "00112233aabbccdd");
  EXPECT_TRUE(belongs_to_run(own, id));
  EXPECT_FALSE(belongs_to_run(own, "another"));
  EXPECT_FALSE(belongs_to_run(own, ""));
  const auto refused = [&](const std::string& file, std::int64_t bytes, const char* cause) {
    const std::string before = contents(file);
    expect_runtime_error({file, cause}, [&] { DiagnosticsLog(file, DiagnosticsPlace{bytes, -0.2}, id); });
    EXPECT_EQ(contents(file), before);
  };
  std::ofstream{path("bashrc")} << "alias ll='ls -l'\n";
  refused(path("bashrc"), 5, "not the file of diagnostics");
  refused(own, 3'000'000'000, "not there any more");
  refused(own, 1'000'000'000'000'000, "not there any more");
  fs::create_symlink(own, path("link.csv"));
  refused(path("link.csv"), 5, "not there any more");
}

TEST_F(RunFilesTest, AFolderIsKnownByTheSnapshotThatTheRunMarked) {
  run_in(folder_ / "a");
  const RunCheckpoint found = find_checkpoint(path("a/c.checkpoint")).checkpoint;
  ASSERT_TRUE(found.snapshot);
  const SnapshotSeries series{path("a/s"), "tipsy"};
  EXPECT_TRUE(series.has(*found.snapshot));
  EXPECT_EQ(found.snapshot->name, "snapshot_00004.tipsy");
  EXPECT_TRUE(SnapshotSeries::is_of_bodies(series.file(1), found.state.bodies)) << "without a mark";
  std::fstream{series.file(4)}.seekp(100).write("?", 1);
  EXPECT_FALSE(series.has(*found.snapshot)) << "other bytes";
  std::ofstream{series.file(9)} << "mine";
  EXPECT_FALSE(SnapshotSeries::is_of_bodies(series.file(9), found.state.bodies));
  EXPECT_EQ(series.files_from(4).size(), 2u);
}

TEST_F(RunFilesTest, ASetupThatCannotBeReadGetsOnePlainLine) {
  run_in(folder_ / "a");
  const std::string file = path("a/c.checkpoint"), setup = setup_in(file);
  const auto refused = [&](const std::string& text, const char* cause) {
    put_setup(file, text);
    const Failure failure = failure_of([&] { (void)find_checkpoint(file); });
    EXPECT_EQ(failure.kind, Failure::runtime);
    expect_holds(failure.message, {cause});
    expect_lacks(failure.message, {"json.exception"});
  };
  refused("{\"run\":" + std::string(200'000, '['), "levels deep");
  refused("{\"run\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}", "levels deep");
  refused("[]", "must be an object");
  refused("{}", "'run' is missing");
  refused("{\"run\":5}", "a command in JSON is an object");
  refused("not JSON", "not JSON");
  const std::string run = setup.substr(0, setup.find(",\"order\""));
  refused(run + ",\"order\":7}", "'order' cannot be 7");
  refused(run + ",\"order\":{\"steps\":\"x\"}}", "'order.steps' cannot be \"x\"; it must be a whole number");
  refused(run + ",\"order\":{\"every\":-1}}", "'order.every'");
  refused(run + ",\"order\":{\"snapshots\":[1]}}", "'order.snapshots' cannot be an array");
  refused(run + ",\"diagnostics\":{\"bytes\":-1}}", "'diagnostics.bytes'");
  refused(run + ",\"diagnostics\":{\"bytes\":1}}", "'diagnostics.first_energy' is missing");
  refused(run + ",\"outputs_due\":\"yes\"}", "'outputs_due' cannot be \"yes\"; it must be true or false");
  refused(run + ",\"snapshot\":{\"name\":1}}", "'snapshot.name'");
}

TEST_F(RunFilesTest, DamageIsReportedBeforeTheValuesThatItMade) {
  run_in(folder_ / "a");
  const std::string file = path("a/c.checkpoint");
  std::string bytes = contents(file);
  const std::string huge{"\xff\xff\x7f\x7f", 4};  // the largest float
  bytes.replace(setup_at + setup_in(file).size(), 4, huge);
  std::ofstream{file, std::ios::binary} << bytes;
  expect_runtime_error({"checksum does not match"}, [&] { (void)find_checkpoint(file); });
}

TEST_F(RunFilesTest, NothingPredictableIsFollowedOrReplaced) {
  run_in(folder_ / "a");
  const FoundCheckpoint found = find_checkpoint(path("a/c.checkpoint"));
  std::ofstream{path("precious")} << "precious";
  const std::string file = path("n.checkpoint");
  for (const char* name : {"n.checkpoint.next", "n.previous.checkpoint.new"}) std::ofstream{path(name)} << "mine";
  for (const char* name : {"n.checkpoint", "n.previous.checkpoint"}) fs::create_symlink("precious", path(name));
  keep_checkpoint(file, found.checkpoint);
  keep_checkpoint(file, found.checkpoint);
  EXPECT_EQ(contents(path("precious")), "precious");
  EXPECT_EQ(contents(path("n.checkpoint.next")), "mine");
  EXPECT_EQ(contents(path("n.previous.checkpoint.new")), "mine");
  EXPECT_FALSE(fs::is_symlink(file) || fs::is_symlink(path("n.previous.checkpoint")));
  EXPECT_EQ(find_checkpoint(path("n.previous.checkpoint")).checkpoint.step, 20);
}

// Hundreds of switches between kernels, resets and other numbers of bodies. With the preset asan, they leave no memory
// behind; with any, they leave no trace in what is computed after them.

constexpr int disturbances = 200;
constexpr int least_bodies = 2, most_bodies = 300;

/// Commands in the order of a seed.
class Disturber {
 public:
  explicit Disturber(std::uint32_t seed) : random_{seed} {
    for (const KernelPtr& kernel : kernels()) {
      if (kernel->backend == Backend::cpu) kernels_.push_back(kernel);
    }
  }

  int below(int end) { return static_cast<int>(random_() % static_cast<std::uint32_t>(end)); }

  SelectKernel a_kernel() {
    const KernelPtr kernel = one_of(kernels_);
    Settings::Values settings;
    for (const Tunable& tunable : kernel->tunables) {
      settings[tunable.name] = one_of(tunable.values_to_measure());
    }
    return {kernel->id, settings};
  }
  LoadScene a_scene() {
    const int count = least_bodies + below(most_bodies - least_bodies);
    return {{.scene = "plummer", .count = count, .seed = random_()}};
  }
  Command a_reset() { return below(2) == 0 ? Command{Reset{}} : Command{Restart{}}; }

 private:
  template <class Value>
  Value one_of(const std::vector<Value>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }

  std::mt19937 random_;
  std::vector<KernelPtr> kernels_;
};

std::vector<Command> last_commands(Disturber& disturber) {
  return {disturber.a_scene(), disturber.a_kernel(), SelectIntegrator{"leapfrog"}, Reset{},
          SetTimeStep{0.002f}, SetPaused{false}};
}

TEST(Disturbances, LeaveNoTrace) {
  Disturber disturber{2026};
  Simulation disturbed{backends(), {.scene = "two-body"}, find_kernel("cpu-serial")};
  RunHistory history{/*lockstep=*/true};
  history.begin(disturbed);
  const auto apply = [&](const Command& command) {
    disturbed.apply(command);
    history.took(command, disturbed);
  };
  for (int i = 0; i < disturbances; ++i) {
    apply(disturber.a_kernel());
    apply(disturber.a_reset());
    apply(disturber.a_scene());
    apply(SetStepsPerFrame{1 + disturber.below(20)});
    (void)disturbed.collect();
    history.follow(disturbed);
    (void)disturbed.advance_frame(i);  // the next commands come while its steps run, or wait for them
    if (disturber.below(2) == 0) disturbed.wait();
  }
  const std::vector<Command> commands = last_commands(disturber);
  Simulation undisturbed{backends(), {.scene = "two-body"}, find_kernel("cpu-serial")};
  for (const Command& command : commands) {
    apply(command);
    undisturbed.apply(command);
  }
  (void)disturbed.run(50);
  (void)undisturbed.run(50);
  EXPECT_EQ(disturbed.bodies(), undisturbed.bodies());
  const ReplayOutcome again = play_replay(
      backends(), parse_replay(replay_text(replay_of(history, disturbed, backends())), "a.replay"), "a.replay",
      [] { return false; }, [](const ReplayProgress&) {});
  EXPECT_FALSE(again.different) << again.different->what << " in line " << again.different->line;
  EXPECT_GT(again.starts, disturbances);
}

}  // namespace
}  // namespace orrery::test
