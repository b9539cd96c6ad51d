// All ranks write their bodies to one file, each some of the rows.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "compute/core/row_file.h"
#include "compute/core/temporary_folder.h"
#include "compute/kernels/shared_facets.h"
#include "compute/ranks/rank_bodies.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/units.h"
#include "tests/compute/ranks/rank_team.h"
#include "tests/compute/support/random_ball.h"
#include "tests/compute/support/short_memory.h"
#include "tests/compute/support/thread_ranks.h"

namespace orrery {
namespace {

constexpr std::size_t count = 501;
constexpr std::uint64_t before = 13, beyond_all_files = std::uint64_t{1} << 63;

/// Zeros, of which the ranks replace all but those before, between and behind the arrays.
class File {
 public:
  explicit File(std::size_t bodies = count)
      : bodies_{bodies},
        rows_{.path = folder_.write("rows", std::string(before + 32 * bodies, '\0')),
              .file_bytes = before + 32 * bodies,
              .positions = before,
              .velocities = before + 14 * bodies,
              .masses = before + 27 * bodies} {}

  const JointRows& rows() const { return rows_; }
  std::string bytes() const {
    std::ifstream file{rows_.path, std::ios::binary};
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  }
  bool is_untouched() const { return bytes() == std::string(rows_.file_bytes, '\0'); }
  std::string expected(const Bodies& bodies) const {
    std::string all(rows_.file_bytes, '\0');
    for (std::size_t i = 0; i < bodies_; ++i) {
      const Vec4 &position = bodies.positions[i], &velocity = bodies.velocities[i];
      std::memcpy(&all[rows_.positions + 12 * i], &position, 12);
      std::memcpy(&all[rows_.velocities + 12 * i], &velocity, 12);
      if (rows_.masses) std::memcpy(&all[*rows_.masses + 4 * i], &position.w, 4);
    }
    return all;
  }

 private:
  const TemporaryFolder folder_;
  const std::size_t bodies_;
  const JointRows rows_;
};

/// Calls use(rank, part) on a thread of each rank. The bodies are on other ranks than those that write them.
template <class Use>
void on_ranks(int size, const Bodies& bodies, const Use& use) {
  constexpr std::size_t most = 100;  // bodies of a piece
  test::ThreadRanks ranks{size};
  const std::vector<Part> parts = PartSizes{size}.parts();
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      RankBodies held;
      MessageWriter first;
      RankBodies::put_first(bodies, {}, parts[static_cast<std::size_t>((rank + 1) % size)], 0, first);
      held.take_first(MessageReader{first.bytes()});
      CollectiveWrite part{held, count, ranks.at(rank), most};
      use(rank, part);
    });
  }
}

/// A kernel of several ranks.
struct Team {
  explicit Team(int size, const char* kernel_id = "cpu-tree") : ranks{size} {
    const KernelPtr info = ranks.catalog().find(kernel_id);
    kernel = ranks.backends().make_kernel(*info, Settings{*info});
    spread_of(*kernel)->spread(bodies, {});
  }
  void step() {
    static const std::atomic<bool> never = false;
    spread_of(*kernel)->step({.integrator_id = "leapfrog", .time_step = 0.01f, .law = {}, .cancelled = never});
  }
  bool write(const JointRows& rows) { return spread_of(*kernel)->source()->write_jointly(rows); }

  const Bodies bodies = test::random_ball(count);
  test::RankTeam ranks;
  std::unique_ptr<ForceKernel> kernel;
};

TEST(CollectiveWrite, SendsEachRowToTheRankThatWritesItInPieces) {
  const Bodies bodies = test::random_ball(count);
  for (const int size : {1, 2, 3, 7}) {
    SCOPED_TRACE(size);
    const File file;
    on_ranks(size, bodies, [&](int, CollectiveWrite& part) { EXPECT_TRUE(part.write(file.rows())); });
    EXPECT_EQ(file.bytes(), file.expected(bodies));
  }
}

TEST(CollectiveWrite, WritesTheBodiesThatStepsHaveMoved) {
  for (const char* kernel : {"cpu-tree", "cpu-simd"}) {
    const File file;
    Team team{3, kernel};
    team.step();
    ASSERT_TRUE(team.write(file.rows()));
    EXPECT_EQ(file.bytes(), file.expected(spread_of(*team.kernel)->gather()));
    EXPECT_NE(file.bytes(), file.expected(team.bodies));
    team.step();
  }
}

TEST(CollectiveWrite, WritesNothingUnlessAllRanksHaveTheFile) {
  const Bodies bodies = test::random_ball(count);
  const File file;
  for (const int failing : {0, 2}) {
    JointRows missing = file.rows(), larger = file.rows(), no_file = file.rows();
    missing.path += "-elsewhere";
    ++larger.file_bytes;
    no_file.path = std::filesystem::path{no_file.path}.parent_path();
    for (const JointRows& other : {missing, larger, no_file}) {
      on_ranks(3, bodies, [&](int rank, CollectiveWrite& part) {
        EXPECT_FALSE(part.write(rank == failing ? other : file.rows()));
      });
      EXPECT_TRUE(file.is_untouched());
    }
  }
}

TEST(CollectiveWrite, IsLeftToOneRankIfAnotherCannotWrite) {
  const Bodies bodies = test::random_ball(count);
  for (const int failing : {0, 1}) {
    const File file;
    JointRows beyond = file.rows();
    beyond.velocities = beyond_all_files;
    on_ranks(3, bodies, [&](int rank, CollectiveWrite& part) {
      EXPECT_FALSE(part.write(rank == failing ? beyond : file.rows()));
    });
  }
  const File file;
  JointRows beyond = file.rows();
  beyond.masses = beyond_all_files;
  Team team{2};
  EXPECT_FALSE(team.write(beyond));
  EXPECT_TRUE(team.write(file.rows())) << "the ranks go on";
  EXPECT_EQ(file.bytes(), file.expected(team.bodies));
}

TEST(CollectiveWrite, IsForRanksOfOneHost) {
  const Bodies bodies = test::random_ball(count);
  const File file;
  on_ranks(3, bodies, [&](int rank, CollectiveWrite& part) { EXPECT_FALSE(part.write(file.rows(), rank != 2)); });
  EXPECT_TRUE(file.is_untouched());
}

TEST(CollectiveWrite, WritesNothingIfARankIsShortOfMemory) {
  if (!test::memory_can_be_short) GTEST_SKIP() << "ThreadSanitizer has an operator new of its own";
  const File file;
  Team team{2};
  constexpr std::size_t rows_of_a_rank = (count + 1) / 2 * sizeof(Vec4);
  for (int others = 0; others < 8; ++others) {  // each rank has two arrays and room for a message, and its file a block
    const test::ShortMemory short_memory{rows_of_a_rank, others};
    EXPECT_FALSE(team.write(file.rows())) << others;
  }
  EXPECT_TRUE(file.is_untouched());
  EXPECT_TRUE(team.write(file.rows()));
  EXPECT_EQ(file.bytes(), file.expected(team.bodies));
}

TEST(CollectiveWrite, ConvertsUnitsAsOneProcessDoes) {
  const File file;
  Team team{2};
  const Units from = gravity_units(kpc_cm, solar_mass_g);
  const UnitScale scale{from, galactic_units};
  const BodyProperties none;
  const SnapshotView view{.bodies = spread_of(*team.kernel)->source(), .properties = none, .units = from};
  const ConvertedSnapshot converted{view, scale, galactic_units};
  ASSERT_TRUE(converted.view().bodies->write_jointly(file.rows()));
  Snapshot expected{.bodies = team.bodies};
  expected.units = from;
  convert_units(expected, galactic_units);
  EXPECT_EQ(file.bytes(), file.expected(expected.bodies));
  const ConvertedSnapshot twice{converted.view(), scale, galactic_units};
  EXPECT_FALSE(twice.view().bodies->write_jointly(file.rows())) << "numbers are rounded in between";
}

TEST(RowFile, WritesManyRowsAndNoMassesWhereThereAreNone) {
  constexpr int many = 70001;  // more than it writes at once
  const Bodies bodies = test::random_ball(many);
  const File file{many};
  JointRows rows = file.rows();
  rows.masses.reset();
  RowFile out{rows};
  out.write(0, bodies.positions, bodies.velocities);
  out.flush();
  std::string expected = file.expected(bodies);
  std::memset(&expected[*file.rows().masses], 0, 4 * many);
  EXPECT_EQ(file.bytes(), expected);
}

}  // namespace
}  // namespace orrery
