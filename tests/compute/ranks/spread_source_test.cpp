// Bodies that ranks hold are read in pieces, and written as those of one process.
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <string>

#include "compute/core/body_source.h"
#include "compute/core/temporary_folder.h"
#include "compute/kernels/spread_facet.h"
#include "compute/sim/simulation.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/ranks/rank_team.h"
#include "tests/compute/support/backends.h"
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
        for (const char* name : {"a.checkpoint", "a.gadget", "a.txt"}) {
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

}  // namespace
}  // namespace orrery
