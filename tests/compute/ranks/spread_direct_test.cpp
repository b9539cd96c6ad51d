// Bodies of direct sums that stay with their ranks from step to step move as those of one process, bit for bit.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "compute/kernels/shared_facets.h"
#include "compute/sim/simulation.h"
#include "tests/compute/ranks/rank_team.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/degenerate_bodies.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/kernel_info.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;
using test::RankTeam;

/// cpu-simd that counts the evaluations of bodies that stay with a rank.
class WitnessedSum final : public ForceKernel {
 public:
  using Before = std::function<void(const ForceArgs& args)>;
  WitnessedSum(std::atomic<int>& evaluations, const Before& before)
      : evaluations_{evaluations}, before_{before}, own_{simd().make(Settings{simd()}, nullptr)} {}
  void prepare(int count) override { own_->prepare(count); }

 protected:
  void do_evaluate(const ForceArgs& args) override {
    if (args.targets.first >= 0) ++evaluations_;  // SharedKernel lists them in any order
    before_(args);
    own_->evaluate(args);
  }

 private:
  static const KernelInfo& simd() { return *test::find_kernel("cpu-simd"); }

  std::atomic<int>& evaluations_;
  const Before& before_;
  std::unique_ptr<ForceKernel> own_;
};

struct TeamThatSums {
  explicit TeamThatSums(int size) : team{size, known} {
    known.put(info());
    kernel = team.catalog().put(info());
  }
  KernelInfo info() {
    KernelInfo of_test = test::kernel_info("witnessed", [this](const Settings&, const cuda::Device*) {
      return std::make_unique<WitnessedSum>(evaluations, before);
    });
    of_test.takes_targets = true;
    return of_test;
  }

  std::atomic<int> evaluations = 0;  // of bodies that stay with their ranks, by all ranks
  WitnessedSum::Before before = [](const ForceArgs&) {};
  KernelCatalog known;
  RankTeam team;
  KernelPtr kernel;
};

Simulation sums_alone() {
  return {test::backends(), {.scene = "plummer", .count = 8}, test::find_kernel("cpu-simd")};
}

TEST(SpreadDirectSums, MoveAsInOneProcess) {
  const std::vector<Bodies> systems{test::random_ball(1), test::random_ball(2),   test::random_ball(3),
                                    test::random_ball(5), test::coincident(257),  test::lopsided(33),
                                    test::collinear(257), test::random_ball(2049)};
  for (const int size : {2, 3, 4}) {
    TeamThatSums ranks{size};
    Simulation found{ranks.team.backends(), {.scene = "plummer", .count = 8}, ranks.kernel};
    Simulation expected = sums_alone();
    for (const Bodies& bodies : systems) {
      for (const char* integrator : {"leapfrog", "euler", "yoshida4"}) {
        SCOPED_TRACE(std::to_string(size) + " ranks, " + std::to_string(bodies.count()) + " bodies, " + integrator);
        for (Simulation* run : {&found, &expected}) {
          run->apply(SelectIntegrator{integrator});
          run->set_bodies(bodies);
          run->run(3);
        }
        EXPECT_EQ(found.bodies(), expected.bodies());
      }
    }
    EXPECT_GT(ranks.evaluations, 100) << "the bodies stay with their ranks";
  }
}

TEST(SpreadDirectSums, OfEachKernelMoveAsInOneProcess) {
  for (const char* id : {"cpu-serial", "cpu-openmp", "cpu-simd", "cpu-fp64", "cpu-jerk"}) {
    SCOPED_TRACE(id);
    RankTeam team{3};
    Simulation found{team.backends(), {.scene = "collapse", .count = 300}, team.catalog().find(id)};
    Simulation expected{test::backends(), {.scene = "collapse", .count = 300}, test::find_kernel(id)};
    for (Simulation* run : {&found, &expected}) run->run(5);
    EXPECT_EQ(found.bodies(), expected.bodies());
    EXPECT_GT(found.status().timing.interactions_per_evaluation, 0);
    EXPECT_EQ(found.status().timing.interactions_per_evaluation, expected.status().timing.interactions_per_evaluation);
  }
}

TEST(SpreadDirectSums, HaveTheRankThatHoldsThem) {
  TeamThatSums ranks{2};
  Simulation run{ranks.team.backends(), {.scene = "plummer", .count = 8}, ranks.kernel};
  run.set_bodies(test::random_ball(7));
  run.apply(ReadDomains{});
  run.run(2);
  ASSERT_TRUE(run.status().domains);
  EXPECT_EQ(run.status().domains->owners,
            (BodyOwners{.names = {"rank 0", "rank 1"}, .of_body = {0, 0, 0, 1, 1, 1, 1}}));
}

TEST(SpreadDirectSums, FollowTheKernel) {
  RankTeam team{2};
  Simulation found{team.backends(), {.scene = "collapse", .count = 400}, team.catalog().find("cpu-simd")};
  Simulation expected{test::backends(), {.scene = "collapse", .count = 400}, test::find_kernel("cpu-simd")};
  for (const char* id : {"cpu-tree", "cpu-simd", "cpu-serial"}) {
    for (Simulation* run : {&found, &expected}) {
      run->run(3);
      run->apply(SelectKernel{id});
      run->run(3);
    }
    ASSERT_EQ(found.bodies(), expected.bodies()) << id;
  }
}

TEST(SpreadDirectSums, AreAsBeforeAStepThatFailed) {
  TeamThatSums ranks{3};
  const Bodies bodies = test::random_ball(90);
  Simulation found{ranks.team.backends(), {.scene = "plummer", .count = 8}, ranks.kernel};
  Simulation expected = sums_alone();
  for (Simulation* run : {&found, &expected}) {
    run->apply(SelectIntegrator{"yoshida4"});
    run->set_bodies(bodies);
    run->run(2);
  }
  ranks.before = [](const ForceArgs& args) {
    if (args.targets.first == 60) throw std::runtime_error{"a bad day"};
  };
  expect_failure(
      Failure::runtime, [&] { found.run(1); }, "rank 2: a bad day");
  EXPECT_EQ(found.bodies(), expected.bodies());
  ranks.before = [](const ForceArgs&) {};
  for (Simulation* run : {&found, &expected}) run->run(3);
  EXPECT_EQ(found.bodies(), expected.bodies());
}

TEST(SpreadDirectSums, AreAsBeforeAStepThatWasCancelled) {
  TeamThatSums ranks{2};
  Simulation found{ranks.team.backends(), {.scene = "plummer", .count = 600}, ranks.kernel};
  found.run(2);
  const Bodies before = found.bodies();
  for (const char* integrator : {"leapfrog", "yoshida4"}) {  // of one evaluation, and of several
    SCOPED_TRACE(integrator);
    found.apply(SelectIntegrator{integrator});
    std::atomic<bool> in_vain = false;
    ranks.before = [&](const ForceArgs& args) {
      if (args.targets.first == 0) return;  // the leader goes on to the next exchange
      const auto begin = std::chrono::steady_clock::now();
      while (!*args.cancelled && !in_vain) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        in_vain = std::chrono::steady_clock::now() - begin > std::chrono::seconds{5};
      }
    };
    ASSERT_EQ(found.advance_frame(1), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    found.apply(SetTimeStep{0.002f});
    EXPECT_FALSE(in_vain);
    EXPECT_EQ(found.status().step, 2);
    EXPECT_EQ(found.bodies(), before);
  }
}

TEST(SpreadDirectSums, ThatAreNotFiniteStopTheRunAsInOneProcess) {
  TeamThatSums ranks{3};
  Simulation found{ranks.team.backends(), {.scene = "plummer", .count = 8}, ranks.kernel};
  Simulation expected = sums_alone();
  test::expect_same_not_finite(found, expected);
}

}  // namespace
}  // namespace orrery
