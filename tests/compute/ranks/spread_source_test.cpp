// Bodies that ranks hold are read in pieces, and written as those of one process.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "compute/core/body_source.h"
#include "compute/core/temporary_folder.h"
#include "compute/kernels/shared_facets.h"
#include "compute/sim/simulation.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/ranks/rank_team.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/random_ball.h"
#include "tests/compute/support/short_memory.h"

namespace orrery {
namespace {

/// Many, made fast.
Bodies numbered_bodies(int count) {
  Bodies bodies;
  for (int i = 0; i < count; ++i) {
    const auto x = static_cast<float>(i);
    bodies.positions.push_back({x, -x, 1, 1});
    bodies.velocities.push_back({1, 2, x, 0});
  }
  return bodies;
}

TEST(BodiesOfRanks, AreReadInPiecesWithoutMemoryForAll) {
  if (!test::memory_can_be_short) GTEST_SKIP() << "ThreadSanitizer has an operator new of its own";
  constexpr int count = 3 * static_cast<int>(PieceRange::most) + 7;
  constexpr std::size_t larger_than_a_message = 45 << 20;  // and smaller than the positions of all
  static_assert(larger_than_a_message < count * sizeof(Vec4));
  const Bodies bodies = numbered_bodies(count);
  test::RankTeam team{2};
  const KernelPtr tree = team.catalog().find("cpu-tree");
  const auto kernel = team.backends().make_kernel(*tree, Settings{*tree});
  SpreadFacet& spread = *spread_of(*kernel);
  spread.spread(bodies, {});
  {
    const test::ShortMemory short_memory{larger_than_a_message, 0};
    EXPECT_THROW(spread.gather(), std::bad_alloc);
  }
  const test::ShortMemory short_memory{larger_than_a_message, 0};
  const std::unique_ptr<BodySource> source = spread.source();
  ASSERT_EQ(source->count(), bodies.positions.size());
  EXPECT_EQ(source->digits(), Digits::single);
  int wrong = 0;
  for (std::size_t i = 0; i < source->count(); ++i) {
    wrong += source->position(i) != bodies.positions[i] || source->velocity(i) != bodies.velocities[i];
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(source->position(1), bodies.positions[1]) << "back in the first piece";
}

TEST(BodiesOfRanks, AreWrittenAsThoseOfOneProcessAndGoOn) {
  constexpr int count = 500;
  const TemporaryFolder folder;
  const auto bytes = [&](Simulation& run, const char* name) {
    write_snapshot(folder / name, run.snapshot_view(), {.existing = Existing::replace});
    std::ifstream file{folder / name, std::ios::binary};
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  };
  for (const char* kernel : {"cpu-tree", "cpu-simd"}) {
    for (const int size : {1, 2, 3, 4}) {
      SCOPED_TRACE(std::string{kernel} + ", ranks " + std::to_string(size));
      test::RankTeam team{size};
      const SceneRequest scene{.scene = "collapse", .count = count};
      Simulation found{team.backends(), scene, team.catalog().find(kernel)};
      Simulation expected{test::backends(), scene, test::find_kernel(kernel)};
      for (int batches = 0; batches < 3; ++batches) {
        for (const char* name : {"a.checkpoint", "a.gadget", "a.txt", "a.hdf5"}) {
          if (name == std::string{"a.hdf5"} && !has_hdf5()) continue;
          EXPECT_EQ(bytes(found, name), bytes(expected, name)) << name << " after " << batches << " batches";
        }
        found.run(5);
        expected.run(5);
      }
      EXPECT_EQ(found.bodies(), expected.bodies());
      EXPECT_EQ(bytes(found, "a.tipsy"), bytes(expected, "a.tipsy")) << "when the leader has them all";
    }
  }
}

/// What writing these bodies leads to: the bytes of the file, or the message.
std::string outcome_of(const SnapshotView& view, const std::filesystem::path& path) {
  std::filesystem::remove(path);
  const test::Failure failure = test::failure_of([&] { write_snapshot(path, view); });
  if (failure.kind != test::Failure::none) return failure.message;
  std::ifstream file{path, std::ios::binary};
  return std::string{std::istreambuf_iterator<char>{file}, {}};
}

TEST(BodiesOfRanks, AreCheckedWhereTheyAre) {
  const TemporaryFolder folder;
  const BodyProperties none;
  const Units units = gravity_units(2 * galactic_units.length_cm, galactic_units.mass_g / 2);  // GADGET has others
  test::RankTeam team{3};
  const KernelPtr tree = team.catalog().find("cpu-tree");
  const auto kernel = team.backends().make_kernel(*tree, Settings{*tree});
  const auto try_bodies = [&](const char* what, const auto& change) {
    SCOPED_TRACE(what);
    Bodies bodies = test::random_ball(300);
    change(bodies);
    spread_of(*kernel)->spread(bodies, {});
    BodyBounds expected;
    for (std::size_t i = 0; i < bodies.positions.size(); ++i) expected.add(bodies.positions[i], bodies.velocities[i]);
    const std::optional<BodyBounds> found = spread_of(*kernel)->source()->bounds();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->finite, expected.finite);
    EXPECT_EQ(found->least_mass, expected.least_mass);
    EXPECT_EQ(found->fastest, expected.fastest);
    for (const char* name : {"a.txt", "a.tipsy", "a.gadget", "a.hdf5"}) {
      if (name == std::string{"a.hdf5"} && !has_hdf5()) continue;
      const auto view = [&](std::unique_ptr<BodySource> source) {
        return SnapshotView{.bodies = std::move(source), .properties = none, .units = units};
      };
      EXPECT_EQ(outcome_of(view(spread_of(*kernel)->source()), folder / name),
                outcome_of(view(std::make_unique<HeldBodies>(bodies)), folder / name))
          << name;
    }
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  try_bodies("masses of their own", [](Bodies&) {});
  try_bodies("equal masses", [](Bodies& bodies) {
    for (Vec4& position : bodies.positions) position.w = 2;
  });
  try_bodies("one that is not finite", [](Bodies& bodies) { bodies.velocities[207].y = -infinity; });
  try_bodies("a mass that is not finite", [](Bodies& bodies) { bodies.positions[5].w = infinity; });
  try_bodies("beyond the units of the format", [](Bodies& bodies) { bodies.positions[250].z = -9.99e14f; });
  try_bodies("a mass below them", [](Bodies& bodies) { bodies.positions[250].w = 1.1e-30f; });
  try_bodies("too fast for them", [](Bodies& bodies) { bodies.velocities[99].x = 9.9e14f; });
}

}  // namespace
}  // namespace orrery
