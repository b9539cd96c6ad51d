// Every format: what it holds, and bodies in pieces, which are written as those that are all in memory.
#include "compute/snapshots/snapshot_format.h"

#include "compute/core/temporary_folder.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/snapshot_input.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::TipsyFile;

/// Bodies that have everything, the species in no order. The units are those of the format's numbers.
Snapshot full_snapshot(UnitRule rule = UnitRule::gravity) {
  return {.bodies = find_scene("plummer").generate(6, 1).bodies,
          .properties = {.ids = {50, (1ull << 40) + 40, 30, 20, 10, 60},
                         .species = {Species::star, Species::dark, Species::gas, Species::disc, Species::bulge,
                                     Species::boundary},
                         .softening = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f},
                         .temperature = {0, 0, 1e4f, 0, 0, 0},
                         .metals = {0.01f, 0, 0.02f, 0, 0, 0},
                         .formation_time = {-1, 0, 0, 0, 0, 0}},
          .time = 2.5,
          .units = rule == UnitRule::gravity ? gravity_units(2 * kpc_cm, 3e9 * solar_mass_g) : galactic_units};
}

class EveryFormat : public testing::TestWithParam<const SnapshotFormat*> {
 protected:
  void SetUp() override {
    if (!ORRERY_TEST_HDF5 && std::string{GetParam()->id} == "hdf5") GTEST_SKIP() << "a build without libhdf5";
  }
  std::filesystem::path file() const {
    return folder_.path() / ("snapshot" + std::string{GetParam()->endings.front()});
  }

  TemporaryFolder folder_;
};

TEST_P(EveryFormat, DetectsWhatItWrote) {
  write_snapshot(file(), full_snapshot());
  std::filesystem::rename(file(), folder_ / "nameless");
  EXPECT_EQ(read_snapshot(folder_ / "nameless").bodies.count(), 6);
  const std::string bytes = test::read_bytes(folder_ / "nameless");
  const auto head = std::as_bytes(std::span{bytes}).first(std::min(bytes.size(), SnapshotInput::head_bytes));
  EXPECT_EQ(read_any_snapshot(folder_ / "nameless").format, GetParam());
  for (const SnapshotFormat* format : snapshot_formats()) {
    if (format != snapshot_formats().front()) {  // TIPSY has no mark
      EXPECT_EQ(format->detect(head, bytes.size()), format == GetParam()) << format->id;
    }
    EXPECT_FALSE(format->detect(head.first(3), 3)) << format->id;
  }
}

TEST_P(EveryFormat, GivesBackWhatItClaimsToHold) {
  const Snapshot all = full_snapshot(GetParam()->units);
  write_snapshot(file(), all);
  const Snapshot back = read_snapshot(file());
  const SnapshotFormat::Holds& holds = GetParam()->holds;
  ASSERT_EQ(back.bodies.count(), 6);
  EXPECT_EQ(back.units && !back.units_assumed, holds.units);
  if (holds.units) {
    EXPECT_TRUE(nearly_equal(*back.units, *all.units, 1e-15)) << units_text(*back.units);
  }
  EXPECT_EQ(back.time, holds.time ? 2.5 : 0);
  EXPECT_EQ(back.properties.ids.empty(), !holds.ids);
  for (std::size_t i = 0; i < 6; ++i) {
    const Vec4& position = back.bodies.positions[i];
    const auto& found = std::ranges::find_if(all.bodies.positions, [&](const Vec4& p) {
      return p.x == position.x && p.y == position.y && p.z == position.z;
    });
    ASSERT_NE(found, all.bodies.positions.end()) << "body " << i;
    const std::size_t was = static_cast<std::size_t>(found - all.bodies.positions.begin());
    if (holds.masses) {
      EXPECT_EQ(position.w, all.bodies.positions[was].w);
    }
    EXPECT_EQ(back.bodies.velocities[i], holds.velocities ? all.bodies.velocities[was] : Vec4{});
    const auto expect_kept = [&](const auto& now, const auto& before, bool held, const char* name) {
      ASSERT_EQ(now.size(), held ? 6u : 0u) << name;
      if (held) {
        EXPECT_EQ(now[i], before[was]) << name << " of body " << i;
      }
    };
    const BodyProperties &now = back.properties, &before = all.properties;
    if (holds.components) {
      expect_kept(now.species, before.species, true, "species");
    } else if (holds.species) {
      EXPECT_EQ(now.species[i], plain_species(before.species[was]));
    }
    expect_kept(now.ids, before.ids, holds.ids, "ids");
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
    EXPECT_FALSE(format->endings.front().empty());
    for (const std::string_view ending : format->endings) {
      if (ending.empty()) continue;
      EXPECT_TRUE(endings.insert(std::string{ending}).second) << ending;
      EXPECT_EQ(ending[0], '.');
    }
  }
}

TEST(SnapshotFormats, AnUnknownOneIsRefusedWithTheKnownOnes) {
  const TemporaryFolder folder;
  for (const std::string& bytes : {std::string(3, 'x'), std::string(500, 'x')}) {
    test::write_bytes(folder / "notes.pdf", bytes);
    EXPECT_RUNTIME_ERROR(read_snapshot(folder / "notes.pdf"), "notes.pdf", "TIPSY");
  }
}

TEST(SnapshotFormats, SayWhatTheyLeaveOut) {
  SnapshotFormat format = *snapshot_formats().front();
  const Snapshot snapshot = full_snapshot();
  format.holds = {true, true, true, true, true, true, true, true, true, true, true};
  using Names = std::vector<std::string>;
  EXPECT_EQ(left_out(format, view_of(snapshot)), Names{});
  format.holds = {.masses = false};
  EXPECT_EQ(left_out(format, view_of(snapshot)), (Names{"masses", "velocities", "time", "ids", "species", "softening",
                                                        "temperature", "metals", "formation time", "units"}));
  Snapshot galactic{.bodies = find_scene("plummer").generate(5, 1).bodies, .units = galactic_units};
  format.holds = {.velocities = true};
  EXPECT_EQ(left_out(format, view_of(galactic)), Names{"units"});
  format.units = UnitRule::galactic;
  EXPECT_EQ(left_out(format, view_of(galactic)), Names{}) << "its readers take them";
  galactic.units->length_cm *= 2;
  EXPECT_EQ(left_out(format, view_of(galactic)), Names{"units"});
  const Bodies plain = find_scene("plummer").generate(5, 1).bodies;
  EXPECT_EQ(left_out(format, view_of({plain})), Names{}) << "there is nothing else";
  EXPECT_EQ(left_out(format, view_of({with_digits(plain, Digits::compensated)})), Names{"low words"});
  format.holds.species = true;
  EXPECT_EQ(left_out(format, view_of(snapshot))[2], "disc, bulge or boundary as species");
  Snapshot odd = snapshot;
  odd.properties.temperature[1] = odd.properties.metals[1] = odd.properties.formation_time[2] = 5;
  format.holds = {true, true, true, true, true, true, true, true, true, true, true, true};
  EXPECT_EQ(left_out(format, view_of(snapshot)), Names{}) << "temperature of gas, metals of gas and stars";
  EXPECT_EQ(left_out(format, view_of(odd)),
            (Names{"temperature of bodies other than gas", "metals of bodies other than gas and stars",
                   "formation time of bodies other than stars"}));
}

TEST(SnapshotFormats, TellTheWriterWhatIsLeftOutAndWhetherTheOrderChanges) {
  const TemporaryFolder folder;
  Snapshot snapshot = full_snapshot();
  const WrittenSnapshot full = write_snapshot(folder / "a.tipsy", snapshot);
  EXPECT_EQ(full.lost, (std::vector<std::string>{"disc, bulge or boundary as species"}));
  EXPECT_TRUE(full.reordered);
  EXPECT_NE(full.remark().find("by species"), std::string::npos) << full.remark();
  EXPECT_FALSE(write_snapshot(folder / "a.txt", snapshot).reordered);
  snapshot.properties.ids = {};
  snapshot.properties.species = {};
  EXPECT_EQ(
      write_snapshot(folder / "b.tipsy", snapshot).lost,
      (std::vector<std::string>{"temperature of bodies other than gas", "metals of bodies other than gas and stars",
                                "formation time of bodies other than stars"}));
  snapshot.properties = {};
  EXPECT_EQ(write_snapshot(folder / "c.tipsy", snapshot).remark(), "");
}

TEST(SnapshotFormats, ThatGroupSpeciesKeepTheOrderInIds) {
  const TemporaryFolder folder;
  Snapshot snapshot = full_snapshot();
  snapshot.properties.ids = {};
  for (const char* name : {"a.tipsy", "a.gadget"}) {
    const WrittenSnapshot written = write_snapshot(folder / name, snapshot);
    EXPECT_TRUE(written.reordered);
    const Snapshot back = read_snapshot(written.file());
    ASSERT_EQ(back.properties.ids.size(), 6u) << name;
    const std::size_t first = name == std::string{"a.gadget"} ? 1 : 0;
    for (std::size_t i = 0; i < 6; ++i) {
      const std::size_t was = back.properties.ids[i] - first;
      ASSERT_LT(was, 6u);
      EXPECT_EQ(back.bodies.positions[i].w > 0, true);
      EXPECT_EQ(plain_species(back.properties.species[i]), plain_species(snapshot.properties.species[was])) << name;
    }
  }
}

/// Bodies in pieces of this size, of which each takes the memory of the one before. After so many, a rank is lost.
class InPieces final : public BodySource {
 public:
  InPieces(const Bodies& all, std::size_t size, int most, int& read)
      : BodySource{all.positions.size(), all.digits()}, all_{all}, size_{size}, most_{most}, read_{read} {}

 protected:
  Piece piece_with(std::size_t body) override {
    if (read_ == most_) throw std::runtime_error("rank 1: lost");
    ++read_;
    const std::size_t first = body / size_ * size_, last = std::min(first + size_, count());
    const auto take = [&](std::vector<Vec4>& piece, const std::vector<Vec4>& all) {
      std::ranges::fill(piece, Vec4{-1, -2, -3, -4});
      if (!all.empty()) piece.assign(&all[first], &all[first] + (last - first));
    };
    take(piece_.positions, all_.positions);
    take(piece_.velocities, all_.velocities);
    take(piece_.positions_low, all_.positions_low);
    take(piece_.velocities_low, all_.velocities_low);
    return piece_of(piece_, first);
  }

 private:
  const Bodies& all_;
  const std::size_t size_;
  const int most_;
  int& read_;
  Bodies piece_;
};

constexpr int count = 100;
constexpr int all_pieces = std::numeric_limits<int>::max();

Snapshot dark_snapshot() {
  return {.bodies = test::random_ball(count), .time = 2.5, .softening = 0.25f};
}

/// With everything that bodies can have, the species in no order.
Snapshot rich_snapshot() {
  Snapshot snapshot = dark_snapshot();
  snapshot.bodies = with_digits(std::move(snapshot.bodies), Digits::compensated);
  BodyProperties& has = snapshot.properties;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(i + 1);
    snapshot.bodies.positions_low[i] = {1e-9f * value, 0, -1e-9f, 0};
    snapshot.bodies.velocities_low[i] = {0, 1e-9f * value, 0, 0};
    has.ids.push_back((std::uint64_t{1} << 40) - 7 * i);
    has.species.push_back(static_cast<Species>(i * i % species_count));
    for (std::vector<float>* const values : {&has.softening, &has.temperature, &has.metals, &has.formation_time}) {
      values->push_back(0.01f * value);
    }
  }
  return snapshot;
}

class EveryFormatInPieces : public testing::TestWithParam<const SnapshotFormat*> {
 protected:
  void SetUp() override {
    if (!ORRERY_TEST_HDF5 && std::string{GetParam()->id} == "hdf5") GTEST_SKIP() << "a build without libhdf5";
  }
  std::filesystem::path file(const std::string& folder) const {
    std::filesystem::create_directories(folder_.path() / folder);
    return folder_.path() / folder / ("snapshot" + std::string{GetParam()->endings.front()});
  }
  /// By name.
  std::map<std::string, std::string> files_in(const std::string& folder) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator{folder_.path() / folder}) {
      files[entry.path().filename().string()] = test::read_bytes(entry.path());
    }
    return files;
  }
  /// Returns the number of pieces that were read.
  int write(const std::string& folder, const Snapshot& snapshot, std::size_t size, int most = all_pieces) {
    int read = 0;
    SnapshotView view = view_of(snapshot);
    view.bodies = std::make_unique<InPieces>(snapshot.bodies, size, most, read);
    write_snapshot(file(folder), view, {.existing = Existing::replace});
    return read;
  }

  TemporaryFolder folder_;
};

TEST_P(EveryFormatInPieces, HasTheBytesOfAllAtOnce) {
  const std::optional<Units> all_units[] = {std::nullopt, galactic_units, gravity_units(2 * kpc_cm, 3e9 * solar_mass_g),
                                            Units{kpc_cm, solar_mass_g, 2e5}};
  int number = 0;
  for (Snapshot snapshot : {dark_snapshot(), rich_snapshot()}) {
    for (const std::optional<Units>& units : all_units) {
      snapshot.units = units;
      const std::string name = std::to_string(number++);
      write_snapshot(file(name), snapshot);
      const auto expected = files_in(name);
      EXPECT_FALSE(expected.empty());
      for (const std::size_t size : {1, 7, 50, 1000}) {
        const std::string pieces = name + " in pieces of " + std::to_string(size);
        write(pieces, snapshot, size);
        EXPECT_EQ(files_in(pieces), expected) << pieces;
      }
    }
  }
}

TEST_P(EveryFormatInPieces, ReadsEachPieceOnceInAFewPasses) {
  constexpr int most_passes = 8, size = 10;
  Snapshot snapshot = dark_snapshot();
  EXPECT_EQ(write("one piece", snapshot, count), 1);
  const int read = write("ten pieces", snapshot, size);
  EXPECT_EQ(read % (count / size), 0);
  EXPECT_LE(read, most_passes * count / size);
}

TEST_P(EveryFormatInPieces, LeavesTheFilesThatWereThereWhereARankIsLost) {
  const Snapshot before = rich_snapshot();
  Snapshot after = before;
  after.time = 3;
  for (Vec4& position : after.bodies.positions) position.x += 1;
  write("a", before, count);
  const auto expected = files_in("a");
  const int all = write("b", after, 30);
  EXPECT_GE(all, 2 * 4);
  for (int most = 0; most < all; ++most) {
    EXPECT_RUNTIME_ERROR(write("a", after, 30, most), "rank 1: lost");
    EXPECT_EQ(files_in("a"), expected) << most;
  }
  EXPECT_EQ(write("a", after, 30, all), all);
  EXPECT_EQ(files_in("a"), files_in("b"));
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryFormatInPieces,
                         testing::ValuesIn(snapshot_formats().begin(), snapshot_formats().end()),
                         [](const auto& instance) { return std::string{instance.param->id}; });

TEST(SnapshotInPieces, RefusesABodyOfALaterPieceByItsPlaceAmongAll) {
  const TemporaryFolder folder;
  Snapshot snapshot = dark_snapshot();
  snapshot.bodies.velocities[73].y = std::numeric_limits<float>::quiet_NaN();
  int read = 0;
  SnapshotView view = view_of(snapshot);
  view.bodies = std::make_unique<InPieces>(snapshot.bodies, 10, all_pieces, read);
  EXPECT_RUNTIME_ERROR(write_snapshot(folder / "a.tipsy", view), "a.tipsy", "the velocity of body 73");
  EXPECT_EQ(read, 8);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.tipsy"));
}

}  // namespace
}  // namespace orrery
