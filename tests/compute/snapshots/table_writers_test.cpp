// Text tables as pandas, numpy, R, Fortran, spreadsheets and programs of the plane write them.
#include <gtest/gtest.h>

#include <string>

#include "compute/core/temporary_folder.h"
#include "compute/snapshots/columns.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

class TableWriters : public testing::Test {
 protected:
  Snapshot read(const std::string& text, const SnapshotHints& hints = {}, const char* name = "table.csv") {
    test::write_bytes(folder_ / name, text);
    return read_snapshot(folder_ / name, hints);
  }
  /// Two bodies: masses 7 and 8, places (1, 2, 3) and (2, 3, 4), velocities (4, 5, 6) and (5, 6, 7).
  void expect_bodies(const std::string& text) {
    SCOPED_TRACE(text);
    Snapshot snapshot;
    ASSERT_NO_THROW(snapshot = read(text)) << text;
    ASSERT_EQ(snapshot.bodies.positions, (std::vector<Vec4>{{1, 2, 3, 7}, {2, 3, 4, 8}}));
    ASSERT_EQ(snapshot.bodies.velocities, (std::vector<Vec4>{{4, 5, 6, 0}, {5, 6, 7, 0}}));
  }
  template <class... Parts>
  void expect_refused(const std::string& text, const Parts&... parts) {
    test::expect_failure(
        test::Failure::runtime, [&] { read(text); }, "table.csv", parts...);
  }
  std::string notes_of(const std::string& text, const SnapshotHints& hints = {}) {
    std::string all;
    for (const std::string& note : read(text, hints).notes) all += note + '\n';
    return all;
  }

  TemporaryFolder folder_;
};

TEST_F(TableWriters, EachKnownOneIsRead) {
  const char* const texts[] = {
      "\"x\",\"y\",\"z\",\"vx\",\"vy\",\"vz\",\"m\"\n1,2,3,4,5,6,7\n2,3,4,5,6,7,8\n",
      "\"\",\"x\",\"y\",\"z\",\"vx\",\"vy\",\"vz\",\"m\"\n\"1\",1,2,3,4,5,6,7\n\"2\",2,3,4,5,6,7,8\n",
      "\"x\" \"y\" \"z\" \"vx\" \"vy\" \"vz\" \"m\"\n\"1\" 1 2 3 4 5 6 7\n\"2\" 2 3 4 5 6 7 8\n",
      "x y z vx vy vz m\nSun 1 2 3 4 5 6 7\n\"Alpha Cen\" 2 3 4 5 6 7 8\n",
      ",x,y,z,vx,vy,vz,mass\n0,1,2,3,4,5,6,7\n1,2,3,4,5,6,7,8\n",
      "    x  y  z  vx  vy  vz  m\n0   1  2  3   4   5   6  7\n1   2  3  4   5   6   7  8\n",
      "# x y z vx vy vz m\n1.0e+00 2.0e+00 3.0e+00 4.0e+00 5 6 7\n2 3 4 5 6 7 8\n",
      "#x\ty\tz\tvx\tvy\tvz\tm\n1\t2\t3\t4\t5\t6\t7\n2\t3\t4\t5\t6\t7\t8\n",
      "\xEF\xBB\xBFm;x;y;z;vx;vy;vz\r\n7;1;2;3;4;5;6\r\n8;2;3;4;5;6;7\r\n",
      "\xEF\xBB\xBFsep=;\r\nm;x;y;z;vx;vy;vz;\r\n7;1;2;3;4;5;6;\r\n8;2;3;4;5;6;7;\r\n",
      " ! m x y z vx vy vz\n  0.7D+01   0.1D+01   2d0  3.D0  4  5 6\n   8.0  2.0   .30E+1  4.  5 0.6+001 7\n",
      "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: x, datatype: float64}\nx y z vx vy vz m\n1 2 3 4 5 6 7\n2 3 4 5 6 7 "
      "8\n",
      "% m x y z vx vy vz\n7 1 2 3 4 5 6\n8 2 3 4 5 6 7\n",
      "# a run\n\n# mass x y z vx vy vz rho\n7 1 2 3 4 5 6 0.1\n8 2 3 4 5 6 7 0.2\n",
      "PosX,PosY,PosZ,VelX,VelY,VelZ,Particle Mass,Name\n1,2,3,4,5,6,7,Big One\n2,3,4,5,6,7,8,\"Small, red\"\n",
      "x [kpc],y [kpc],z [kpc],vx [km/s],vy [km/s],vz [km/s],m [Msun]\n1,2,3,4,5,6,7\n2,3,4,5,6,7,8\n",
      "x (AU) y (AU) z (AU) vx vy vz m\n1 2 3 4 5 6 7\n2 3 4 5 6 7 8\n",
      "2\n7 1 2 3 4 5 6\n8 2 3 4 5 6 7\n",
      "7 1 2 3 4 5 6 # the first\n8 2 3 4 5 6 7 ! the second\n",
      "\"m\";\"x\";\"y\";\"z\";\"vx\";\"vy\";\"vz\"\n\"7\";\"1\";\"2\";\"3\";\"4\";\"5\";\"6\"\n8;2;3;4;5;6;7\n",
      "Points:0,Points:1,Points:2,velocity:0,velocity:1,velocity:2,mass\n1,2,3,4,5,6,7\n2,3,4,5,6,7,8\n",
      "m, x, y, z, vx, vy, vz\n7, 1, 2, 3, 4, 5, 6\n8, 2, 3, 4, 5, 6, 7\n",
      "x_kpc,y_kpc,z_kpc,vx_kms,vy_kms,vz_kms,mass_Msun\n1,2,3,4,5,6,7\n2,3,4,5,6,7,8\n",
  };
  for (const char* text : texts) expect_bodies(text);
}

TEST_F(TableWriters, DecimalCommasAreRefusedWithTheReason) {
  for (const char* text : {"0,5;0,25;0,125\n-1,5;2,25;0,75\n", "m;x;y;z;vx;vy;vz\n1,0;0,5;0,25;0,125;0,1;0,2;0,3\n",
                           "0,5 0,25 0,125\n-1,5 2,25 0,75\n", "0,5\t0,25\t0,125\n-1,5\t2,25\t0,75\n",
                           "x\ty\tz\n0,5\t0,25\t0,125\n", "x y z\n0,5 0,25 0,125\n", "0,5,0,25,0,125\n-1,5,2,25,0,75\n",
                           "\"0,5\",\"0,25\",\"0,125\"\n", "1,0,0,5,0,25,0,125,0,1,0,2,0,3\n",
                           "x,y,z\n0,5,0,25,0,125\n", "1.234,5;2.000,0;3\n", "\"1,234.5\",\"2\",\"3\"\n",
                           "0,5, 0,25, 0,125\n", "1,0 0,5 0,25 0,125\n", "0 0 0\n0,5 1 2\n", "0;0;0\n0,5;1;2\n"}) {
    expect_refused(text, "decimal commas");
  }
  EXPECT_EQ(read("0,5,0,25,0,125\n", {.columns = parse_columns("--columns", "x,y,z,vx,vy,vz")}).bodies.count(), 1)
      << "columns that are named are believed";
  EXPECT_EQ(read("0,5,0,25,0,-125\n").bodies.count(), 1) << "no decimals have a sign";
}

TEST_F(TableWriters, ValuesThatAreNoNumbersAreNamed) {
  expect_refused("x,y,z\n1,NA,3\n", "'NA' stands for a missing value", "line 2, column y");
  expect_refused("x,y,z\n1,,3\n", "byte 8", "a value is missing");
  expect_refused("x y z m\n1 2 3 1.0-130\n", "mass below 1e-30");
  expect_refused("x,y,z\n1,2,#N/A\n", "missing value");
  expect_refused("1 2 nan\n", "not finite");
  expect_refused("x y z\n1 ****** 3\n", "did not fit its field");
  expect_refused("x y z\n2*0.0 3 1\n", "repeats a value");
  expect_refused("x;y;z\n1.000.000;2;3\n", "several points");
  expect_refused(
      "x y z\n1 \xE2\x88\x92"
      "2 3\n",
      "typographic minus");
  expect_refused("r,theta,phi\n1,2,3\n", "no name of x and y", "known names", "--columns");
  expect_refused("1 2 3\r4 5 6\r", "CR");
  expect_refused(std::string{"\xFF\xFE", 2} + std::string{"1\0 \0002\0 \0003\0", 10}, "UTF-16");
  expect_refused("x y z\n5 1 2 3\n", "4 values", "3 columns");
  expect_refused("x y z\n0 1 2 3\n5 4 5 6\n", "4 values, but the table names 3 columns");
}

TEST_F(TableWriters, PlanesHaveZOfZero) {
  const Snapshot plane = read("# x y vx vy m\n0 0 0 0 1\n1 0 0 1 1e-3\n");
  EXPECT_EQ(plane.bodies.positions[1], (Vec4{1, 0, 0, 1e-3f}));
  EXPECT_EQ(plane.bodies.velocities[1], (Vec4{0, 1, 0, 0}));
  const std::string said = "no z in the file: all bodies lie in the plane z = 0";
  EXPECT_EQ(plane.notes, std::vector{said});
  EXPECT_NE(notes_of("x,y\n1,2\n").find(said), std::string::npos);
  EXPECT_NE(notes_of("0 0 0 0 1\n1 0 0 1 1\n", {.columns = parse_columns("--columns", "x,y,vx,vy,m")}).find(said),
            std::string::npos);
  expect_refused("0 0 0 0 1\n", "5 values", "--columns");
  expect_refused("0 0 0 1\n", "4 values", "--columns x,y,vx,vy,m");
  expect_refused("x y vx vy vz\n0 0 0 0 1\n", "no column z");
  expect_refused("x y z vx vy\n0 0 0 0 1\n", "no column vz");
  const Snapshot princeton = read("2\n2.5e+11\n1.5e11 0 0 2.98e4 5.97e14 earth.gif\n0 0 0 0 1.9e14 sun.gif\n",
                                  {.columns = parse_columns("--columns", "x,y,vx,vy,m,-")});
  EXPECT_EQ(princeton.bodies.count(), 2);
  EXPECT_EQ(princeton.notes[1], "line 1 has one number and is skipped");
}

TEST_F(TableWriters, GuessesAreSaid) {
  EXPECT_NE(notes_of("1 2 3 4 5 6 100\n2 3 4 5 6 7 200\n").find("read as m x y z vx vy vz; --columns names others"),
            std::string::npos);
  EXPECT_NE(notes_of("1 2 3 4 5 6\n").find("read as x y z vx vy vz"), std::string::npos);
  EXPECT_NE(notes_of("1 2 3\n").find("read as x y z;"), std::string::npos);
  EXPECT_EQ(notes_of("m x y z vx vy vz\n1 2 3 4 5 6 7\n"), "");
  EXPECT_EQ(notes_of("1 2 3 4 5 6 7\n", {.columns = parse_columns("--columns", "x,y,z,vx,vy,vz,m")}), "");
  EXPECT_NE(notes_of("# - {name: x, unit: kpc, datatype: float64}\nx y z m\n1 2 3 4\n").find("(kpc) are ignored"),
            std::string::npos);
  EXPECT_NE(notes_of("x [kpc],y [kpc],z [kpc],m [Msun]\n1,2,3,4\n").find("names of columns (Msun, kpc) are ignored"),
            std::string::npos);
}

TEST_F(TableWriters, SiUnitsAreConvertedBeforeLimitsApply) {
  const Snapshot sun = read("# m x y z vx vy vz\n1.98892e30 0 0 0 0 0 0\n5.9722e24 1.495978707e11 0 0 0 29784.7 0\n",
                            {.units = parse_units("--units", "m,kg,m/s")}, "si.txt");
  ASSERT_TRUE(sun.units);
  EXPECT_NEAR(sun.bodies.positions[0].w * sun.units->mass_g / solar_mass_g, 1.00025, 1e-4);
  EXPECT_NEAR(sun.bodies.positions[1].x * sun.units->length_cm / 1.495978707e13, 1, 1e-6);
  EXPECT_NEAR(sun.bodies.velocities[1].y * sun.units->velocity_cm_s, 29784.7e2, 10);
}

}  // namespace
}  // namespace orrery
