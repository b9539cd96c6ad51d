// The files of a run, and what a checkpoint may do to them.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "app/features/runs/simulation_run.h"
#include "compute/core/temporary_folder.h"
#include "tests/app/support/text_file.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t setup_at = 64, setup_bytes_at = 48;

/// A checkpoint file with another setup and, if `sealed`, the checksum that fits.
void put_setup(const std::string& file, const std::string& setup, bool sealed = true) {
  std::string bytes = test::contents(file);
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
  const std::string bytes = test::contents(file);
  std::uint64_t size = 0;
  std::memcpy(&size, &bytes[setup_bytes_at], sizeof size);
  return bytes.substr(setup_at, size);
}

class RunFilesTest : public testing::Test {
 protected:
  /// A finished run of 20 steps, with all outputs, in a folder of this name.
  void run_in(const fs::path& folder, const RunOrder& more = {}) {
    fs::create_directories(folder / "s");
    RunOrder order = more;
    order.steps = 20, order.every = 0.05;
    order.snapshots = (folder / "s").string();
    if (order.diagnostics.empty()) order.diagnostics = (folder / "d.csv").string();
    order.checkpoint = (folder / "c.checkpoint").string();
    Simulation sim{test::backends(), {.scene = "plummer", .count = 50}, test::backends().kernels().find("cpu-serial")};
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
    const std::string before = test::contents(file);
    test::expect_failure(
        test::Failure::runtime,
        [&] {
          DiagnosticsLog(file, DiagnosticsPlace{bytes, -0.2}, id);
        },
        file, cause);
    EXPECT_EQ(test::contents(file), before);
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
    const test::Failure failure = test::failure_of([&] { (void)find_checkpoint(file); });
    EXPECT_EQ(failure.kind, test::Failure::runtime);
    EXPECT_NE(failure.message.find(cause), std::string::npos) << failure.message;
    EXPECT_EQ(failure.message.find("json.exception"), std::string::npos) << failure.message;
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
  std::string bytes = test::contents(file);
  const std::string huge{"\xff\xff\x7f\x7f", 4};  // the largest float
  bytes.replace(setup_at + setup_in(file).size(), 4, huge);
  std::ofstream{file, std::ios::binary} << bytes;
  test::expect_failure(
      test::Failure::runtime, [&] { (void)find_checkpoint(file); }, "checksum does not match");
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
  EXPECT_EQ(test::contents(path("precious")), "precious");
  EXPECT_EQ(test::contents(path("n.checkpoint.next")), "mine");
  EXPECT_EQ(test::contents(path("n.previous.checkpoint.new")), "mine");
  EXPECT_FALSE(fs::is_symlink(file) || fs::is_symlink(path("n.previous.checkpoint")));
  EXPECT_EQ(find_checkpoint(path("n.previous.checkpoint")).checkpoint.step, 20);
}

}  // namespace
}  // namespace orrery
