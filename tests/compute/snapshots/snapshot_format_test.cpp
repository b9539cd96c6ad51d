#include "compute/snapshots/snapshot_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "compute/scenes/scene.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/temporary_folder.h"

namespace orrery {
namespace {

using test::TipsyFile;

/// Bodies that have everything, the species in no order.
Snapshot full_snapshot() {
  return {.bodies = find_scene("plummer").generate(5, 1).bodies,
          .properties = {.ids = {50, 40, 30, 20, 10},
                         .species = {Species::star, Species::dark, Species::gas, Species::dark, Species::star},
                         .softening = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f},
                         .temperature = {0, 0, 1e4f, 0, 0},
                         .metals = {0.01f, 0, 0.02f, 0, 0.03f},
                         .formation_time = {-1, 0, 0, 0, -5}},
          .time = 2.5};
}

class EveryFormat : public testing::TestWithParam<const SnapshotFormat*> {
 protected:
  std::filesystem::path file() const { return folder_.path() / ("snapshot" + std::string{GetParam()->ending}); }

  test::TemporaryFolder folder_;
};

TEST_P(EveryFormat, DetectsWhatItWrote) {
  write_snapshot(file(), full_snapshot());
  std::filesystem::rename(file(), folder_ / "nameless");
  EXPECT_EQ(read_snapshot(folder_ / "nameless").bodies.count(), 5);
  const std::string bytes = test::read_bytes(folder_ / "nameless");
  const auto head = std::as_bytes(std::span{bytes});
  for (const SnapshotFormat* format : snapshot_formats()) {
    EXPECT_EQ(format->detect(head), format == GetParam()) << format->id;
    EXPECT_FALSE(format->detect(head.first(3))) << format->id;
  }
}

TEST_P(EveryFormat, GivesBackWhatItClaimsToHold) {
  const Snapshot all = full_snapshot();
  write_snapshot(file(), all);
  const Snapshot back = read_snapshot(file());
  const SnapshotFormat::Holds& holds = GetParam()->holds;
  ASSERT_EQ(back.bodies.count(), 5);
  EXPECT_EQ(back.time, holds.time ? 2.5 : 0);
  EXPECT_EQ(back.properties.ids.empty(), !holds.ids);
  for (std::size_t i = 0; i < 5; ++i) {
    const auto& found = std::ranges::find(all.bodies.positions, back.bodies.positions[i]);
    ASSERT_NE(found, all.bodies.positions.end()) << "body " << i;
    const std::size_t was = static_cast<std::size_t>(found - all.bodies.positions.begin());
    EXPECT_EQ(back.bodies.velocities[i], holds.velocities ? all.bodies.velocities[was] : Vec4{});
    const auto expect_kept = [&](const auto& now, const auto& before, bool held, const char* name) {
      ASSERT_EQ(now.size(), held ? 5u : 0u) << name;
      if (held) {
        EXPECT_EQ(now[i], before[was]) << name << " of body " << i;
      }
    };
    const BodyProperties &now = back.properties, &before = all.properties;
    expect_kept(now.species, before.species, holds.species, "species");
    expect_kept(now.softening, before.softening, holds.softening, "softening");
    expect_kept(now.temperature, before.temperature, holds.temperature, "temperature");
    expect_kept(now.metals, before.metals, holds.metals, "metals");
    expect_kept(now.formation_time, before.formation_time, holds.formation_time, "formation time");
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryFormat, testing::ValuesIn(snapshot_formats()),
                         [](const auto& instance) { return std::string{instance.param->id}; });

TEST(SnapshotFormats, HaveDifferentIdsAndEndings) {
  std::set<std::string> ids, endings;
  for (const SnapshotFormat* format : snapshot_formats()) {
    EXPECT_TRUE(ids.insert(format->id).second) << format->id;
    EXPECT_TRUE(endings.insert(format->ending).second) << format->ending;
    EXPECT_EQ(format->ending[0], '.');
  }
}

TEST(SnapshotFormats, AnUnknownOneIsRefusedWithTheKnownOnes) {
  const test::TemporaryFolder folder;
  for (const std::string& bytes : {std::string(3, 'x'), std::string(500, 'x')}) {
    test::write_bytes(folder / "notes.txt", bytes);
    test::expect_failure(
        test::Failure::runtime, [&] { read_snapshot(folder / "notes.txt"); }, "notes.txt", "TIPSY");
  }
}

TEST(SnapshotFormats, SayWhatTheyLeaveOut) {
  SnapshotFormat format = *snapshot_formats().front();
  const Snapshot snapshot = full_snapshot();
  format.holds = {true, true, true, true, true, true, true, true};
  EXPECT_EQ(left_out(format, snapshot), "");
  format.holds = {};
  const std::string all = left_out(format, snapshot);
  for (const char* part : {"velocities", "time", "ids", "species", "softening", "temperature", "metals", "formation"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << ": " << all;
  }
  format.holds.velocities = true;
  EXPECT_EQ(left_out(format, {find_scene("plummer").generate(5, 1).bodies}), "") << "there is nothing else";
}

TEST(SnapshotFormats, TellTheWriterWhatIsLeftOut) {
  const test::TemporaryFolder folder;
  Snapshot snapshot = full_snapshot();
  EXPECT_NE(write_snapshot(folder / "a.tipsy", snapshot).left_out.find("ids"), std::string::npos);
  snapshot.properties.ids = {};
  EXPECT_EQ(write_snapshot(folder / "b.tipsy", snapshot).left_out, "");
}

}  // namespace
}  // namespace orrery
