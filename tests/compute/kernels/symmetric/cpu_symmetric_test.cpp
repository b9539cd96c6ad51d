// cpu-symmetric's promises beyond what every kernel does.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "compute/kernels/symmetric/tile_rounds.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

TEST(TileRounds, HoldEachPairOnceAndEachTileOnceARound) {
  for (const int tiles : {1, 2, 3, 4, 5, 8, 17, 64}) {
    SCOPED_TRACE(tiles);
    const TileRounds rounds{tiles};
    std::set<std::pair<int, int>> pairs;
    for (int round = 0; round < rounds.rounds(); ++round) {
      std::vector<int> met(static_cast<std::size_t>(tiles));
      for (int slot = 0; slot < rounds.slots(); ++slot) {
        const auto [a, b] = rounds.pair(round, slot);
        if (a > b) continue;
        EXPECT_TRUE(pairs.insert({a, b}).second) << a << ", " << b << " meet twice";
        ++met.at(static_cast<std::size_t>(a));
        if (a != b) ++met.at(static_cast<std::size_t>(b));
      }
      EXPECT_EQ(met, std::vector<int>(met.size(), 1)) << "round " << round;
    }
    EXPECT_EQ(pairs.size(), static_cast<std::size_t>(tiles) * (static_cast<std::size_t>(tiles) + 1) / 2);
  }
}

std::vector<Vec4> accelerations(const Bodies& bodies, const char* threads, const char* tile) {
  const KernelInfo& info = *test::find_kernel("cpu-symmetric");
  Settings settings{info};
  settings.set("threads", threads);
  settings.set("tile", tile);
  return test::accelerations(info, settings, bodies, {});
}

TEST(CpuSymmetric, HasTheSameBitsForAnyNumberOfThreads) {
  const Bodies bodies = test::random_ball(3001);
  const auto by_one = accelerations(bodies, "1", "64");
  for (const char* threads : {"2", "4", "16"}) {
    for (int run = 0; run < 3; ++run) EXPECT_EQ(accelerations(bodies, threads, "64"), by_one) << threads << " threads";
  }
}

TEST(CpuSymmetric, ForcesCancelToRounding) {
  const Bodies bodies = test::random_ball(3001);
  const auto result = accelerations(bodies, "auto", "auto");
  double x = 0, y = 0, z = 0, total = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double mass = bodies.positions[i].w;
    x += mass * result[i].x;
    y += mass * result[i].y;
    z += mass * result[i].z;
    total += mass * std::hypot(result[i].x, result[i].y, result[i].z);
  }
  EXPECT_LT(std::hypot(x, y, z), 1e-8 * total);
}

}  // namespace
}  // namespace orrery
