// Snapshots whose bodies come in pieces are written as those that are all in memory, byte for byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/temporary_folder.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/snapshots/tipsy_file.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;

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
    expect_failure(
        Failure::runtime, [&] { write("a", after, 30, most); }, "rank 1: lost");
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
  expect_failure(
      Failure::runtime, [&] { write_snapshot(folder / "a.tipsy", view); }, "a.tipsy", "the velocity of body 73");
  EXPECT_EQ(read, 8);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.tipsy"));
}

}  // namespace
}  // namespace orrery
