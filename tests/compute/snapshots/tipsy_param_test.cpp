// What a parameter file beside a TIPSY file means, and to which bodies units and ids belong.
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "compute/core/descriptor.h"
#include "compute/core/temporary_folder.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::TipsyFile;

bool has_note(const Snapshot& snapshot, const std::string& part) {
  return std::ranges::any_of(snapshot.notes, [&](const std::string& note) { return note.find(part) != note.npos; });
}

Snapshot bodies_with(const std::optional<Units>& units) {
  return {.bodies = {{{1, 2, 3, 1}, {-1, 0, 1, 2}}, {{0, 1, 0, 0}, {1, 0, 0, 0}}}, .units = units};
}

class TipsyParameters : public testing::Test {
 protected:
  std::optional<Units> units_of(const char* name) { return read_snapshot(folder_ / name).units; }
  template <class... Parts>
  void expect_refused(const char* name, const std::optional<Units>& units, Existing existing, const Parts&... parts) {
    test::expect_failure(
        test::Failure::runtime, [&] { write_snapshot(folder_ / name, bodies_with(units), {.existing = existing}); },
        parts...);
  }

  TemporaryFolder folder_;
  const Units kpc_ = gravity_units(kpc_cm, 1e10 * solar_mass_g), pc_ = gravity_units(1e-3 * kpc_cm, solar_mass_g);
};

TEST_F(TipsyParameters, ComovingNumbersBecomeProperOnes) {
  TipsyFile file = TipsyFile::valid(0, 3, 0);
  file.time = 0.25;
  file.order = ByteOrder::big;
  test::write_bytes(folder_ / "halo.00128", file.bytes());
  test::write_bytes(folder_ / "halo.param",
                    "\xEF\xBB\xBF"
                    "dKpcUnit = 50000\ndMsolUnit=1.8e16 # of the box\n bComove = 1\nbPeriodic = 1\ndPeriod = "
                    "1000\ndHubble0 = 2.894405\n");
  const Snapshot snapshot = read_snapshot(folder_ / "halo.00128");
  const Units code = gravity_units(50000 * kpc_cm, 1.8e16 * solar_mass_g);
  ASSERT_TRUE(snapshot.units);
  const double length = snapshot.bodies.positions[2].x * snapshot.units->length_cm;
  EXPECT_NEAR(length / (2 * 0.25 * code.length_cm), 1, 1e-6);
  EXPECT_NEAR(snapshot.bodies.velocities[2].y * snapshot.units->velocity_cm_s / (2 * 0.25 * code.velocity_cm_s), 1,
              1e-6);
  EXPECT_NEAR(snapshot.units->mass_g / code.mass_g, 1, 1e-12);
  EXPECT_EQ(snapshot.time, 0);
  EXPECT_TRUE(has_note(snapshot, "cosmological (bComove = 1)"));
  EXPECT_TRUE(has_note(snapshot, "scale factor 0.25"));
  EXPECT_NEAR(read_snapshot(folder_ / "halo.00128", {.cosmological = false}).units->length_cm / code.length_cm, 1,
              1e-12);
  EXPECT_EQ(read_snapshot(folder_ / "halo.00128", {.cosmological = false}).time, 0.25);
  test::write_bytes(folder_ / "halo.param", "dKpcUnit = 50000\ndMsolUnit = 1.8e16\nbComove = 0\n");
  EXPECT_NEAR(units_of("halo.00128")->length_cm / code.length_cm, 1, 1e-12);
}

TEST_F(TipsyParameters, FlagsMayBeWords) {
  TipsyFile file = TipsyFile::valid(0, 2, 0);
  file.time = 0.25;
  test::write_bytes(folder_ / "a.tipsy", file.bytes());
  const auto time_with = [&](const char* flag) {
    test::write_bytes(folder_ / "a.param", "dKpcUnit = 1000\ndMsolUnit = 1e12\nbComove = " + std::string{flag} + '\n');
    return read_snapshot(folder_ / "a.tipsy").time;
  };
  for (const char* yes : {"1", "true", "True", "yes"}) EXPECT_EQ(time_with(yes), 0) << yes;
  for (const char* no : {"0", "false", "no"}) EXPECT_EQ(time_with(no), 0.25) << no;
  EXPECT_EQ(time_with("maybe"), 0.25);
  EXPECT_TRUE(has_note(read_snapshot(folder_ / "a.tipsy"), "bComove = maybe is not 0 or 1"));
}

TEST_F(TipsyParameters, ComovingNumbersNeedUnits) {
  TipsyFile file = TipsyFile::valid(0, 2, 0);
  file.time = 0.25;
  test::write_bytes(folder_ / "a.tipsy", file.bytes());
  test::write_bytes(folder_ / "a.param", "bComove = 1\n");
  test::expect_failure(
      test::Failure::runtime, [&] { (void)read_snapshot(folder_ / "a.tipsy"); }, "units are not known", "--units",
      "--cosmological no");
  EXPECT_NO_THROW((void)read_snapshot(folder_ / "a.tipsy", {.units = kpc_}));
}

TEST_F(TipsyParameters, FormationTimesOfComovingRunsAreKept) {
  TipsyFile file = TipsyFile::valid(0, 0, 2);
  file.time = 0.5;
  file.values[8] = 0.1f, file.values[11 + 8] = 0.4f;
  test::write_bytes(folder_ / "a.tipsy", file.bytes());
  test::write_bytes(folder_ / "a.param", "dKpcUnit = 1000\ndMsolUnit = 1e12\nbComove = 1\n");
  Snapshot snapshot = read_snapshot(folder_ / "a.tipsy");
  EXPECT_TRUE(has_note(snapshot, "formation times are kept"));
  convert_units(snapshot, galactic_units);
  EXPECT_EQ(snapshot.properties.formation_time, (std::vector{0.1f, 0.4f}));
}

/// A file of gas, dark and star records with some of their vectors in double. See TipsyFile::valid().
std::string wide_file(bool positions, bool velocities, ByteOrder order) {
  const TipsyFile file = [&] {
    TipsyFile one = TipsyFile::valid(1, 1, 1);
    one.order = order;
    return one;
  }();
  const std::string narrow = file.bytes();
  std::string wide = narrow.substr(0, 32);
  std::size_t at = 32;
  const Bytes bytes{order};
  for (const std::size_t floats : {12, 9, 11}) {
    for (std::size_t k = 0; k < floats; ++k, at += 4) {
      if (!(positions && k >= 1 && k < 4) && !(velocities && k >= 4 && k < 7)) {
        wide += narrow.substr(at, 4);
        continue;
      }
      std::array<std::byte, 8> number;
      bytes.store_double(number.data(), bytes.load_float(reinterpret_cast<const std::byte*>(&narrow[at])) + 1e-9);
      wide.append(reinterpret_cast<const char*>(number.data()), number.size());
    }
  }
  return wide;
}

TEST_F(TipsyParameters, PositionsAndVelocitiesMayBeDoubles) {
  const Snapshot narrow = [&] {
    test::write_bytes(folder_ / "narrow.tipsy", TipsyFile::valid(1, 1, 1).bytes());
    return read_snapshot(folder_ / "narrow.tipsy");
  }();
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    for (const int which : {1, 2, 3}) {
      const bool positions = which != 2, velocities = which != 1;
      test::write_bytes(folder_ / "d.tipsy", wide_file(positions, velocities, order));
      test::write_bytes(folder_ / "d.param", std::string{"bDoublePos = "} + (positions ? "1" : "0") +
                                                 "\nbDoubleVel = " + (velocities ? "1\n" : "0\n"));
      const ReadSnapshot read = read_any_snapshot(folder_ / "d.tipsy");
      ASSERT_EQ(read.snapshot.bodies.count(), 3);
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(read.snapshot.bodies.positions[i].x, narrow.bodies.positions[i].x, 1e-6);
        EXPECT_NEAR(read.snapshot.bodies.velocities[i].y, narrow.bodies.velocities[i].y, 1e-6);
        EXPECT_EQ(read.snapshot.bodies.positions[i].w, narrow.bodies.positions[i].w);
      }
      EXPECT_EQ(read.snapshot.properties, narrow.properties);
      EXPECT_NE(read.encoding.find("in double"), std::string::npos) << read.encoding;
    }
  }
  std::filesystem::remove(folder_ / "d.param");
  EXPECT_EQ(read_snapshot(folder_ / "d.tipsy").bodies.count(), 3) << "the size tells it without a parameter file";
}

TEST_F(TipsyParameters, BodiesWithoutUnitsGetNone) {
  write_snapshot(folder_ / "run_00001.tipsy", bodies_with(kpc_));
  expect_refused("run_00009.tipsy", std::nullopt, Existing::keep, "run.param", "would give its units");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run_00009.tipsy"));
  const WrittenSnapshot forced =
      write_snapshot(folder_ / "run_00009.tipsy", bodies_with({}), {.existing = Existing::replace});
  EXPECT_EQ(forced.files.back(), folder_ / "run_00009.param");
  EXPECT_FALSE(units_of("run_00009.tipsy"));
  EXPECT_TRUE(units_of("run_00001.tipsy"));
}

TEST_F(TipsyParameters, AnotherSnapshotKeepsItsUnits) {
  write_snapshot(folder_ / "run_00001.tipsy", bodies_with(kpc_));
  expect_refused("run_00003.tipsy", pc_, Existing::keep, "run.param", "other units");
  write_snapshot(folder_ / "run_00003.tipsy", bodies_with(pc_), {.existing = Existing::replace});
  EXPECT_NEAR(units_of("run_00001.tipsy")->length_cm / kpc_cm, 1, 1e-12);
  EXPECT_NEAR(units_of("run_00003.tipsy")->length_cm / kpc_cm, 1e-3, 1e-12);
  expect_refused("run.tipsy", pc_, Existing::replace, "run.param", "run_00001.tipsy");
  write_snapshot(folder_ / "run_00004.tipsy", bodies_with(kpc_));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run_00004.param")) << "the run's file has its units";

  write_snapshot(folder_ / "free_1.tipsy", bodies_with({}));
  write_snapshot(folder_ / "free_2.tipsy", bodies_with(pc_));
  EXPECT_FALSE(units_of("free_1.tipsy")) << "no units are given to others";
  EXPECT_TRUE(units_of("free_2.tipsy"));

  write_snapshot(folder_ / "own.tipsy", bodies_with(kpc_));
  write_snapshot(folder_ / "own.tipsy", bodies_with(pc_), {.existing = Existing::replace});
  EXPECT_NEAR(units_of("own.tipsy")->length_cm / kpc_cm, 1e-3, 1e-12);
  write_snapshot(folder_ / "own.tipsy", bodies_with({}), {.existing = Existing::replace});
  EXPECT_FALSE(units_of("own.tipsy"));
}

TEST_F(TipsyParameters, BodiesAreNotTakenForComovingOrPeriodicOnes) {
  test::write_bytes(folder_ / "halo.param", "dKpcUnit = 1\ndMsolUnit = 1e10\nbComove = 1\n");
  expect_refused("halo_2.tipsy", kpc_, Existing::keep, "halo.param");
  write_snapshot(folder_ / "halo_2.tipsy", bodies_with(kpc_), {.existing = Existing::replace});
  EXPECT_NEAR(units_of("halo_2.tipsy")->length_cm / kpc_cm, 1, 1e-12);
}

TEST_F(TipsyParameters, AFileThatCannotBeReadIsNoted) {
  write_snapshot(folder_ / "a.tipsy", bodies_with({}));
  const std::filesystem::path param = folder_ / "a.param";
  const auto expect_note = [&](const std::string& part) {
    const Snapshot snapshot = read_snapshot(folder_ / "a.tipsy");
    EXPECT_FALSE(snapshot.units);
    EXPECT_TRUE(has_note(snapshot, "units are not read: '" + param.string() + "': " + part)) << part;
    expect_refused("a_1.tipsy", kpc_, Existing::keep, "a.param");
    std::filesystem::remove_all(param);
  };
  ASSERT_EQ(mkfifo(param.c_str(), 0600), 0);
  expect_note("not a regular file");
  std::filesystem::create_directory(param);
  expect_note("not a regular file");
  test::write_bytes(param, std::string((1 << 20) + 1, '\n'));
  expect_note("larger than 1 MB");
  std::filesystem::create_symlink(param, param);
  expect_note("Too many levels");
  if (geteuid() == 0) return;
  test::write_bytes(param, "dKpcUnit = 1\n");
  std::filesystem::permissions(param, std::filesystem::perms::none);
  expect_note("Permission denied");
}

/// Names that left or entered a folder, in order: "-a", "+b".
std::vector<std::string> changes_in(int watch) {
  alignas(inotify_event) std::array<char, 8192> buffer;
  std::vector<std::string> changes;
  const ssize_t size = read(watch, buffer.data(), buffer.size());
  for (ssize_t at = 0; at < size;) {
    inotify_event event;
    std::memcpy(&event, &buffer[static_cast<std::size_t>(at)], sizeof event);
    const bool leaves = (event.mask & IN_DELETE) != 0;
    changes.push_back((leaves ? "-" : "+") + std::string{&buffer[static_cast<std::size_t>(at) + sizeof event]});
    at += static_cast<ssize_t>(sizeof event + event.len);
  }
  return changes;
}

TEST_F(TipsyParameters, IdsOfOtherBodiesGoBeforeBodiesCome) {
  Snapshot snapshot = bodies_with({});
  snapshot.properties.ids = {7, 8};
  write_snapshot(folder_ / "t.tipsy", snapshot);
  const Descriptor watch{inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  ASSERT_GE(inotify_add_watch(watch.number(), folder_.path().c_str(), IN_DELETE | IN_MOVED_TO), 0);
  snapshot.properties.ids = {1, 2};
  write_snapshot(folder_ / "t.tipsy", snapshot, {.existing = Existing::replace});
  std::vector<std::string> changes = changes_in(watch.number());
  std::erase_if(changes,
                [](const std::string& name) { return !name.ends_with("t.tipsy") && !name.ends_with(".iord"); });
  ASSERT_GE(changes.size(), 2u);
  EXPECT_EQ(changes[0], "-t.tipsy.iord") << "a kill after the bodies' new name leaves them without ids";
  EXPECT_EQ(changes[1], "+t.tipsy");
  EXPECT_EQ(read_snapshot(folder_ / "t.tipsy").properties.ids, (std::vector<std::uint64_t>{1, 2}));
}

}  // namespace
}  // namespace orrery
