// GADGET HDF5. What other programs read of it is tested by tests/app/cli/snapshot_readers.py.
#include <csignal>

#include "compute/core/temporary_folder.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/test.h"

#if ORRERY_TEST_HDF5
#include <hdf5.h>
#endif

/// libhdf5 does not free all that it took for damaged files. LeakSanitizer asks for this.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5";
}

namespace orrery {
namespace {

using test::has_note;

#if ORRERY_TEST_HDF5
/// A file that is made with libhdf5 directly: one PartType1 with `rows` rows.
class Hdf5File {
 public:
  explicit Hdf5File(const std::filesystem::path& path)
      : file_{H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)} {}
  ~Hdf5File() { H5Fclose(file_); }

  hid_t group(const char* name) const {
    if (H5Lexists(file_, name, H5P_DEFAULT) > 0) return H5Gopen2(file_, name, H5P_DEFAULT);
    return H5Gcreate2(file_, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  }
  void attribute(const char* in, const char* name, const std::vector<double>& values) const {
    const hsize_t size = values.size();
    const hid_t space = H5Screate_simple(1, &size, nullptr), group_id = group(in);
    const hid_t id = H5Acreate2(group_id, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(id, H5T_NATIVE_DOUBLE, values.data());
    H5Aclose(id);
    H5Gclose(group_id);
    H5Sclose(space);
  }
  /// Without values: a compressed dataset of which nothing is stored.
  void dataset(const char* in, const char* name, hsize_t rows, hsize_t columns, const std::vector<double>& values,
               bool chunked = false, H5Z_filter_t filter = H5Z_FILTER_NONE) const {
    const hsize_t extent[2] = {rows, columns}, chunk[2] = {std::min<hsize_t>(rows, 1000), columns};
    const int rank = columns > 1 ? 2 : 1;
    const hid_t space = H5Screate_simple(rank, extent, nullptr), made = H5Pcreate(H5P_DATASET_CREATE), to = group(in);
    if (chunked || values.empty()) H5Pset_chunk(made, rank, chunk);
    if (filter != H5Z_FILTER_NONE) H5Pset_filter(made, filter, H5Z_FLAG_MANDATORY, 0, nullptr);
    const hid_t id = H5Dcreate2(to, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, made, H5P_DEFAULT);
    if (!values.empty()) H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(id);
    H5Gclose(to);
    H5Pclose(made);
    H5Sclose(space);
  }

 private:
  hid_t file_;
};

class Hdf5 : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_ / "snap.hdf5"; }
  template <class... Parts>
  void expect_refused(const Parts&... parts) {
    EXPECT_RUNTIME_ERROR(read_snapshot(file()), "snap.hdf5", parts...);
  }
  static void header(const Hdf5File& made, double bodies, double mass = 1) {
    made.attribute("Header", "NumPart_ThisFile", {0, bodies, 0, 0, 0, 0});
    made.attribute("Header", "MassTable", {0, mass, 0, 0, 0, 0});
  }

  TemporaryFolder folder_;
};

TEST_F(Hdf5, ReadsUnitsByTheNamesOfOtherPrograms) {
  const std::vector<double> places{1, 2, 3, -1, -2, -3};
  {
    const Hdf5File made{file()};
    header(made, 2, 0.5);
    made.dataset("PartType1", "Coordinates", 2, 3, places);
    made.dataset("PartType1", "Velocities", 2, 3, places);
    made.dataset("PartType1", "Potential", 2, 1, {1, 1});
    made.attribute("Units", "Unit length in cgs (U_L)", {3e18});
    made.attribute("Units", "Unit mass in cgs (U_M)", {2e33});
    made.attribute("Units", "Unit time in cgs (U_t)", {1e13});
  }
  const Snapshot swift = read_snapshot(file());
  EXPECT_EQ(swift.units, (Units{3e18, 2e33, 3e18 / 1e13}));
  EXPECT_EQ(swift.bodies.positions, (std::vector<Vec4>{{1, 2, 3, 0.5f}, {-1, -2, -3, 0.5f}}));
  EXPECT_TRUE(swift.properties.ids.empty());
  EXPECT_EQ(swift.notes.size(), 1u) << "double precision";
  EXPECT_EQ(swift.unread, (std::vector<std::string>{"Potential of PartType1"}));
  {
    const Hdf5File made{file()};
    header(made, 2);
    made.dataset("PartType1", "Coordinates", 2, 3, places);
  }
  const Snapshot bare = read_snapshot(file());
  EXPECT_EQ(bare.units, galactic_units);
  EXPECT_TRUE(bare.units_assumed);
  EXPECT_EQ(bare.bodies.velocities, std::vector<Vec4>(2));
}

TEST_F(Hdf5, RefusesDamageWithTheField) {
  const std::vector<double> places{1, 2, 3, -1, -2, -3};
  const auto refused = [&](double bodies, double mass, auto more, const auto&... parts) {
    {
      const Hdf5File made{file()};
      header(made, bodies, mass);
      more(made);
    }
    expect_refused(parts...);
  };
  const auto nothing = [](const Hdf5File&) {};
  const auto coordinates = [](const std::vector<double>& values) {
    return [values](const Hdf5File& made) { made.dataset("PartType1", "Coordinates", 2, 3, values); };
  };
  test::write_bytes(file(), std::string{"\x89HDF\r\n\x1a\n", 8} + std::string(92, 'x'));
  expect_refused("damaged");
  { const Hdf5File empty{file()}; }
  expect_refused("no group Header");
  refused(2, 1, nothing, "PartType1", "no such group");
  refused(-1, 1, nothing, "NumPart_ThisFile", "not a valid count");
  refused(0, 1, nothing, "no bodies");
  refused(2, -1, nothing, "Header/MassTable: type 1 has a mass below 0");
  refused(3, 1, coordinates(places), "PartType1/Coordinates", "2 x 3 values", "3 x 3");
  refused(2, 0, coordinates(places), "PartType1/Masses", "missing");
  refused(2, 1, coordinates({0, 0, 0, 0, 1e300, 0}), "body 1 (counted from 0)", "beyond 1e15");
  refused(2, 1, coordinates({0, 0, 0, 0, INFINITY, 0}), "PartType1/Coordinates", "row 1", "not finite");
  const auto hot = [&](const Hdf5File& made) {
    coordinates(places)(made);
    made.dataset("PartType1", "Temperature", 2, 1, {1, 1e300});
  };
  refused(2, 1, hot, "PartType1/Temperature", "row 1", "beyond the range");
  const auto huge = [](const Hdf5File& made) { made.dataset("PartType1", "Coordinates", 1'000'000'000, 3, {}); };
  refused(1e9, 1, huge, "PartType1/Coordinates", "truncated", "no values are stored");
  EXPECT_LT(std::filesystem::file_size(file()), 20000u);
}

/// A file of two bodies of PartType1, and what `more` adds.
template <class More>
void small_snapshot(const std::filesystem::path& path, More more, double mass = 1) {
  const Hdf5File made{path};
  made.attribute("Header", "NumPart_ThisFile", {0, 2, 0, 0, 0, 0});
  made.attribute("Header", "MassTable", {0, mass, 0, 0, 0, 0});
  made.dataset("PartType1", "Coordinates", 2, 3, {1, 2, 3, -1, -2, -3});
  more(made);
}

/// GADGET-4 has as many types as its option NTYPES says; SWIFT has seven.
TEST_F(Hdf5, ReadsAnyNumberOfTypes) {
  for (const std::size_t types : {1, 2, 3, 4, 7, 8, 16}) {
    {
      const Hdf5File made{file()};
      std::vector<double> counts(types, 0.0);
      counts.back() = 2;
      made.attribute("Header", "NumPart_ThisFile", counts);
      made.attribute("Header", "MassTable", std::vector<double>(types, 0.0));
      const std::string group = "PartType" + std::to_string(types - 1);
      made.dataset(group.c_str(), "Coordinates", 2, 3, {1, 2, 3, -1, -2, -3});
      made.dataset(group.c_str(), "Masses", 2, 1, {4, 5});
    }
    const Snapshot snapshot = read_snapshot(file());
    ASSERT_EQ(snapshot.bodies.count(), 2) << types;
    EXPECT_EQ(snapshot.bodies.positions[1].w, 5) << types;
    const Species species = snapshot.properties.species.empty() ? Species::dark : snapshot.properties.species[0];
    EXPECT_EQ(species, types > 6 ? Species::dark : static_cast<Species>(types - 1)) << types;
  }
}

TEST_F(Hdf5, ReadsTheNamesOfEachCode) {
  for (const auto& [velocities, masses] :
       {std::pair{"Velocities", "Masses"}, {"Velocity", "Mass"}, {"Velocities", "DynamicalMasses"}}) {
    small_snapshot(
        file(),
        [&, velocities = velocities, masses = masses](const Hdf5File& made) {
          made.dataset("PartType1", velocities, 2, 3, {1, 2, 3, 4, 5, 6});
          made.dataset("PartType1", masses, 2, 1, {7, 8});
        },
        0);
    const Snapshot snapshot = read_snapshot(file());
    EXPECT_EQ(snapshot.bodies.positions[1], (Vec4{-1, -2, -3, 8})) << masses;
    EXPECT_EQ(snapshot.bodies.velocities[1], (Vec4{4, 5, 6, 0})) << velocities;
    EXPECT_TRUE(snapshot.unread.empty()) << velocities;
  }
}

TEST_F(Hdf5, SkipsTracersWithoutPlaces) {
  {
    const Hdf5File made{file()};
    made.attribute("Header", "NumPart_ThisFile", {0, 2, 0, 3, 0, 0});
    made.attribute("Header", "NumPart_Total", {0, 2, 0, 3, 0, 0});
    made.attribute("Header", "MassTable", {0, 1, 0, 0, 0, 0});
    made.dataset("PartType1", "Coordinates", 2, 3, {1, 2, 3, -1, -2, -3});
    made.dataset("PartType3", "TracerID", 3, 1, {1, 2, 3});
  }
  const Snapshot snapshot = read_snapshot(file());
  EXPECT_EQ(snapshot.bodies.count(), 2);
  EXPECT_TRUE(has_note(snapshot, "PartType3/Coordinates is missing: its 3 rows are skipped"));
  EXPECT_FALSE(has_note(snapshot, "one of several files"));
}

TEST_F(Hdf5, ReadsDatasetsThatWereNeverWrittenAsZeros) {
  small_snapshot(file(), [](const Hdf5File& made) { made.dataset("PartType1", "Velocities", 2, 3, {}); });
  const Snapshot snapshot = read_snapshot(file());
  EXPECT_EQ(snapshot.bodies.velocities, std::vector<Vec4>(2));
  EXPECT_TRUE(has_note(snapshot, "PartType1/Velocities was never written"));
}

TEST_F(Hdf5, BodiesWithoutMassAreTestParticles) {
  const auto make = [&](const std::vector<double>& masses) {
    small_snapshot(
        file(), [&](const Hdf5File& made) { made.dataset("PartType1", "Masses", 2, 1, masses); }, 0);
  };
  make({3, 0});
  EXPECT_TRUE(has_note(read_snapshot(file()), "1 body without mass: test particles"));
  make({0, 0});
  expect_refused("all masses are 0");
  make({3, -1});
  expect_refused("PartType1/Masses", "row 1", "a mass below 0");
  make({3, NAN});
  expect_refused("PartType1/Masses", "row 1", "not finite");
}

template <class Id>
void add_ids(const Hdf5File& made, hid_t type, const std::vector<Id>& ids) {
  const hsize_t size = ids.size();
  const hid_t space = H5Screate_simple(1, &size, nullptr), group = made.group("PartType1");
  const hid_t id = H5Dcreate2(group, "ParticleIDs", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, ids.data());
  H5Dclose(id);
  H5Gclose(group);
  H5Sclose(space);
}

TEST_F(Hdf5, KeepsOrRefusesIdsThatAreNoUnsignedNumbers) {
  const auto ids_of = [&](hid_t type, const auto& ids) {
    small_snapshot(file(), [&](const Hdf5File& made) { add_ids(made, type, ids); });
    return read_snapshot(file()).properties.ids;
  };
  using Ids = std::vector<std::uint64_t>;
  EXPECT_EQ(ids_of(H5T_NATIVE_INT32, std::vector<std::int32_t>{-1, 7}), (Ids{0xffffffffu, 7}));
  EXPECT_EQ(ids_of(H5T_NATIVE_INT64, std::vector<std::int64_t>{-2, -1}), (Ids{~std::uint64_t{1}, ~std::uint64_t{0}}));
  EXPECT_EQ(ids_of(H5T_NATIVE_UINT64, Ids{~std::uint64_t{0}, 0}), (Ids{~std::uint64_t{0}, 0}));
  EXPECT_EQ(ids_of(H5T_NATIVE_DOUBLE, std::vector<double>{9007199254740991.0, 3}), (Ids{9007199254740991u, 3}));
  EXPECT_EQ(ids_of(H5T_NATIVE_FLOAT, std::vector<float>{5, 3}), (Ids{5, 3}));
  for (const double bad : {1.5, static_cast<double>(NAN), 1e30, -1.0}) {
    small_snapshot(file(), [&](const Hdf5File& made) { add_ids(made, H5T_NATIVE_DOUBLE, std::vector{4.0, bad}); });
    expect_refused("PartType1/ParticleIDs", "row 1", "whole numbers");
  }
}

TEST_F(Hdf5, FollowsNoLinkToAnotherFile) {
  small_snapshot(folder_ / "other.hdf5", [](const Hdf5File&) {});
  for (const char* const name : {"PartType1", "Header"}) {
    {
      const Hdf5File made{file()};
      const hid_t top = made.group("/");
      H5Lcreate_external("other.hdf5", name, top, name, H5P_DEFAULT, H5P_DEFAULT);
      H5Gclose(top);
      if (std::string{name} != "Header") header(made, 2);
    }
    expect_refused(name, "a link to another file");
  }
  {
    const Hdf5File made{file()};
    header(made, 2);
    const hid_t group = made.group("PartType1"), top = made.group("/");
    H5Lcreate_external("other.hdf5", "PartType1/Coordinates", top, "there", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/there", group, "Coordinates", H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(group);
    H5Gclose(top);
  }
  expect_refused("PartType1/Coordinates", "a link to another file");
}

TEST_F(Hdf5, SaysThatAFileMayBeOneOfSeveral) {
  small_snapshot(file(), [](const Hdf5File& made) {
    made.attribute("Header", "NumPart_Total", {0, 32, 0, 0, 0, 0});
    made.attribute("Header", "NumFilesPerSnapshot", {16});
  });
  EXPECT_TRUE(has_note(read_snapshot(file()), "one of 16 files of its snapshot, read alone (2 body records of 32)"));
  small_snapshot(file(), [](const Hdf5File& made) { made.attribute("Header", "NumPart_Total", {0, 32, 0, 0, 0, 0}); });
  EXPECT_TRUE(has_note(read_snapshot(file()), "it may be one of several files"));
  for (const double files : {-3.0, 1e9, static_cast<double>(NAN)}) {
    small_snapshot(file(), [&](const Hdf5File& made) { made.attribute("Header", "NumFilesPerSnapshot", {files}); });
    EXPECT_TRUE(has_note(read_snapshot(file()), "(NumFilesPerSnapshot) is not valid")) << files;
  }
}

TEST_F(Hdf5, NotesMassesThatMassTableContradicts) {
  for (const double mass : {1.0, 2.0}) {
    small_snapshot(file(), [&](const Hdf5File& made) { made.dataset("PartType1", "Masses", 2, 1, {1, mass}); });
    const Snapshot snapshot = read_snapshot(file());
    EXPECT_EQ(snapshot.bodies.positions[1].w, 1);
    EXPECT_EQ(has_note(snapshot, "PartType1/Masses is not read, and differs in 1 row"), mass != 1) << mass;
  }
}

TEST_F(Hdf5, TakesTheSofteningOfParameters) {
  const auto make = [&](auto more) {
    small_snapshot(file(), [&](const Hdf5File& made) {
      made.attribute("Parameters", "SofteningClassOfPartType1", {0});
      made.attribute("Parameters", "SofteningComovingClass0", {0.5});
      more(made);
    });
  };
  make([](const Hdf5File&) {});
  EXPECT_EQ(read_snapshot(file()).properties.softening, (std::vector{0.5f, 0.5f}));
  EXPECT_TRUE(has_note(read_snapshot(file()), "softening lengths are those of the code's parameters"));
  make([](const Hdf5File& made) { made.dataset("PartType1", "Softenings", 2, 1, {0.1, 0.2}); });
  EXPECT_EQ(read_snapshot(file()).properties.softening, (std::vector{0.1f, 0.2f}));
}

/// A cosmological GADGET-4 snapshot from its datasets on.
TEST_F(Hdf5, ReadsGroupsOfParameters) {
  small_snapshot(file(), [](const Hdf5File& made) {
    made.attribute("Header", "Time", {0.5});
    made.attribute("Header", "Redshift", {1});
    made.attribute("Parameters", "ComovingIntegrationOn", {1});
    made.attribute("Parameters", "HubbleParam", {0.7});
    made.attribute("Parameters", "Omega0", {0.3});
    made.dataset("PartType1", "StellarFormationTime", 2, 1, {0.1, 0.4});
  });
  const Snapshot snapshot = read_snapshot(file());
  EXPECT_NEAR(snapshot.units->length_cm / kpc_cm, 0.5 / 0.7, 1e-12);
  EXPECT_TRUE(snapshot.properties.formation_scale_factors);
  for (const char* const name : {"a.txt", "a.ply", "a.checkpoint", "a.hdf5"}) {
    write_snapshot(folder_ / name, snapshot);
    const BodyProperties back = read_snapshot(folder_ / name).properties;
    EXPECT_EQ(back.formation_time, snapshot.properties.formation_time) << name;
    EXPECT_TRUE(back.formation_scale_factors) << name;
  }
  EXPECT_EQ(write_snapshot(folder_ / "a.tipsy", snapshot).lost.front(), "that formation times are scale factors");
}

/// The bytes of a file with bodies of one type, whose datasets are stored in one piece or in chunks.
std::string small_file(const std::filesystem::path& path, bool chunked) {
  {
    const Hdf5File made{path};
    made.attribute("Header", "NumPart_ThisFile", {0, 2, 0, 0, 0, 0});
    made.attribute("Units", "UnitLength_in_cm", {3e21});
    const std::vector<double> places{1, 2, 3, -1, -2, -3};
    made.dataset("PartType1", "Coordinates", 2, 3, places, chunked);
    made.dataset("PartType1", "Masses", 2, 1, {1, 1}, chunked);
    made.dataset("PartType1", "ParticleIDs", 2, 1, {1, 2}, chunked);
  }
  return test::read_bytes(path);
}

TEST_F(Hdf5, NamesAFileThatAWriterLeftOpen) {
  std::string bytes = small_file(file(), false);
  bytes[8] = 3;   // version of the superblock
  bytes[11] = 1;  // open for writing
  test::write_bytes(file(), bytes);
  expect_refused("left so by a program that crashed", "h5clear");
}

TEST_F(Hdf5, NotesUnitsThatCannotBeUsed) {
  const std::vector<std::pair<const char*, double>> good{
      {"UnitLength_in_cm", 3e18}, {"UnitMass_in_g", 2e33}, {"UnitVelocity_in_cm_per_s", 1e5}};
  for (std::size_t bad = 0; bad < good.size(); ++bad) {
    for (const double value : {static_cast<double>(INFINITY), static_cast<double>(NAN), -1.0, 0.0, 1e300}) {
      {
        const Hdf5File made{file()};
        header(made, 2);
        made.dataset("PartType1", "Coordinates", 2, 3, {1, 2, 3, -1, -2, -3});
        for (std::size_t i = 0; i < good.size(); ++i) {
          made.attribute("Units", good[i].first, {i == bad ? value : good[i].second});
        }
      }
      const Snapshot snapshot = read_snapshot(file());
      EXPECT_TRUE(snapshot.units_assumed);
      ASSERT_FALSE(snapshot.notes.empty());
      EXPECT_NE(snapshot.notes[0].find("Units/" + std::string{good[bad].first} + " = "), std::string::npos)
          << snapshot.notes[0];
    }
  }
}

TEST_F(Hdf5, EveryDamagedByteIsReadOrRefusedInOneLine) {
  int refused = 0, read = 0;
  for (const bool chunked : {false, true}) {
    const std::string whole = small_file(file(), chunked);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      // Most bytes are 0, in room that nothing uses: one in 64 of these stands for them.
      if (whole[at] == 0 && at % 64 != 0) continue;
      for (const char value : {'\0', '\xff'}) {
        if (whole[at] == value) continue;
        std::string damaged = whole;
        damaged[at] = value;
        test::write_bytes(file(), damaged);
        try {
          read_snapshot(file());
          ++read;
        } catch (const std::runtime_error& error) {
          ++refused;
          EXPECT_EQ(std::string{error.what()}.find('\n'), std::string::npos) << error.what();
        }
      }
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(read, 500);
}

/// A filter that stands for damage: it ends the process when it unpacks a chunk that begins with `deadly`.
constexpr double deadly = 0.625;
constexpr H5Z_filter_t deadly_filter = 300;  // 256 to 511 are free for tests
std::size_t end_the_process(unsigned flags, std::size_t, const unsigned*, std::size_t bytes, std::size_t*,
                            void** chunk) {
  double first = 0;
  std::memcpy(&first, *chunk, sizeof first);
  if ((flags & H5Z_FLAG_REVERSE) && first == deadly) std::raise(SIGFPE);
  return bytes;
}

TEST_F(Hdf5, TriesOutEveryChunk) {
  const H5Z_class2_t filter{H5Z_CLASS_T_VERS, deadly_filter, 1, 1, "deadly", nullptr, nullptr, end_the_process};
  ASSERT_GE(H5Zregister(&filter), 0);
  constexpr hsize_t rows = 66'000;  // more than are read at once
  for (const bool damaged : {false, true}) {
    std::vector<double> places(3 * rows, 1);
    if (damaged) places[3 * 65'000] = deadly;  // where the last chunk begins
    {
      const Hdf5File made{file()};
      header(made, rows);
      made.dataset("PartType1", "Coordinates", rows, 3, places, /*chunked=*/true, deadly_filter);
    }
    if (damaged) {
      expect_refused("damaged", "Floating point exception");
    } else {
      EXPECT_EQ(read_snapshot(file()).bodies.count(), static_cast<int>(rows));
    }
  }
  H5Zunregister(deadly_filter);
}

/// Refused before libhdf5 converts them, which would divide by zero or read beyond its memory.
TEST_F(Hdf5, RefusesTypesWhoseBitsLieOutside) {
  const std::string whole = small_file(file(), false);
  // Class and version, three bytes of bit field, size, bit offset, precision: a double of libhdf5.
  const std::string type{"\x11\x20\x3f\x00\x08\x00\x00\x00\x00\x00\x40\x00", 12};
  for (const auto& [place, value] : {std::pair{4, '\0'}, {9, '\x10'}, {10, '\x41'}, {10, '\0'}}) {
    std::string damaged = whole;
    int types = 0;
    for (std::size_t at = damaged.find(type); at != std::string::npos; at = damaged.find(type, at + 1)) {
      damaged[at + static_cast<std::size_t>(place)] = value;
      ++types;
    }
    EXPECT_GE(types, 5);
    test::write_bytes(file(), damaged);
    expect_refused("NumPart_ThisFile", "not 1 to 16 numbers");
  }
}

TEST_F(Hdf5, TakesTheRoomOfItsBodies) {
  constexpr int count = 1000;
  write_snapshot(file(), {find_scene("plummer").generate(count, 1).bodies});
  EXPECT_LT(std::filesystem::file_size(file()), 20'000u + 48 * count);
  EXPECT_EQ(read_snapshot(file()).bodies.count(), count);
}

TEST_F(Hdf5, TheSameBodiesAreTheSameBytes) {
  const Snapshot snapshot{.bodies = find_scene("plummer").generate(9, 1).bodies};
  write_snapshot(file(), snapshot);
  std::this_thread::sleep_for(std::chrono::milliseconds{1100});  // libhdf5 would write the second
  write_snapshot(folder_ / "later.hdf5", snapshot);
  EXPECT_EQ(test::read_bytes(folder_ / "later.hdf5"), test::read_bytes(file()));
}

TEST_F(Hdf5, HoldsUnitsThatAreNearlyGadgets) {
  const Snapshot snapshot{.bodies = find_scene("plummer").generate(9, 1).bodies,
                          .units = Units{3.085678e21, 1.989e43, 1e5}};
  const WrittenSnapshot written = write_snapshot(file(), snapshot);
  EXPECT_EQ(written.remark(), "");
  const Snapshot back = read_snapshot(file());
  EXPECT_EQ(back.units, snapshot.units);
  EXPECT_EQ(back.bodies, snapshot.bodies);
}
#else
TEST(Hdf5, IsRefusedWithTheCureInABuildWithoutIt) {
  const TemporaryFolder folder;
  test::write_bytes(folder / "a.hdf5", std::string{"\x89HDF\r\n\x1a\n", 8} + std::string(100, '\0'));
  EXPECT_RUNTIME_ERROR(read_snapshot(folder / "a.hdf5"), "a.hdf5", "libhdf5-dev");
  const Snapshot snapshot{.bodies = find_scene("plummer").generate(9, 1).bodies};
  EXPECT_RUNTIME_ERROR(write_snapshot(folder / "b.hdf5", snapshot), "b.hdf5", "libhdf5-dev");
}
#endif

}  // namespace
}  // namespace orrery
