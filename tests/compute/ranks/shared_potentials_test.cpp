// Ranks share the sum over all pairs, and find the bits of one process.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "compute/diagnostics/conserved.h"
#include "compute/kernels/shared_facets.h"
#include "compute/ranks/shared_kernel.h"
#include "compute/sim/simulation.h"
#include "tests/compute/ranks/rank_team.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/degenerate_bodies.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

using test::RankTeam;

std::unique_ptr<ForceKernel> kernel_of(const RankTeam& team) {
  const KernelPtr kernel = test::find_kernel("cpu-simd");
  return team.backends().make_kernel(*kernel, Settings{*kernel});
}

std::vector<double> alone(const Bodies& bodies, const Law& law) {
  return potentials_with_earlier(bodies.positions, bodies.positions_low, 0, bodies.count(), law, nullptr);
}

TEST(SharedPotentials, AreThoseOfOneProcess) {
  Bodies with_low_words = with_digits(test::random_ball(300), Digits::compensated);
  for (Vec4& low : with_low_words.positions_low) low.x = 1e-9f;
  const Law attraction{.softening = 0.03f};
  const Law repulsion{.id = LawId::attract_repel, .softening = 0.1f, .repulsion = 0.2f};
  for (const int size : {1, 2, 3, 4}) {
    RankTeam team{size};
    const auto kernel = kernel_of(team);
    PotentialFacet* const ranks = potentials_of(*kernel);
    ASSERT_TRUE(ranks);
    for (const Bodies& bodies : {test::random_ball(1), test::random_ball(2), test::random_ball(5), test::coincident(33),
                                 test::random_ball(257), with_low_words}) {
      for (const Law& law : {attraction, repulsion}) {
        EXPECT_EQ(ranks->potentials(bodies, law, nullptr), alone(bodies, law))
            << size << " ranks, " << bodies.count() << " bodies";
      }
    }
  }
}

TEST(SharedPotentials, AreThoseOfOneProcessInSeveralBlocks) {
  const Bodies bodies = test::random_ball(30'000);
  const Law law{.softening = 0.03f};
  RankTeam team{2};
  const auto kernel = kernel_of(team);
  EXPECT_EQ(potentials_of(*kernel)->potentials(bodies, law, nullptr), alone(bodies, law));
}

TEST(SharedPotentials, GiveTheConservedSumsOfARun) {
  const SceneRequest scene{.scene = "plummer", .count = 500};
  RankTeam team{3};
  Simulation expected{test::backends(), scene, test::find_kernel("cpu-tree")};
  Simulation found{team.backends(), scene, team.catalog().find("cpu-tree")};
  for (Simulation* run : {&expected, &found}) {
    run->run(4);
    run->apply(MeasureConserved{});
    run->run(1);
    ASSERT_TRUE(run->status().conserved);
  }
  const Conserved& a = expected.status().conserved->sums;
  const Conserved& b = found.status().conserved->sums;
  EXPECT_LT(a.potential, 0);
  EXPECT_EQ(a.potential, b.potential);
  EXPECT_EQ(a.kinetic, b.kinetic);
  EXPECT_EQ(a.angular_momentum.z, b.angular_momentum.z);
}

TEST(SharedPotentials, StopWhenTheyAreCancelled) {
  constexpr int count = 400'000;
  const Bodies bodies = test::random_ball(count);
  RankTeam team{3};
  const auto kernel = kernel_of(team);
  std::atomic<bool> cancelled = false;
  std::jthread later{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    cancelled = true;
  }};
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<double> found = potentials_of(*kernel)->potentials(bodies, {.softening = 0.01f}, &cancelled);
  EXPECT_EQ(found.back(), 0) << "it was not reached";
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{10});
  const Bodies few = test::random_ball(40);
  EXPECT_EQ(potentials_of(*kernel)->potentials(few, {.softening = 0.01f}, nullptr), alone(few, {.softening = 0.01f}));
}

}  // namespace
}  // namespace orrery
