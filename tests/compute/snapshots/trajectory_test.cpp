#include "compute/core/temporary_folder.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/test.h"

namespace orrery {
namespace {

/// Body p at record r is at (p, r, 0.5).
std::string trajectory(std::int32_t bodies, std::int32_t records) {
  std::vector<float> places;
  for (int p = 0; p < bodies; ++p) {
    for (int r = 0; r < records; ++r) {
      for (const float value : {static_cast<float>(p), static_cast<float>(r), 0.5f}) places.push_back(value);
    }
  }
  std::string bytes(8 + 4 * places.size(), '\0');
  std::memcpy(bytes.data(), &bodies, 4);
  std::memcpy(bytes.data() + 4, &records, 4);
  std::memcpy(bytes.data() + 8, places.data(), 4 * places.size());
  return bytes;
}

TEST(TrajectoryFile, GivesTheLastStateOrAnother) {
  const TemporaryFolder folder;
  for (const int records : {1, 3, 5000}) {
    test::write_bytes(folder / "run.bin", trajectory(7, records));
    for (const int state : {-1, 0, records - 1}) {
      const Snapshot snapshot =
          state < 0 ? read_snapshot(folder / "run.bin") : read_snapshot(folder / "run.bin", {.state = state});
      ASSERT_EQ(snapshot.bodies.count(), 7);
      ASSERT_EQ(snapshot.bodies.velocities.size(), 7u);
      for (int p = 0; p < 7; ++p) {
        const Vec4 expected{static_cast<float>(p), static_cast<float>(state < 0 ? records - 1 : state), 0.5f, 1.0f / 7};
        EXPECT_EQ(snapshot.bodies.positions[static_cast<std::size_t>(p)], expected) << records << ' ' << state;
      }
    }
    EXPECT_USAGE_ERROR(read_snapshot(folder / "run.bin", {.state = records}), "--state", "0 to");
  }
}

TEST(TrajectoryFile, IsRefusedUnlessItsSizeFits) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& bytes, const auto&... parts) {
    test::write_bytes(folder / "run.traj", bytes);
    EXPECT_RUNTIME_ERROR(read_snapshot(folder / "run.traj"), "run.traj", parts...);
  };
  refused(trajectory(7, 3) + 'x', "7 bodies with 3 records", "261 bytes");
  refused(trajectory(7, 3).substr(0, 259), "259 bytes");
  refused(std::string(8, '\xff'), "P and R");
  refused(std::string(4, '\1'), "P and R");
  std::string lies = trajectory(1, 1);
  lies[3] = lies[7] = '\x7f';
  refused(lies, "2,130,706,433 bodies");
  std::string nan = trajectory(2, 1);
  const float no_number = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(nan.data() + 24, &no_number, 4);
  refused(nan, "byte 20", "body 1", "not finite");
}

TEST(TrajectoryFile, IsWrittenWithADescriptionThatIsNotOverwritten) {
  const TemporaryFolder folder;
  const Snapshot snapshot{.bodies = find_scene("plummer").generate(3, 1).bodies, .time = 0.25};
  const WrittenSnapshot first = write_snapshot(folder / "a.traj", snapshot);
  ASSERT_EQ(first.files.size(), 2u);
  EXPECT_EQ(first.files[1], folder / "a.json");
  EXPECT_NE(first.remark().find("masses, velocities, time"), std::string::npos) << first.remark();
  const std::string json = test::read_bytes(folder / "a.json");
  EXPECT_NE(json.find("\"particles\": 3"), std::string::npos) << json;
  EXPECT_NE(json.find("\"times\": [0.25]"), std::string::npos) << json;
  EXPECT_EQ(test::read_bytes(folder / "a.traj").size(), 8u + 36);
  EXPECT_EQ(write_snapshot(folder / "a.traj", snapshot).files,
            (std::vector<std::filesystem::path>{folder / "a-1.traj", folder / "a-1.json"}));
}

}  // namespace
}  // namespace orrery
