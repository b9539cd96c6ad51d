#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

#include "compute/core/temporary_folder.h"
#include "compute/diagnostics/conserved.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

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

TEST(TipsyFileTest, ReplacesAFileAndKeepsALink) {
  const TemporaryFolder folder;
  test::write_bytes(folder / "real", "old");
  std::filesystem::create_symlink("real", folder / "link");
  write_snapshot(folder / "link", {find_scene("plummer").generate(3, 1).bodies}, {.existing = Existing::replace});
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_snapshot(folder / "real").bodies.count(), 3);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder.path()}, {}), 2) << "something was left over";
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
  test::expect_failure(
      test::Failure::runtime, [&] { write_snapshot(folder / "a.tipsy", snapshot); }, "a.tipsy.iord", "other bodies");
  snapshot.properties.ids = {};
  write_snapshot(folder / "a.tipsy", snapshot, {.existing = Existing::replace});
  EXPECT_TRUE(read_snapshot(folder / "a.tipsy").properties.ids.empty()) << "not those of the bodies before";
}

}  // namespace
}  // namespace orrery
