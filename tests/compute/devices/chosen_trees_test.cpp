// What GPUs that do not see each other's memory send each other of their trees. One GPU stands for two.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/cuda/stream.h"
#include "compute/devices/device_team.h"
#include "compute/devices/part_sizes.h"
#include "compute/devices/staging.h"
#include "compute/diagnostics/reference.h"
#include "compute/kernels/division.h"
#include "tests/compute/devices/ranks_on.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"
#include "tests/compute/support/teams.h"

namespace orrery {
namespace {

const KernelInfo& tree_info() {
  return *test::find_kernel("cuda-tree");
}

ForceError error_of(const std::vector<Vec4>& accelerations, const Bodies& bodies) {
  const std::vector<int> sample = sample_targets(bodies.count(), 1000);
  return target_error(entries(accelerations, sample), sample, reference_accelerations(bodies.positions, sample, {}));
}

/// Two kernels that divide the evaluations of some bodies, and choose what they send each other, or copy all.
class TwoTrees {
 public:
  TwoTrees(const Settings& settings, const Bodies& bodies, bool choose = true) : bodies_{bodies}, choose_{choose} {
    const auto size = bodies.positions.size();
    d_bodies_ = {device_, size};
    d_accelerations_ = {device_, size};
    d_targets_ = {device_, size};
    cuda::upload<Vec4>(bodies.positions, d_bodies_.data(), stream_.get());
    for (int index = 0; index < 2; ++index) {
      kernels_[index] = tree_info().make(settings, &device_);
      division(index).prepare_division(bodies.count(), index, 2);
      if (choose_) choice(index).prepare_choice();
    }
  }

  struct Found {
    std::vector<Vec4> accelerations;
    std::size_t sent;  ///< bytes, by both
  };
  /// Of some targets, or all bodies.
  Found evaluate(const std::vector<int>& targets = {}, const Law& law = {}) {
    cuda::upload<int>(targets, d_targets_.data(), stream_.get());
    const ForceArgs leading{.bodies = d_bodies_.data(),
                            .count = bodies_.count(),
                            .targets = {.indices = targets.empty() ? nullptr : d_targets_.data(),
                                        .count = static_cast<int>(targets.size())},
                            .masses = mass_range(bodies_.positions),
                            .law = law,
                            .epilogue = {.accelerations = d_accelerations_.data()},
                            .stream = stream_.get()};
    const ForceArgs args[] = {leading, args_for(leading, stream_.get())};
    const std::vector<Part> parts = PartSizes{2}.parts();
    Blocks shared = division(0).share_out(leading, parts);
    for (const DeviceBlock& block : division(0).share_of(leading, parts[1])) shared.push_back(block);
    copy(shared, division(1).receive(args[1], parts, shared));
    for (const int i : {0, 1}) division(i).begin_part(args[i], parts[static_cast<std::size_t>(i)]);
    const std::size_t sent = choose_ ? exchange_chosen(args) : exchange_all(args, parts);
    for (const int i : {0, 1}) division(i).evaluate_part(args[i], parts[static_cast<std::size_t>(i)]);
    copy(division(1).results(args[1], parts[1]), division(0).places(leading, parts[1]));
    division(0).join(leading, parts);
    Found found{.accelerations = std::vector<Vec4>(bodies_.positions.size()), .sent = sent};
    cuda::download<Vec4>(d_accelerations_.data(), found.accelerations, stream_.get());
    stream_.synchronize();
    return found;
  }

 private:
  using Blocks = DivisionFacet::Blocks;

  DivisionFacet& division(int index) { return *kernels_[index]->division(); }
  ChoiceFacet& choice(int index) { return dynamic_cast<ChoiceFacet&>(division(index)); }
  std::size_t exchange_chosen(const ForceArgs (&args)[2]) {
    for (const int i : {0, 1}) copy({choice(i).outline()}, {choice(1 - i).place_of_outline(i)});
    std::size_t sent = 0;
    for (const int i : {0, 1}) {
      const Blocks chosen = choice(i).choose(args[i], [&] { stream_.synchronize(); })[static_cast<std::size_t>(1 - i)];
      const std::vector<std::size_t> sizes = sizes_of(chosen);
      copy(chosen, choice(1 - i).places_of_chosen(i, sizes));
      sent += sum_of(sizes);
    }
    for (const int i : {0, 1}) choice(i).take_chosen(args[i]);
    return sent;
  }
  std::size_t exchange_all(const ForceArgs (&args)[2], const std::vector<Part>& parts) {
    std::size_t sent = 0;
    for (const int i : {0, 1}) {
      const Part& part = parts[static_cast<std::size_t>(i)];
      const Blocks offer = division(i).offer(args[i], part);
      copy(offer, division(1 - i).places_of_offer(args[1 - i], part));
      sent += sum_of(sizes_of(offer));
    }
    return sent;
  }
  void copy(const Blocks& from, const Blocks& to) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i].bytes == 0) continue;
      ORRERY_CUDA_CHECK(
          cudaMemcpyAsync(to[i].data, from[i].data, from[i].bytes, cudaMemcpyDeviceToDevice, stream_.get()));
    }
  }

  const cuda::Device& device_{*test::backends().device()};
  const Bodies bodies_;
  const bool choose_;
  cuda::Stream stream_{device_};
  cuda::DeviceArray<Vec4> d_bodies_, d_accelerations_;
  cuda::DeviceArray<int> d_targets_;
  std::unique_ptr<ForceKernel> kernels_[2];
};

class ChosenTrees : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }
  static Settings settings(const char* tolerance) {
    return Settings{tree_info(), {{"order", GetParam()}, {"tolerance", tolerance}}};
  }
  /// Not much greater than those of one device.
  static void expect_errors_of_one_device(const std::vector<Vec4>& found, const char* tolerance, const Bodies& bodies) {
    const auto alone = test::backends().make_kernel(tree_info(), settings(tolerance));
    const ForceError expected = error_of(test::evaluate(*alone, bodies, {.law = {}}).accelerations, bodies),
                     error = error_of(found, bodies);
    EXPECT_LE(error.median, 1.2 * expected.median);
    EXPECT_LE(error.p99, 1.5 * expected.p99);
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, ChosenTrees, testing::Values("monopole", "quadrupole", "local", "high"),
                         [](const auto& order) { return std::string{order.param}; });

TEST_P(ChosenTrees, AreSmallOnceTheWalksHaveNotedHowFarTheyOpenCells) {
  const Bodies bodies = test::random_ball(200'003);
  for (const char* tolerance : {"1e-3", "1e-5"}) {
    SCOPED_TRACE(tolerance);
    TwoTrees trees{settings(tolerance), bodies};
    const TwoTrees::Found first = trees.evaluate(), second = trees.evaluate();
    EXPECT_GT(first.sent, bodies.positions.size() * 20) << "all bodies, and their cells";
    // A small tolerance opens nearly all cells of so few bodies.
    EXPECT_LT(second.sent, tolerance == std::string_view{"1e-3"} ? first.sent * 2 / 3 : first.sent);
    for (const auto* found : {&first, &second}) expect_errors_of_one_device(found->accelerations, tolerance, bodies);
  }
}

TEST_P(ChosenTrees, DependOnDistancesAloneWithoutATolerance) {
  const Bodies bodies = test::random_ball(200'003);
  TwoTrees trees{settings("off"), bodies}, whole{settings("1e-3"), bodies};
  const TwoTrees::Found first = trees.evaluate(), second = trees.evaluate();
  EXPECT_EQ(first.sent, second.sent);
  EXPECT_LT(first.sent, whole.evaluate().sent * 2 / 3);
  expect_errors_of_one_device(first.accelerations, "off", bodies);
}

/// Pulls may be much weaker by another law.
TEST_P(ChosenTrees, AreWholeBehindAnotherLaw) {
  const Bodies bodies = test::random_ball(200'003);
  TwoTrees trees{settings("1e-3"), bodies};
  const TwoTrees::Found first = trees.evaluate();
  EXPECT_LT(trees.evaluate().sent, first.sent * 2 / 3);
  const Law other{.softening = 0.5f};
  EXPECT_GT(trees.evaluate({}, other).sent, bodies.positions.size() * 20);
  EXPECT_LT(trees.evaluate({}, other).sent, first.sent * 2 / 3);
}

/// As where GPUs of one process do not see each other's memory.
TEST_P(ChosenTrees, AreAllCellsAndBodiesIfTheyAreOffered) {
  const Bodies bodies = test::random_ball(200'003);
  TwoTrees trees{settings("1e-3"), bodies, /*choose=*/false};
  for (int turn = 0; turn < 2; ++turn) {
    const TwoTrees::Found found = trees.evaluate();
    EXPECT_GT(found.sent, bodies.positions.size() * 16);
    expect_errors_of_one_device(found.accelerations, "1e-3", bodies);
  }
}

/// Walks of some groups leave what the latest walk of all has noted.
TEST_P(ChosenTrees, StaySmallBehindEvaluationsOfFewTargets) {
  const Bodies bodies = test::random_ball(200'003);
  TwoTrees trees{settings("1e-3"), bodies};
  const TwoTrees::Found first = trees.evaluate(), second = trees.evaluate();
  for (const int size : {1, 3000}) {
    for (int turn = 0; turn < 3; ++turn) {
      const std::vector<int> targets = test::random_targets(bodies.count(), size);
      const TwoTrees::Found some = trees.evaluate(targets);
      EXPECT_LE(static_cast<double>(some.sent), 1.01 * static_cast<double>(second.sent));
      const std::vector<Vec3d> reference = reference_accelerations(bodies.positions, targets, {});
      EXPECT_LE(force_error(some.accelerations, targets, reference).p99, 0.02);
    }
    const TwoTrees::Found next = trees.evaluate();
    EXPECT_NEAR(static_cast<double>(next.sent), static_cast<double>(second.sent),
                0.01 * static_cast<double>(second.sent));
    EXPECT_LT(next.sent, first.sent * 2 / 3);
    expect_errors_of_one_device(next.accelerations, "1e-3", bodies);
  }
}

/// They alone do not tell how far the others open cells.
TEST_P(ChosenTrees, AreWholeUntilAllHaveWalked) {
  const Bodies bodies = test::random_ball(200'003);
  TwoTrees trees{settings("1e-3"), bodies}, whole{settings("1e-3"), bodies};
  const std::size_t all = whole.evaluate().sent;
  for (const int size : {1, 3000}) {
    EXPECT_EQ(trees.evaluate(test::random_targets(bodies.count(), size)).sent, all);
  }
  const TwoTrees::Found first = trees.evaluate();
  EXPECT_EQ(first.sent, all);
  expect_errors_of_one_device(first.accelerations, "1e-3", bodies);
  EXPECT_LT(trees.evaluate().sent, all * 2 / 3);
}

TEST(ChosenTreesOfRanks, ThatFindNoMemoryEndTheEvaluationOfAllAndNoMore) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  constexpr std::size_t mib = std::size_t{1} << 20;
  const Bodies bodies = test::random_ball(2'000'003);
  const cuda::Device& gpu = *test::backends().device();
  const test::RanksOn ranks{{.ordinals = {0, 0, 0}}};
  const auto kernel = ranks.backends().make_kernel(tree_info(), Settings{tree_info()});
  test::evaluate(*kernel, test::random_ball(20'000), {.law = {}});  // loads what it needs
  kernel->prepare(bodies.count());
  {
    // What the test itself takes to evaluate: bodies, velocities and accelerations.
    const std::size_t own = 4 * bodies.positions.size() * sizeof(Vec4);
    const cuda::DeviceArray<char> taken{gpu, gpu.free_memory() - own - 64 * mib};
    // Ranks that share a GPU may take what another one has just found free: then the driver says so.
    const std::string message = test::failure_of([&] { test::evaluate(*kernel, bodies, {.law = {}}); }).message;
    EXPECT_TRUE(message.find("more than the GPU has free") != std::string::npos ||
                message.find("out of memory") != std::string::npos)
        << message;
  }
  for (int turn = 0; turn < 2; ++turn) {
    const ForceError error = error_of(test::evaluate(*kernel, bodies, {.law = {}}).accelerations, bodies);
    EXPECT_LE(error.median, tree_info().tolerance.median);
  }
}

}  // namespace
}  // namespace orrery
