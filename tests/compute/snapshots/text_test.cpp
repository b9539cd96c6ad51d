#include "compute/core/temporary_folder.h"
#include "compute/snapshots/columns.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/test.h"

namespace orrery {
namespace {

// Text tables and PLY points.

class Tables : public test::SnapshotFileTest {
 protected:
  explicit Tables(const char* name = "table.txt") : SnapshotFileTest{name} {}
  static SnapshotHints columns(const char* names) { return {.columns = parse_columns("--columns", names)}; }
};

TEST_F(Tables, SevenNumbersAreMassPlaceAndVelocity) {
  for (const char* text :
       {"2 1 -2 3 4 5 6\n0.5 0 0 1e-3 +7 8 9\n", "# a comment\n\n2,1,-2,3,4,5,6\r\n0.5, 0,0 ,1e-3,\t7,8,9",
        "m x y z vx vy vz\n2 1 -2 3 4 5 6\n0.5 0 0 1e-3 7 8 9\n",
        "\xEF\xBB\xBFm,x,y,z,vx,vy,vz\r\n2,1,-2,3,4,5,6\r\n0.5,0,0,1e-3,7,8,9\r\n"}) {
    const Snapshot snapshot = read(text);
    ASSERT_EQ(snapshot.bodies.count(), 2) << text;
    EXPECT_EQ(snapshot.bodies.positions[0], (Vec4{1, -2, 3, 2}));
    EXPECT_EQ(snapshot.bodies.velocities[0], (Vec4{4, 5, 6, 0}));
    EXPECT_EQ(snapshot.bodies.positions[1], (Vec4{0, 0, 1e-3f, 0.5f}));
    EXPECT_EQ(snapshot.bodies.velocities[1], (Vec4{7, 8, 9, 0}));
    EXPECT_EQ(snapshot.properties, BodyProperties{});
    const bool named =
        std::string{text}.find('m') != std::string::npos && std::string{text}.find("vx") != std::string::npos;
    ASSERT_EQ(snapshot.notes.size(), named ? 0u : 1u) << text;
    if (!named) {
      EXPECT_NE(snapshot.notes[0].find("read as m x y z vx vy vz; --columns"), std::string::npos);
    }
  }
}

TEST_F(Tables, ColumnsHaveNamesInTheTableOrOnTheCommandLine) {
  const Vec4 place{1, -2, 3, 2}, velocity{4, 5, 6, 0};
  const Snapshot named = read("Type pos_x y Z vx vy vz colour Mass ID\n4 1 -2 3 4 5 6 99 2 18446744073709551615\n");
  EXPECT_EQ(named.bodies.positions[0], place);
  EXPECT_EQ(named.properties.species, std::vector{Species::star});
  EXPECT_EQ(named.properties.ids, std::vector{~std::uint64_t{0}});
  EXPECT_EQ(read("# x y z id\n1 -2 3 1.1e+01\n1 -2 3 0.0\n").properties.ids, (std::vector<std::uint64_t>{11, 0}))
      << "as numpy writes them";
  EXPECT_EQ(read("# the x axis points up\n# x y z m\n1 -2 3 2\n").bodies.positions[0], place);
  const Snapshot hinted = read("1 -2 3 4 5 6 2 99\n", columns("x,y,z,vx,vy,vz,m,-"));
  EXPECT_EQ(hinted.bodies.positions[0], place);
  EXPECT_EQ(hinted.bodies.velocities[0], velocity);
  const Snapshot bare = read("1 -2 3\n4 5 6\n");
  EXPECT_EQ(bare.bodies.positions[0], (Vec4{1, -2, 3, 0.5f}));
  EXPECT_EQ(bare.bodies.velocities[0], Vec4{});
  EXPECT_EQ(bare.notes.size(), 3u) << "at rest, equal masses, the columns by their number";
}

TEST_F(Tables, NamesMayEndWithUnitsThatHaveMarks) {
  for (const char* unit : {"_km/s", " km/s", "_km_s", "_m/s", "_m_s", ".kms", " [km/s]", "_au/yr", "0", ""}) {
    const std::string vx = "vx" + std::string{unit}, vy = "vy" + std::string{unit}, vz = "vz" + std::string{unit};
    const Snapshot snapshot = read("x_kpc,y_kpc,z_kpc," + vx + ',' + vy + ',' + vz + ",m_Msun\n1,-2,3,4,5,6,2\n");
    EXPECT_EQ(snapshot.bodies.positions[0], (Vec4{1, -2, 3, 2})) << unit;
    EXPECT_EQ(snapshot.bodies.velocities[0], (Vec4{4, 5, 6, 0})) << unit;
  }
  const Snapshot first = read("x0,y0,z0,vx0,vy0,vz0,m0\n1,-2,3,4,5,6,2\n");
  EXPECT_EQ(first.bodies.positions[0], (Vec4{1, -2, 3, 2}));
  EXPECT_EQ(first.bodies.velocities[0], (Vec4{4, 5, 6, 0}));
  EXPECT_EQ(read("x,y,z,dx/dt,dy/dt,dz/dt\n1,-2,3,4,5,6\n").bodies.velocities[0], (Vec4{4, 5, 6, 0}));
}

TEST_F(Tables, NoteColumnsThatLookLikeVelocities) {
  const Snapshot odd = read("x,y,z,v_bary_x,v_bary_y,v_bary_z,m\n1,-2,3,4,5,6,2\n");
  EXPECT_EQ(odd.bodies.velocities[0], Vec4{});
  ASSERT_EQ(odd.notes.size(), 1u);
  EXPECT_NE(odd.notes[0].find("velocities are not read"), std::string::npos) << odd.notes[0];
  EXPECT_NE(odd.notes[0].find("column v_bary_x, column v_bary_y"), std::string::npos) << odd.notes[0];
}

TEST_F(Tables, WBesideUAndVIsAVelocity) {
  const Snapshot space = read("X,Y,Z,U,V,W\n1,-2,3,4,5,6\n1,-2,4,4,5,6\n");
  EXPECT_EQ(space.bodies.velocities[0], (Vec4{4, 5, 6, 0}));
  EXPECT_EQ(space.bodies.positions[0], (Vec4{1, -2, 3, 0.5f}));
  EXPECT_EQ(read("1 -2 3 4 5 6 2\n", columns("x,y,z,u,v,w,m")).bodies.velocities[0], (Vec4{4, 5, 6, 0}));
  EXPECT_EQ(read("x,y,z,w\n1,-2,3,4\n").bodies.positions[0], (Vec4{1, -2, 3, 4}));
}

TEST_F(Tables, CommentsNameColumnsBetweenOtherWords) {
  for (const char* names :
       {"# columns: x y z vx vy vz m\n", "# 2 bodies: x y z vx vy vz m\n",
        "# 1. x: place\n# 2. y\n# 3. z\n# 4. vx: speed\n# 5. vy\n# 6. vz\n# 7. m\n",
        "# Format: x, y, z, vx, vy, vz, m\n", "# 1 x 2 y 3 z 4 vx 5 vy 6 vz 7 m\n",
        "# [1] x\n# [2] y\n# [3] z position in kpc\n# [4] vx\n# [5] vy\n# [6] vz\n# [7] m\n",
        "# col1: x\n# col2: y\n# col3: z\n# col4: vx\n# col5: vy\n# col6: vz\n# col7: m\n",
        "# col1: x col2: y col3: z col4: vx col5: vy col6: vz col7: m\n",
        "# Column 0 x\n# Column 1 y\n# Column 2 z\n# Column 3 vx\n# Column 4 vy\n# Column 5 vz\n# Column 6 m\n",
        "# x y z in kpc, vx vy vz in km/s, m in Msun\n", "# x [kpc] y [kpc] z [kpc] vx vy vz (km/s) m in Msun\n"}) {
    const Snapshot snapshot = read(names + std::string{"1 2 3 4 5 6 7\n2 2 3 4 5 6 7\n"});
    EXPECT_EQ(snapshot.bodies.positions[0], (Vec4{1, 2, 3, 7})) << names;
    EXPECT_EQ(snapshot.bodies.velocities[0], (Vec4{4, 5, 6, 0})) << names;
    for (const std::string& note : snapshot.notes) EXPECT_NE(note.find("--units"), std::string::npos) << note;
  }
  const Snapshot guessed = read("# columns: x y z vx vy vz m phi\n1 2 3 4 5 6 7\n");
  ASSERT_EQ(guessed.notes.size(), 2u);
  EXPECT_NE(guessed.notes[1].find("'columns: x y z vx vy vz m phi' has names, but not as many"), std::string::npos);
}

TEST_F(Tables, ATimeWithAUnitInACommentIsNoted) {
  const Snapshot snapshot = read("# time = 0.5 Myr\nx y z m\n1 2 3 4\n");
  EXPECT_EQ(snapshot.time, 0);
  ASSERT_EQ(snapshot.notes.size(), 2u);
  EXPECT_NE((snapshot.notes[0] + snapshot.notes[1]).find("'time = 0.5 Myr' is not read"), std::string::npos);
}

TEST_F(Tables, AnExponentWithoutALetterHasThreeDigitsAndAPoint) {
  EXPECT_EQ(read("x y z\n1.5+003 2.-002 3\n").bodies.positions[0], (Vec4{1500, 0.02f, 3, 1}));
  expect_refused(std::string("x y z\n1 2 3") + '\0' + "4\n", "'3?4' is not a number");
  for (const char* word : {"10-3", "1.0-3", "10-003", "2020-01-101"}) {
    expect_refused("x y z\n1 2 " + std::string{word} + '\n', "column z", "is not a number");
  }
}

TEST_F(Tables, RefuseWhatIsAmbiguousOrDamagedWithLineAndByte) {
  expect_refused("1 2 3 4\n", "line 1", "4 values", "--columns");
  expect_refused("1 2 3 4 5 6 7\n1 2 3\n", "byte 14", "line 2", "3 values", "7 columns");
  expect_refused("1 2 3 4 5 6 7\n1 2 x 4 5 6 7\n", "byte 18", "line 2, column y", "not a number");
  expect_refused("1 2 nan 4 5 6 7\n", "body 0", "position that is not finite");
  expect_refused("1 2 3 4 5 1e39 7\n", "body 0", "velocity beyond 1e15");
  expect_refused("x y z temperature\n1 0 0 1e39\n", "body 0", "temperature that is beyond the range");
  expect_refused("-1 2 3 4 5 6 7\n", "a mass below 0", "m x y z vx vy vz", "--columns");
  expect_refused("1 0 0 0 0 0 0\n1e-40 0 0 0 0 0 0\n", "body 1", "mass");
  expect_refused("m x y z vx\n1 0 0 0 0\n", "no column vy", "--columns");
  expect_refused("x y z x\n1 0 0 0\n", "column x is there twice");
  for (const char* id : {"-1", "1.5", "9.1e15", "nan", "-1.0e+00"}) {
    expect_refused("x y z id\n1 0 0 " + std::string{id} + '\n', "column id", "not a whole number");
  }
  expect_refused("x y z type\n1 0 0 6\n", "species that is none of 0 to 5");
  expect_refused("x y z softening\n1 0 0 -1\n", "body 0", "softening below 0");
  expect_refused("# time = inf\n0 0 0\n", "time: not a finite number");
  expect_refused("# length_cm = -1\n0 0 0\n", "length_cm: not a usable unit");
  expect_refused("# nothing\n", "without bodies");
  expect_refused("1 2 3 " + std::string(70000, ' ') + "4\n", "line 1", "longer than 65536 bytes");
}

TEST_F(Tables, ColumnsOfTheCommandLineAreChecked) {
  const auto refused = [](const char* text, const auto&... parts) {
    EXPECT_USAGE_ERROR(parse_columns("--columns", text), "--columns", text, parts...);
  };
  refused("x,y,zed", "'zed' is no column", "softening");
  refused("x,z", "no column y");
  refused("x,y,vx,vy,vz", "no column z");
  refused("x,y,z,m,m", "m is there twice");
  write_snapshot(folder_ / "a.ply", {read("1 2 3\n")});
  EXPECT_USAGE_ERROR(read_snapshot(folder_ / "a.ply", columns("x,y,z")), "--columns", "PLY");
}

TEST_F(Tables, HoldTimeAndUnitsToTheBit) {
  Snapshot snapshot = read("0.1 0.2 0.3 0.4 5 6 7\n");
  snapshot.time = 1.0 / 3;
  snapshot.units = Units{3.085678e21, 1.989e43, 1e5 / 3};
  for (const char* name : {"a.txt", "a.csv", "a.ply"}) {
    write_snapshot(folder_ / name, snapshot);
    const Snapshot back = read_snapshot(folder_ / name);
    EXPECT_EQ(back.time, snapshot.time) << name;
    EXPECT_EQ(back.units, snapshot.units) << name;
    EXPECT_EQ(back.bodies, snapshot.bodies) << name;
  }
  EXPECT_NE(test::read_bytes(folder_ / "a.csv").find("\nm,x,y,z,vx,vy,vz\n0.1,0.2,0.3,0.4,5,6,7\n"), std::string::npos);
}

class Ply : public Tables {
 protected:
  Ply() : Tables{"table.ply"} {}
  static std::string file(const std::string& format, const std::string& vertices, const std::string& more = {},
                          const std::string& before = {}) {
    return "ply\nformat " + format + " 1.0\ncomment made by hand\n" + before +
           "element vertex 2\nproperty double x\nproperty float y\nproperty float z\nproperty uchar red\n" + more +
           "end_header\n" + vertices;
  }
};

TEST_F(Ply, ReadsTextAndBothByteOrdersAndOtherElements) {
  const std::string little{
      "\0\0\0\0\0\0\xf0\x3f\0\0\0\x40\0\0\x40\x40\x07"
      "\0\0\0\0\0\0\xf0\xbf\0\0\0\x40\0\0\x40\x40\x07",
      34};
  const std::string big{
      "\x3f\xf0\0\0\0\0\0\0\x40\0\0\0\x40\x40\0\0\x07"
      "\xbf\xf0\0\0\0\0\0\0\x40\0\0\0\x40\x40\0\0\x07",
      34};
  const std::string faces = "element face 1\nproperty list uchar int vertex_indices\n";
  const std::string camera = "element camera 1\nproperty short gain\nproperty int film\n";
  for (const std::string& text : {file("ascii", "1 2 3 7\n-1 2 3 7\n"), file("binary_little_endian", little),
                                  file("binary_big_endian", big), file("ascii", "1 2 3 7\n-1 2 3 7\n3 0 1 1\n", faces),
                                  file("binary_little_endian", std::string(6, 'c') + little, {}, camera),
                                  file("ascii", "5 6\n1 2 3 7\n-1 2 3 7\n", {}, camera)}) {
    const Snapshot snapshot = read(text);
    ASSERT_EQ(snapshot.bodies.count(), 2) << text;
    EXPECT_EQ(snapshot.bodies.positions[0], (Vec4{1, 2, 3, 0.5f}));
    EXPECT_EQ(snapshot.bodies.positions[1], (Vec4{-1, 2, 3, 0.5f}));
  }
}

TEST_F(Ply, RefusesDamageWithTheCause) {
  const std::string binary = "binary_little_endian", whole(34, '\0');
  expect_refused(file(binary, whole.substr(1)), "truncated", "2 vertex records of 17 bytes", "33");
  expect_refused(file(binary, whole + 'x'), "oversized");
  expect_refused(file("ascii", "1 2 3 7\n"), "vertex 1", "missing");
  expect_refused(file("ascii", "1 2 3 7\n1 2 3\n"), "vertex 1", "3 values");
  expect_refused(file("ascii", "1 2 3 7\n1 2 q 7\n"), "vertex 1", "not a number");
  expect_refused(file("ascii", "1 2 3 7\n1 2 inf 7\n"), "vertex 1", "not finite");
  expect_refused(file("ascii", "1 2 3 7\n1 2 3 7\n1 2 3 7\n"), "more than its vertices");
  expect_refused(file("ebcdic", ""), "line 2", "format");
  expect_refused(file(binary, whole, "property list uchar int n\n"), "list");
  expect_refused(file(binary, whole, "property float x\n"), "column x is there twice");
  expect_refused(file(binary, whole, "property cat x2\n"), "property TYPE NAME");
  expect_refused(file(binary, whole, "elephant\n"), "neither comment");
  expect_refused(
      "ply\nformat ascii 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\n"
      "property float z\nend_header\n1 2 3\n",
      "truncated", "4,000,000,000");
  expect_refused("ply\nformat ascii 1.0\nelement vertex 1\n", "end_header");
  expect_refused("ply\nformat ascii 1.0\nend_header\n", "no element 'vertex'");
  expect_refused("ply\nformat ascii 1.0\nproperty int x\n", "before the first element");
}

// Text tables as pandas, numpy, R, Fortran, spreadsheets and programs of the plane write them.

class TableWriters : public Tables {
 protected:
  TableWriters() : Tables{"table.csv"} {}

  /// Two bodies: masses 7 and 8, places (1, 2, 3) and (2, 3, 4), velocities (4, 5, 6) and (5, 6, 7).
  void expect_bodies(const std::string& text) {
    SCOPED_TRACE(text);
    Snapshot snapshot;
    ASSERT_NO_THROW(snapshot = read(text)) << text;
    ASSERT_EQ(snapshot.bodies.positions, (std::vector<Vec4>{{1, 2, 3, 7}, {2, 3, 4, 8}}));
    ASSERT_EQ(snapshot.bodies.velocities, (std::vector<Vec4>{{4, 5, 6, 0}, {5, 6, 7, 0}}));
  }
  std::string notes_of(const std::string& text, const SnapshotHints& hints = {}) {
    std::string all;
    for (const std::string& note : read(text, hints).notes) all += note + '\n';
    return all;
  }
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
  EXPECT_EQ(read("0,5,0,25,0,125\n", columns("x,y,z,vx,vy,vz")).bodies.count(), 1)
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
  EXPECT_NE(notes_of("0 0 0 0 1\n1 0 0 1 1\n", columns("x,y,vx,vy,m")).find(said), std::string::npos);
  expect_refused("0 0 0 0 1\n", "5 values", "--columns");
  expect_refused("0 0 0 1\n", "4 values", "--columns x,y,vx,vy,m");
  expect_refused("x y vx vy vz\n0 0 0 0 1\n", "no column z");
  expect_refused("x y z vx vy\n0 0 0 0 1\n", "no column vz");
  const Snapshot princeton =
      read("2\n2.5e+11\n1.5e11 0 0 2.98e4 5.97e14 earth.gif\n0 0 0 0 1.9e14 sun.gif\n", columns("x,y,vx,vy,m,-"));
  EXPECT_EQ(princeton.bodies.count(), 2);
  EXPECT_EQ(princeton.notes[1], "line 1 has one number and is skipped");
}

TEST_F(TableWriters, GuessesAreSaid) {
  EXPECT_NE(notes_of("1 2 3 4 5 6 100\n2 3 4 5 6 7 200\n").find("read as m x y z vx vy vz; --columns names others"),
            std::string::npos);
  EXPECT_NE(notes_of("1 2 3 4 5 6\n").find("read as x y z vx vy vz"), std::string::npos);
  EXPECT_NE(notes_of("1 2 3\n").find("read as x y z;"), std::string::npos);
  EXPECT_EQ(notes_of("m x y z vx vy vz\n1 2 3 4 5 6 7\n"), "");
  EXPECT_EQ(notes_of("1 2 3 4 5 6 7\n", columns("x,y,z,vx,vy,vz,m")), "");
  EXPECT_NE(notes_of("# - {name: x, unit: kpc, datatype: float64}\nx y z m\n1 2 3 4\n").find("(kpc) are ignored"),
            std::string::npos);
  EXPECT_NE(notes_of("x [kpc],y [kpc],z [kpc],m [Msun]\n1,2,3,4\n").find("names of columns (Msun, kpc) are ignored"),
            std::string::npos);
}

TEST_F(TableWriters, SiUnitsAreConvertedBeforeLimitsApply) {
  const Snapshot sun = read("# m x y z vx vy vz\n1.98892e30 0 0 0 0 0 0\n5.9722e24 1.495978707e11 0 0 0 29784.7 0\n",
                            {.units = parse_units("--units", "m,kg,m/s")});
  ASSERT_TRUE(sun.units);
  EXPECT_NEAR(sun.bodies.positions[0].w * sun.units->mass_g / solar_mass_g, 1.00025, 1e-4);
  EXPECT_NEAR(sun.bodies.positions[1].x * sun.units->length_cm / 1.495978707e13, 1, 1e-6);
  EXPECT_NEAR(sun.bodies.velocities[1].y * sun.units->velocity_cm_s, 29784.7e2, 10);
}

}  // namespace
}  // namespace orrery
