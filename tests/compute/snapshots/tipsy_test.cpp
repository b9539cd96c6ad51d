#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "compute/core/atomic_file.h"
#include "compute/core/process.h"
#include "compute/diagnostics/conserved.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::Failure;
using test::has_note;

using test::TipsyFile;

class EveryByteOrder : public testing::TestWithParam<ByteOrder> {
 protected:
  TemporaryFolder folder_;
};

TEST_P(EveryByteOrder, ReadsGasDarkAndStarInTheOrderOfTheFile) {
  TipsyFile file = TipsyFile::valid(2, 3, 4);
  file.order = GetParam();
  file.time = 12.5;
  test::write_bytes(folder_ / "mixed", file.bytes());
  const Snapshot snapshot = read_snapshot(folder_ / "mixed");
  EXPECT_EQ(snapshot.time, 12.5);
  ASSERT_EQ(snapshot.bodies.count(), 9);
  ASSERT_EQ(snapshot.bodies.velocities.size(), 9u);
  for (std::size_t k = 0; k < 9; ++k) {
    const auto f = static_cast<float>(k);
    EXPECT_EQ(snapshot.bodies.positions[k], (Vec4{f, -f, 0.5f, 1 + f}));
    EXPECT_EQ(snapshot.bodies.velocities[k], (Vec4{0.1f, f, -1, 0}));
  }
}

TEST_P(EveryByteOrder, IgnoresThePadWhereTheCountsAgree) {
  for (const std::uint32_t pad : {0u, 2u, 32550u, 32758u, 0xffffffffu}) {
    TipsyFile file = TipsyFile::valid(0, 1, 1);
    file.order = GetParam();
    file.pad = pad;
    test::write_bytes(folder_ / "padded", file.bytes());
    EXPECT_EQ(read_snapshot(folder_ / "padded").bodies.count(), 2) << pad;
  }
}

TEST_P(EveryByteOrder, WrittenAndReadBackGivesTheSameBits) {
  Bodies bodies = find_scene("collision").generate(40000, 9).bodies;  // more than two blocks
  bodies.positions[1] = {-0.0f, std::numeric_limits<float>::denorm_min(), SnapshotLimits::largest,
                         SnapshotLimits::smallest_mass};
  const Snapshot snapshot{.bodies = bodies, .time = 0.1, .softening = 0.25f};
  write_snapshot(folder_ / "copy", snapshot, {GetParam()});
  const Snapshot back = read_snapshot(folder_ / "copy");
  EXPECT_EQ(back.time, snapshot.time);
  EXPECT_TRUE(back.bodies == bodies);
  EXPECT_TRUE(std::signbit(back.bodies.positions[1].x));
}

TEST_P(EveryByteOrder, WritesExactlyTheDocumentedBytes) {
  const Bodies bodies{{{1, 2, 3, 4}}, {{5, 6, 7, 0}}};
  write_snapshot(folder_ / "one", {.bodies = bodies, .time = 1.5, .softening = 0.25f}, {GetParam()});
  TipsyFile expected{.order = GetParam(), .time = 1.5, .bodies = 1, .dark = 1};
  expected.values = {4, 1, 2, 3, 5, 6, 7, 0.25f, 0};
  EXPECT_EQ(test::read_bytes(folder_ / "one"), expected.bytes());
}

TEST_P(EveryByteOrder, ReadWrittenAndReadAgainKeepsEveryField) {
  TipsyFile file = TipsyFile::valid(1, 2, 1);
  file.order = GetParam();
  file.time = -3.25;
  const float gas[]{2, 1, 1, 1, 0, 0, 0, /*density*/ 9, /*temperature*/ 1e4f, /*softening*/ 0.1f, /*metals*/ 0.02f, 7};
  const float dark[]{3, 2, 2, 2, 0, 0, 0, /*softening*/ 0.2f, 7};
  const float star[]{4, 3, 3, 3, 0, 0, 0, /*metals*/ 0.01f, /*formation time*/ -12, /*softening*/ 0.3f, 7};
  file.values.assign(std::begin(gas), std::end(gas));
  for (int i = 0; i < 2; ++i) file.values.insert(file.values.end(), std::begin(dark), std::end(dark));
  file.values.insert(file.values.end(), std::begin(star), std::end(star));
  test::write_bytes(folder_ / "all", file.bytes());

  const Snapshot snapshot = read_snapshot(folder_ / "all");
  EXPECT_EQ(snapshot.properties, (BodyProperties{.ids = {},
                                                 .species = {Species::gas, Species::dark, Species::dark, Species::star},
                                                 .softening = {0.1f, 0.2f, 0.2f, 0.3f},
                                                 .temperature = {1e4f, 0, 0, 0},
                                                 .metals = {0.02f, 0, 0, 0.01f},
                                                 .formation_time = {0, 0, 0, -12}}));
  write_snapshot(folder_ / "copy", snapshot, {GetParam()});
  file.values[7] = 0;  // density and potential follow from the positions and are not kept
  for (const std::size_t potential : {11, 20, 29, 40}) file.values[potential] = 0;
  EXPECT_EQ(test::read_bytes(folder_ / "copy"), file.bytes());
}

TEST_P(EveryByteOrder, ReadsTheIdsOfBonsaisSecondVersion) {
  TipsyFile file = TipsyFile::valid(0, 1, 1);
  file.order = GetParam();
  file.pad = 2;
  const std::uint64_t ids[]{0x1'0000'0002, 0x2'0000'0003};
  const bool big = GetParam() == ByteOrder::big;
  for (const std::size_t body : {0, 1}) {
    const float low = std::bit_cast<float>(static_cast<std::uint32_t>(ids[body])),
                high = std::bit_cast<float>(static_cast<std::uint32_t>(ids[body] >> 32));
    const std::size_t last = body == 0 ? 8 : 19;
    file.values[last - 1] = big ? high : low;
    file.values[last] = big ? low : high;
  }
  test::write_bytes(folder_ / "bonsai", file.bytes());
  const BodyProperties properties = read_snapshot(folder_ / "bonsai").properties;
  EXPECT_EQ(properties.ids, (std::vector<std::uint64_t>{ids[0], ids[1]}));
  EXPECT_TRUE(properties.softening.empty()) << "the ids are in its place";
  EXPECT_EQ(properties.species, (std::vector<Species>{Species::dark, Species::star}));
}

TEST_P(EveryByteOrder, ReadsTheIdsOfBonsaisFirstVersionWhereTheyAreNoPotentials) {
  TipsyFile file = TipsyFile::valid(0, 2, 2);
  file.order = GetParam();
  const auto ids_with = [&](std::vector<std::uint32_t> words) {
    for (const std::size_t i : {0, 1, 2, 3}) {
      file.values[std::array{8, 17, 28, 39}[i]] = std::bit_cast<float>(words[i]);
    }
    test::write_bytes(folder_ / "bonsai", file.bytes());
    const BodyProperties properties = read_snapshot(folder_ / "bonsai").properties;
    EXPECT_EQ(properties.softening.size(), 4u) << "it has its place";
    return properties.ids;
  };
  EXPECT_EQ(ids_with({200000001, 200000000, 100000000, 7}),
            (std::vector<std::uint64_t>{200000001, 200000000, 100000000, 7}));
  EXPECT_TRUE(ids_with({200000001, 200000001, 100000000, 7}).empty()) << "an id twice";
  EXPECT_TRUE(ids_with({100000001, 200000001, 100000000, 7}).empty()) << "a dark body with a star's id";
  EXPECT_TRUE(ids_with({200000002, 200000001, 200000000, 7}).empty()) << "a star with a dark body's id";
  EXPECT_TRUE(ids_with({0xbf800000, 0xbf000000, 0xbf400000, 0xbf600000}).empty()) << "potentials";
  EXPECT_TRUE(ids_with({0, 0, 0, 0}).empty()) << "no potentials";
}

TEST_P(EveryByteOrder, DarkBodiesWithoutLengthsNeedNoProperties) {
  const Bodies bodies = find_scene("plummer").generate(100, 1).bodies;
  write_snapshot(folder_ / "plain", {bodies}, {GetParam()});
  EXPECT_EQ(read_snapshot(folder_ / "plain").properties, BodyProperties{});
}

INSTANTIATE_TEST_SUITE_P(Orders, EveryByteOrder, testing::Values(ByteOrder::big, ByteOrder::little),
                         [](const auto& instance) { return instance.param == ByteOrder::big ? "big" : "little"; });

TEST(TipsyFileTest, AcceptsOneToThreeDimensions) {
  const TemporaryFolder folder;
  for (const std::uint32_t dimensions : {1u, 2u, 3u}) {
    TipsyFile file = TipsyFile::valid(0, 2, 0);
    file.dimensions = dimensions;
    test::write_bytes(folder / "flat", file.bytes());
    EXPECT_EQ(read_snapshot(folder / "flat").bodies.count(), 2);
  }
}

TEST(TipsyFileTest, ReadsTheSampleGalaxy) {
  const std::filesystem::path file = std::filesystem::path{ORRERY_SHARED_DATA} / "galaxy_20K.bin";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not here";
  const Scene scene = load_scene({.file = file.string()});
  EXPECT_EQ(scene.name, "galaxy_20K.bin");
  ASSERT_EQ(scene.bodies.count(), 20000);
  EXPECT_EQ(scene.bodies.positions.front().w, 0.04270478f);
  EXPECT_EQ(scene.bodies.positions.front().x, 0.47185373f);
  ASSERT_EQ(scene.properties.ids.size(), 20000u);
  EXPECT_EQ(scene.properties.ids.front(), 200000000u);
  EXPECT_EQ(scene.properties.ids.back(), 14999u);
  EXPECT_EQ(std::ranges::count(scene.properties.species, Species::dark), 2500);
  EXPECT_EQ(std::ranges::count(scene.properties.species, Species::star), 17500);
  const Conserved sums = conserved(scene.bodies, Law{.softening = scene.softening});
  EXPECT_NEAR(-sums.kinetic / sums.potential, 0.5, 0.01);  // in virial equilibrium
  EXPECT_GT(scene.softening, 0.03f);
  EXPECT_LT(scene.softening, 0.3f);  // its own softening lengths: 0.13 to 0.44
  EXPECT_GT(scene.time_step, 0.003f);
  EXPECT_LT(scene.time_step, 0.06f);  // a circular orbit in the densest tenth takes about 5
}

TEST(TipsyAuxiliary, NamesWhatIsNotReadAndOnlyThat) {
  const TemporaryFolder folder;
  const auto unread = [&](const TipsyFile& file) {
    test::write_bytes(folder / "a.tipsy", file.bytes());
    return read_snapshot(folder / "a.tipsy").unread;
  };
  EXPECT_EQ(unread(TipsyFile::valid(1, 1, 1)), (std::vector<std::string>{"density of gas", "potential"}));
  EXPECT_EQ(unread(TipsyFile::valid(0, 1, 0)), (std::vector<std::string>{"potential"}));
  TipsyFile without = TipsyFile::valid(1, 0, 0);
  without.values[7] = without.values[11] = 0;
  EXPECT_TRUE(unread(without).empty());
}

TEST(TipsyAuxiliary, HoldsIds) {
  const TemporaryFolder folder;
  Snapshot snapshot{.bodies = find_scene("plummer").generate(3, 1).bodies};
  snapshot.properties.ids = {7, 1ull << 40, 3};
  const WrittenSnapshot written = write_snapshot(folder / "a.tipsy", snapshot);
  ASSERT_EQ(written.files.size(), 2u);
  EXPECT_EQ(test::read_bytes(folder / "a.tipsy.iord"), "3\n7\n1099511627776\n3\n");
  EXPECT_EQ(read_snapshot(folder / "a.tipsy").properties.ids, snapshot.properties.ids);
  for (const char* text : {"2\n7\n8\n", "3\n7\n", "3\n7\nx\n9\n", "3\n7\n8\n9\n10\n", ""}) {
    test::write_bytes(folder / "a.tipsy.iord", text);
    const Snapshot back = read_snapshot(folder / "a.tipsy");
    EXPECT_TRUE(back.properties.ids.empty()) << text;
    ASSERT_EQ(back.notes.size(), 1u);
    EXPECT_NE(back.notes[0].find("a.tipsy.iord"), std::string::npos) << back.notes[0];
  }
  std::filesystem::remove(folder / "a.tipsy");
  EXPECT_RUNTIME_ERROR(write_snapshot(folder / "a.tipsy", snapshot), "a.tipsy.iord", "other bodies");
  snapshot.properties.ids = {};
  write_snapshot(folder / "a.tipsy", snapshot, {.existing = Existing::replace});
  EXPECT_TRUE(read_snapshot(folder / "a.tipsy").properties.ids.empty()) << "not those of the bodies before";
}

class TipsyErrors : public test::SnapshotFileTest {
 protected:
  TipsyErrors() : SnapshotFileTest{"bad.tipsy"} {}
};

TEST_F(TipsyErrors, AMissingFileAFolderAndAnEmptyFile) {
  EXPECT_RUNTIME_ERROR(read_snapshot(folder_ / "nowhere"), "nowhere", "no such file");
  EXPECT_RUNTIME_ERROR(read_snapshot(folder_.path()), "a folder");
  EXPECT_RUNTIME_ERROR(read_snapshot("/dev/null"), "/dev/null", "not a regular file");
  expect_refused("", "empty");
}

TEST_F(TipsyErrors, AFileThatMayNotBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  test::write_bytes(folder_ / "secret", TipsyFile::valid(0, 1, 0).bytes());
  std::filesystem::permissions(folder_ / "secret", std::filesystem::perms::none);
  EXPECT_RUNTIME_ERROR(read_snapshot(folder_ / "secret"), "secret", "Permission denied");
}

TEST_F(TipsyErrors, HeadersThatMakeNoSense) {
  expect_refused(std::string(31, 'x'), "31 bytes", "32");
  expect_refused(std::string(500, 'x'), "not a TIPSY file", "dimensions");
  TipsyFile file = TipsyFile::valid(0, 2, 0);
  file.dimensions = 4;
  expect_refused(file.bytes(), "not a TIPSY file", "dimensions");
  file = TipsyFile::valid(0, 1, 0);
  file.time = std::numeric_limits<double>::quiet_NaN();
  expect_refused(file.bytes(), "time", "not finite");
  expect_refused(TipsyFile{}.bytes(), "without bodies");
}

TEST_F(TipsyErrors, CountsThatContradictEachOtherWhateverThePadHolds) {
  for (const std::uint32_t pad : {0u, 32550u, 2u, 0xffffffffu, 0xdeadbeefu}) {
    TipsyFile file = TipsyFile::valid(1, 2, 3);
    file.pad = pad;
    file.bodies = 7;
    expect_refused(file.bytes(), "7 body records", "1 gas + 2 dark + 3 star");
  }
}

TEST_F(TipsyErrors, AFileLongerOrShorterThanItsHeaderSays) {
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    TipsyFile file = TipsyFile::valid(1, 2, 3);
    file.order = order;
    const std::string whole = file.bytes();
    ASSERT_EQ(whole.size(), 32u + 48 + 2 * 36 + 3 * 44);
    expect_refused(whole.substr(0, whole.size() - 1), "truncated", "1 byte missing", "284 bytes", "has 283");
    expect_refused(whole.substr(0, 32), "truncated", "252 bytes missing");
    expect_refused(whole + "abc", "oversized", "3 bytes too many");
  }
}

TEST_F(TipsyErrors, MoreBodiesThanCanBeHeld) {
  // A file with holes: its header asks for the whole length, no disk is used.
  const auto expect_refused_of_length = [&](const TipsyFile& file, std::uint64_t length, const auto&... parts) {
    test::write_bytes(folder_ / "huge", file.bytes());
    std::error_code error;
    std::filesystem::resize_file(folder_ / "huge", length, error);
    if (error) GTEST_SKIP() << "this file system has no file of " << length << " bytes";
    EXPECT_RUNTIME_ERROR(read_snapshot(folder_ / "huge"), "huge", parts...);
  };
  TipsyFile many{.bodies = 3000000000u, .dark = 3000000000u};
  expect_refused_of_length(many, 32 + 3000000000u * 36ull, "3,000,000,000", "2,147,483,647");
  // The pad's lowest byte holds bits 32 to 39 of the number of bodies: 1 + 4 + (2^32 - 1) = 4 + 2^32.
  const TipsyFile more{.bodies = 4, .gas = 1, .dark = 4, .star = 0xffffffffu, .pad = 1};
  expect_refused_of_length(more, 32 + 48 + 4 * 36 + 0xffffffffu * 44ull, "4,294,967,300", "2,147,483,647");

  constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
  if (bodies_that_fit(file_bytes_per_body) >= most) GTEST_SKIP() << "this machine's memory holds any number of bodies";
  const TipsyFile large{.bodies = most, .dark = most};
  expect_refused_of_length(large, 32 + most * 36ull, "2,147,483,647", "memory");
}

// As many fit as the use leaves room for: a conversion takes less than a simulation.
TEST_F(TipsyErrors, MoreBodiesThanFitAtTheBytesThatTheirUseTakes) {
  write_snapshot(folder_ / "some.tipsy", {{{{0, 0, 0, 1}, {1, 0, 0, 1}}, {{}, {}}}});
  EXPECT_EQ(read_snapshot(folder_ / "some.tipsy").bodies.count(), 2);
  constexpr std::int64_t too_many_bytes = std::int64_t{1} << 60;
  EXPECT_RUNTIME_ERROR(read_snapshot(folder_ / "some.tipsy", {}, too_many_bytes), "2 body records",
                       "the free memory holds 0");
  EXPECT_GT(bodies_that_fit(file_bytes_per_body), bodies_that_fit(simulation_bytes_per_body));
}

TEST_F(TipsyErrors, BodiesThatCannotBeSimulated) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr std::size_t gas_floats = 12, dark_floats = 9, star_floats = 11;
  const struct {
    std::size_t offset;  // of the record's first float in the file of one gas, two dark and two star records
    const char* name;
  } records[] = {{0, "gas record 0"},
                 {gas_floats + dark_floats, "dark record 1"},
                 {gas_floats + 2 * dark_floats + star_floats, "star record 1"}};
  const struct {
    std::size_t index;
    float value;
    const char* cause;
  } faults[] = {{0, -1, "mass below 0"},
                {0, nan, "mass that is not finite"},
                {0, infinity, "mass that is not finite"},
                {1, nan, "position that is not"},
                {2, infinity, "position that is not"},
                {3, -infinity, "position that is not"},
                {4, nan, "velocity that is not"},
                {5, infinity, "velocity that is not"},
                {6, nan, "velocity that is not"},
                {0, 2e15f, "mass above 1e15"},
                {0, 5e-31f, "mass below 1e-30"},
                {1, 3e21f, "coordinate beyond 1e15"},
                {3, -2e15f, "coordinate beyond 1e15"},
                {5, -3e38f, "velocity beyond 1e15"}};
  for (const auto& record : records) {
    for (const auto& fault : faults) {
      TipsyFile file = TipsyFile::valid(1, 2, 2);
      file.values[record.offset + fault.index] = fault.value;
      expect_refused(file.bytes(), record.name, fault.cause);
    }
  }
  const struct {
    std::size_t index;  // of the float among all of a gas and of a star record
    const char* cause;
  } properties[] = {{8, "gas record 0 (counted from 0): a temperature that is not finite"},
                    {9, "gas record 0 (counted from 0): a softening that is not finite"},
                    {gas_floats + 2 * dark_floats + 7, "star record 0 (counted from 0): metals that is not finite"},
                    {gas_floats + 2 * dark_floats + 8, "star record 0 (counted from 0): a formation time that is not"}};
  for (const auto& [index, cause] : properties) {
    TipsyFile file = TipsyFile::valid(1, 2, 2);
    file.values[index] = nan;
    expect_refused(file.bytes(), "byte ", cause);
  }
  TipsyFile in_centimetres = TipsyFile::valid(0, 1, 0);
  in_centimetres.values[1] = 3e21f;
  expect_refused(in_centimetres.bytes(), "dark record 0", "single precision", "rescale the units");
}

TEST_F(TipsyErrors, WritingBodiesThatAreNotFinite) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  test::write_bytes(folder_ / "kept", "precious");
  const Bodies good = find_scene("plummer").generate(9, 1).bodies;
  const auto refused = [&](const Bodies& bodies, const char* body, const char* file) {
    EXPECT_RUNTIME_ERROR(write_snapshot(folder_ / file, {bodies}), file, body, "not finite");
  };
  for (float Vec4::*member : {&Vec4::x, &Vec4::z, &Vec4::w}) {
    Bodies bad = good;
    bad.positions[4].*member = nan;
    refused(bad, "body 4", "new");
  }
  Bodies bad = good;
  bad.velocities[8].y = -std::numeric_limits<float>::infinity();
  refused(bad, "velocity of body 8", "kept");
  EXPECT_EQ(test::read_bytes(folder_ / "kept"), "precious");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder_.path()}, {}), 1);
}

TEST_F(TipsyErrors, AFailedWriteKeepsTheOldFileAndLeavesNothingBehind) {
  test::write_bytes(folder_ / "kept", "precious");
  const Snapshot snapshot{find_scene("plummer").generate(5000, 1).bodies};
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tight{65536, before.rlim_max};  // like a disk that fills up while the file is written
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const Failure failure =
      test::failure_of([&] { write_snapshot(folder_ / "kept", snapshot, {.existing = Existing::replace}); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(failure.kind, Failure::runtime);
  EXPECT_NE(failure.message.find("kept': File too large"), std::string::npos) << failure.message;
  EXPECT_EQ(test::read_bytes(folder_ / "kept"), "precious");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder_.path()}, {}), 1);
}

Snapshot bodies_with(const std::optional<Units>& units) {
  return {.bodies = {{{1, 2, 3, 1}, {-1, 0, 1, 2}}, {{0, 1, 0, 0}, {1, 0, 0, 0}}}, .units = units};
}

class TipsyParameters : public testing::Test {
 protected:
  std::optional<Units> units_of(const char* name) { return read_snapshot(folder_ / name).units; }
  template <class... Parts>
  void expect_refused(const char* name, const std::optional<Units>& units, Existing existing, const Parts&... parts) {
    EXPECT_RUNTIME_ERROR(write_snapshot(folder_ / name, bodies_with(units), {.existing = existing}), parts...);
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
  EXPECT_RUNTIME_ERROR(read_snapshot(folder_ / "a.tipsy"), "units are not known", "--units", "--cosmological no");
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
