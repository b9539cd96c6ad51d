// Ranks, here threads, whose CUDA devices divide the evaluations of a kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compute/cuda/device.h"
#include "compute/devices/device_list.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/sim/simulation.h"
#include "tests/compute/devices/ranks_on.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;

std::vector<DeviceList> lists() {
  std::vector<DeviceList> lists{{.ordinals = {0, 0}}, {.ordinals = {0, 0, 0}}};
  if (cuda::devices().size() > 1) lists.push_back({.ordinals = {0, 1}});
  return lists;
}

std::vector<KernelPtr> shared_kernels() {
  std::vector<KernelPtr> kernels = test::kernels_under_test();
  std::erase_if(kernels, [](const KernelPtr& kernel) { return !why_not_shared(*kernel, 2).empty(); });
  return kernels;
}

class DeviceRanksOf : public testing::TestWithParam<KernelPtr> {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }
  static const KernelInfo& info() { return *GetParam(); }
};

TEST_P(DeviceRanksOf, AgreeWithTheDirectSum) {
  for (const DeviceList& list : lists()) {
    const test::RanksOn ranks{list};
    const auto kernel = ranks.backends().make_kernel(info(), Settings{info()});
    for (const int count : {4097, 1, 2, 3, 31, 257, 20'011}) {
      const Bodies bodies = test::random_ball(count);
      for (const Law& law : {Law{}, test::attract_repel}) {
        SCOPED_TRACE(list.to_string() + ", " + std::to_string(count) + " bodies, " + law_info(law.id).id);
        test::expect_agreement(test::evaluate(*kernel, bodies, {.law = law}).accelerations, bodies, law,
                               info().tolerance);
      }
    }
  }
}

TEST_P(DeviceRanksOf, MoveBodiesAsOneDeviceDoes) {
  for (const DeviceList& list : lists()) {
    const test::RanksOn ranks{list};
    for (const char* integrator : {"leapfrog", "leapfrog-blocks", "yoshida4"}) {
      for (const Digits digits : {Digits::single, Digits::compensated}) {
        SCOPED_TRACE(list.to_string() + ", " + integrator + ", " + std::string{word_of(digits)});
        const SceneRequest scene{.scene = "plummer", .count = 3001};
        Simulation one{test::backends(), scene, GetParam()}, several{ranks.backends(), scene, GetParam()};
        for (Simulation* each : {&one, &several}) {
          each->apply(SelectIntegrator{integrator});
          each->apply(SetDigits{digits});
          each->run(5);
        }
        const Bodies expected = one.bodies(), found = several.bodies();
        for (std::size_t i = 0; i < expected.positions.size(); ++i) {
          ASSERT_NEAR(found.positions[i].x, expected.positions[i].x, 1e-3) << "body " << i;
          ASSERT_NEAR(found.positions[i].y, expected.positions[i].y, 1e-3) << "body " << i;
          ASSERT_EQ(found.positions[i].w, expected.positions[i].w) << "body " << i;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, DeviceRanksOf, testing::ValuesIn(shared_kernels()), test::test_name);

class DeviceRanks : public testing::Test {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }
};

TEST_F(DeviceRanks, EvaluateTargetsAndNoOthers) {
  for (const KernelPtr& info : shared_kernels()) {
    if (!info->takes_targets) continue;
    const test::RanksOn ranks{{.ordinals = {0, 0}}};
    const auto kernel = ranks.backends().make_kernel(*info, Settings{*info});
    const Bodies bodies = test::random_ball(1009);
    const auto alone = test::backends().make_kernel(*info, Settings{*info});
    const std::vector<Vec4> all = test::evaluate(*alone, bodies, {.law = {}}).accelerations;
    std::vector<int> every_third;
    for (int body = 1008; body >= 0; body -= 3) every_third.push_back(body);
    for (const std::vector<int>& targets : {std::vector{17}, {1008, 0}, every_third}) {
      const std::vector<Vec4> found = test::evaluate(*kernel, bodies, {.law = {}, .targets = targets}).accelerations;
      EXPECT_EQ(std::ranges::count_if(found, [](const Vec4& a) { return !std::isnan(a.x); }),
                static_cast<std::ptrdiff_t>(targets.size()))
          << info->id;
      for (const int target : targets) {
        const auto i = static_cast<std::size_t>(target);
        ASSERT_NEAR(found[i].x, all[i].x, 1e-3f * std::hypot(all[i].x, all[i].y, all[i].z)) << info->id;
      }
    }
  }
}

TEST_F(DeviceRanks, HaveTheBitsOfOneDeviceWhereTheOrderOfTheSumsIsTheSame) {
  const KernelPtr tiled = test::find_kernel("cuda-tiled");
  const Settings settings{*tiled, {{"split", "1"}}};
  const auto alone = test::backends().make_kernel(*tiled, settings);
  for (const DeviceList& list : lists()) {
    const test::RanksOn ranks{list};
    const auto kernel = ranks.backends().make_kernel(*tiled, settings);
    SCOPED_TRACE(list.to_string());
    test::expect_same_bits(*kernel, *alone);
  }
}

TEST_F(DeviceRanks, SeveralSimulationsTakeTurns) {
  const test::RanksOn ranks{{.ordinals = {0, 0}}};
  const KernelPtr tiled = test::find_kernel("cuda-tiled"), naive = test::find_kernel("cuda-naive");
  Simulation first{ranks.backends(), {.scene = "plummer", .count = 500}, tiled};
  Simulation second{ranks.backends(), {.scene = "plummer", .count = 2000}, naive};
  Simulation host{ranks.backends(), {.scene = "plummer", .count = 300}, test::find_kernel("cpu-serial")};
  for (int turn = 0; turn < 3; ++turn) {
    for (Simulation* each : {&first, &second, &host}) each->run(2);
  }
  for (Simulation* each : {&first, &second, &host}) EXPECT_EQ(each->status().step, 6);
}

TEST_F(DeviceRanks, AreRefusedWhatTheyCannotDivide) {
  const test::RanksOn ranks{{.ordinals = {0, 0}}};
  EXPECT_EQ(ranks.backends().default_kernel()->backend, Backend::cuda);
  EXPECT_EQ(ranks.backends().default_kernel(/*jerks=*/true)->backend, Backend::cpu);
  const KernelPtr jerk = test::find_kernel("cuda-jerk"), lock = test::find_kernel("cuda-tree-lock");
  expect_failure(
      Failure::usage, [&] { (void)ranks.backends().make_kernel(*jerk, Settings{*jerk}); },
      "the GPUs of 2 ranks cannot divide cuda-jerk", "can be shared: ", "cuda-tiled", "cuda-tree");
  expect_failure(
      Failure::usage, [&] { (void)ranks.backends().make_kernel(*lock, Settings{*lock}); },
      "cuda-tree-lock always evaluates every body, so 2 ranks cannot share it");
}

TEST_F(DeviceRanks, HaveADeviceEachUnlessTheUserNamesOneTwice) {
  const int size = static_cast<int>(cuda::devices().size()) + 1;
  test::RankTeam team{size, test::catalog(), cuda_rank_device};
  const std::string why = "ranks 0 and " + std::to_string(size - 1) + " would share device 0";
  EXPECT_EQ(team.backends().status(Backend::cuda).reason.find(why), 0u) << "CPU kernels still run";
  EXPECT_TRUE(team.backends().status(Backend::cpu).available);
  expect_failure(
      Failure::usage,
      [&] {
        Backends{team.catalog(), 0};
      },
      why);
  expect_failure(
      Failure::usage,
      [&] {
        Backends{team.catalog(), DeviceList{.all = true, .ordinals = {}}};
      },
      why);
  expect_failure(
      Failure::usage,
      [&] {
        Backends{team.catalog(), DeviceList{.ordinals = {0}}};
      },
      "rank 1: --devices names 1");
}

}  // namespace
}  // namespace orrery
