// Bodies far from the origin, beyond the range of single precision, and over the edges of periodic boxes.
#include "compute/core/temporary_folder.h"
#include "compute/core/vec.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/checkpoint.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/test.h"

namespace orrery {
namespace {

const Units au_units{1.495978707e13, 1.988409870698051e33, 1.495978707e13 / 3.15576e7};
constexpr const char* sun_and_earth =
    "# m x y z vx vy vz\n1 1691000000 0 0 0 0 0\n3e-6 1691000001 0 0 0 6.28318531 0\n";

class FarBodies : public test::SnapshotFileTest {
 protected:
  FarBodies() : SnapshotFileTest{"table.txt"} {}
};

double apart(const Bodies& bodies) {
  return std::hypot(static_cast<double>(bodies.positions[1].x) - bodies.positions[0].x,
                    static_cast<double>(bodies.positions[1].y) - bodies.positions[0].y);
}

TEST_F(FarBodies, AreRelativeToACentreThatIsSaid) {
  const Snapshot snapshot = read(sun_and_earth, {.units = au_units});
  EXPECT_EQ(apart(snapshot.bodies), 1);
  EXPECT_NEAR(snapshot.frame.position.x, 1.691e9, 2);
  ASSERT_EQ(snapshot.notes.size(), 1u);
  EXPECT_EQ(snapshot.notes[0].find("origin moved to 169100000"), 0u) << snapshot.notes[0];
  for (const double far : {1e4, 1e6, 1e9, 1e12}) {
    const std::string x = std::to_string(far), next = std::to_string(far + 1);
    EXPECT_NEAR(apart(read(x + " 0 0\n" + next + " 0 0\n").bodies), 1, 1e-3) << far;
  }
}

TEST_F(FarBodies, StayWhereTheyAreIfFloatsTellThemApart) {
  for (const char* text : {"0 0 0\n1 0 0\n", "10 0 0\n11 0 0\n", "-1e9 0 0\n1e9 0 0\n", "1e9 5 5\n"}) {
    const Snapshot snapshot = read(text);
    EXPECT_FALSE(snapshot.frame.is_moved()) << text;
  }
}

TEST_F(FarBodies, LoseACommonVelocityAsWell) {
  const Snapshot snapshot = read("1691000000 0 0 46 0 0\n1691000001 0 0 46 6.28 0\n1691000000 1 0 39.72 0 0\n");
  EXPECT_NEAR(snapshot.frame.velocity.x, 46, 8);
  EXPECT_NEAR(snapshot.bodies.velocities[1].x + snapshot.frame.velocity.x, 46, 1e-5);
  EXPECT_FALSE(read("0 0 0 46 0 0\n1 0 0 46 6.28 0\n0 1 0 39.72 0 0\n").frame.is_moved()) << "nothing is lost";
}

TEST_F(FarBodies, LeaveAHeavyStarAtRestInTheirFrame) {
  const Snapshot pluto =
      read("# m x y z vx vy vz\n1 -39 0 0 0 0 0\n6.6e-9 0.1 0 0 0 4.625 0\n8e-10 0.100131 0 0 0 4.66 0\n");
  EXPECT_EQ(pluto.frame.velocity, Vec3d{}) << "the Sun rests in the file";
  const Snapshot moving = read(
      "# m x y z vx vy vz\n1 1691000000 0 0 46 0 0\n3e-6 1691000001 0 0 46 6.28 0\n3e-7 1691000000 1 0 39.72 0 0\n");
  EXPECT_NEAR(moving.frame.velocity.x, 46, 1e-4);
  EXPECT_LT(std::abs(moving.bodies.velocities[0].x), 1e-4);
}

TEST_F(FarBodies, SpreadTooFarForAnyOriginGetANoteWithTheCure) {
  const std::string rest = "0 0 0\n1 2 3\n-200000 1000 50\n";
  const Snapshot snapshot = read(rest + "206264.8 5 5\n206264.81 5 5\n");
  ASSERT_EQ(snapshot.notes.empty(), false);
  EXPECT_NE(snapshot.notes.back().find("needs --digits compensated"), std::string::npos) << snapshot.notes.back();
  EXPECT_NE(snapshot.notes.back().find("1 close pair"), std::string::npos) << snapshot.notes.back();
  for (const std::string& note : read(rest + "206264.8 5 5\n206274.8 5 5\n").notes) {
    EXPECT_EQ(note.find("--digits"), std::string::npos) << note;
  }
}

TEST_F(FarBodies, AreWrittenBackToFormatsThatHoldDoubles) {
  for (const char* name : {"out.txt", "out.csv", "out.ply", "out.hdf5", "out.checkpoint"}) {
    if (std::string{name} == "out.hdf5" && !has_hdf5()) continue;
    Snapshot snapshot = read(sun_and_earth, {.units = au_units});
    const WrittenSnapshot written = write_snapshot(folder_ / name, std::move(snapshot));
    EXPECT_TRUE(written.lost.empty()) << name << written.remark();
    const Snapshot again = read_snapshot(folder_ / name);
    const double unit = again.units->length_cm / au_units.length_cm;
    EXPECT_NEAR(apart(again.bodies) * unit, 1, 1e-4) << name;
    EXPECT_NEAR((again.frame.position.x + again.bodies.positions[0].x) * unit / 1.691e9, 1, 1e-12) << name;
  }
}

TEST_F(FarBodies, AreRelativeInFormatsOfFloatsWhichIsSaid) {
  for (const char* name : {"out.tipsy", "out.gadget"}) {
    const Snapshot snapshot = read(sun_and_earth, {.units = au_units});
    const WrittenSnapshot written = write_snapshot(folder_ / name, snapshot);
    EXPECT_NE(written.remark().find("the place of the origin"), std::string::npos) << name << written.remark();
    const Snapshot again = read_snapshot(folder_ / name);
    EXPECT_NEAR(apart(again.bodies) * again.units->length_cm / au_units.length_cm, 1, 1e-5) << name;
  }
}

TEST_F(FarBodies, KeepTheirLowWordsForCompensatedRuns) {
  test::write_bytes(folder_ / "pair.txt", "1 0.1 0 0 0 0 0\n1 0.30000000012345 1 0 0 0.1 0\n");
  const Scene scene = load_scene({.file = (folder_ / "pair.txt").string()});
  EXPECT_EQ(scene.digits, Digits::single) << "a run begins as it did";
  ASSERT_EQ(scene.bodies.digits(), Digits::compensated);
  EXPECT_NEAR(joined<double>(scene.bodies.positions[1], scene.bodies.positions_low[1]).x, 0.30000000012345, 1e-15);
}

TEST_F(FarBodies, OrbitInARunAndInItsCheckpoint) {
  test::write_bytes(folder_ / "far.txt", sun_and_earth);
  const Scene scene = load_scene({.file = (folder_ / "far.txt").string(), .hints = {.units = au_units}});
  EXPECT_NEAR(scene.frame.position.x, 1.691e9, 2);
  EXPECT_NEAR(scene.smallest_orbit, 1, 0.01);
}

TEST_F(FarBodies, InSiUnitsGetUnitsThatSuitThem) {
  const Units si{100, 1000, 100};
  const Snapshot snapshot =
      read("# m x y z vx vy vz\n1.98841e30 0 0 0 0 0 0\n5.97e24 1.495978707e11 0 0 0 29785 0\n", {.units = si});
  EXPECT_NEAR(snapshot.bodies.positions[0].w, 1, 1e-5) << "solar masses";
  EXPECT_NEAR(apart(snapshot.bodies), 1, 1e-6) << "AU";
  const Units cgs{1, 1, 1};
  const Snapshot galaxy = read("1e44 -3e22 0 0 0 -1e7 0\n1e44 3e22 0 0 0 1e7 0\n", {.units = cgs});
  EXPECT_NEAR(apart(galaxy.bodies) * galaxy.units->length_cm / 6e22, 1, 1e-6);
  EXPECT_NEAR(galaxy.bodies.positions[0].w * galaxy.units->mass_g / 1e44, 1, 1e-6);
  EXPECT_RUNTIME_ERROR(read("1e44 -3e22 0 0 0 -1e7 0\n"), "body 0", "single precision");
}

TEST_F(FarBodies, OverTheEdgeOfABoxAreJoined) {
  for (const double edge : {1.0, 100.0, 1e5}) {
    Snapshot snapshot{.bodies = {}, .box = {edge, edge, edge}};
    for (const double x : {0.01, 0.02, 0.98, 0.99, 0.03}) {
      append_body(snapshot, {x * edge, 0.5 * edge, (1 - x) * edge}, 1, {});
    }
    ASSERT_EQ(settle(snapshot), "");
    EXPECT_NEAR(snapshot.bodies.positions[2].x / edge, -0.02, 1e-6);
    EXPECT_NEAR(snapshot.bodies.positions[0].x / edge, 0.01, 1e-6) << "most bodies stay";
    EXPECT_NEAR(snapshot.bodies.positions[2].z / edge, 1.02, 1e-6);
    EXPECT_EQ(snapshot.box, Vec3d{});
    ASSERT_EQ(snapshot.notes.size(), 1u);
    EXPECT_NE(snapshot.notes[0].find("along x, z"), std::string::npos);
  }
}

TEST_F(FarBodies, InACentredBoxAreJoinedAtItsEdge) {
  Snapshot snapshot{.bodies = {}, .box = {1000, 1000, 1000}};
  for (const double x : {-490.0, -495.0, -480.0, 495.0, 490.0}) append_body(snapshot, {x, 0, -x}, 1, {});
  ASSERT_EQ(settle(snapshot), "");
  EXPECT_EQ(snapshot.bodies.positions[0].x, -490) << "most bodies stay";
  EXPECT_EQ(snapshot.bodies.positions[3].x, -505);
  EXPECT_EQ(snapshot.bodies.positions[0].z, 490);
  EXPECT_EQ(snapshot.bodies.positions[3].z, 505);
}

TEST_F(FarBodies, OverAnEdgeAreJoinedDespiteOneThatEscaped) {
  Snapshot snapshot{.bodies = {}, .box = {100, 100, 100}};
  for (int i = 0; i < 40; ++i) append_body(snapshot, {i % 4 == 0 ? 99.0 - 0.01 * i : 1 + 0.01 * i, 50, 50}, 1, {});
  append_body(snapshot, {275, 50, 50}, 1, {});
  ASSERT_EQ(settle(snapshot), "");
  EXPECT_EQ(snapshot.bodies.positions[0].x, -1);
  EXPECT_EQ(snapshot.bodies.positions[1].x, 1.01f);
}

TEST_F(FarBodies, ThatFillABoxKeepIt) {
  Snapshot snapshot{.bodies = {}, .box = {1, 1, 1}};
  for (int i = 0; i < 10; ++i) append_body(snapshot, {0.1 * i, 0.1 * i, 0.5}, 1, {});
  ASSERT_EQ(settle(snapshot), "");
  EXPECT_EQ(snapshot.box, (Vec3d{1, 1, 1}));
  EXPECT_EQ(snapshot.bodies.positions[9].x, 0.9f);
  Snapshot inside{.bodies = {}, .box = {10, 10, 10}};
  for (int i = 0; i < 10; ++i) append_body(inside, {4 + 0.1 * i, 5, 5}, 1, {});
  ASSERT_EQ(settle(inside), "");
  EXPECT_EQ(inside.box, Vec3d{});
  EXPECT_EQ(inside.bodies.positions[0].x, 4);
}

}  // namespace
}  // namespace orrery
