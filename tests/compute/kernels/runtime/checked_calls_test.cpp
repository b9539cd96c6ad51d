// Which kernels the calls of a check find out, on the host: each is the direct sum with one mistake.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "compute/diagnostics/reference.h"
#include "compute/kernels/runtime/file_kernel.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr Tolerance tolerance{.median = 5e-6, .max = 5e-3};

std::vector<int> each_of(std::span<const Vec4> bodies) {
  return sample_targets(static_cast<int>(bodies.size()), static_cast<int>(bodies.size()));
}

/// A correct kernel.
std::vector<Vec4> direct_sum(std::span<const Vec4> bodies, std::span<const int> targets) {
  const std::vector<int> every = each_of(bodies);
  const std::span<const int> wanted = targets.empty() ? std::span<const int>{every} : targets;
  const std::vector<Vec3d> sums = reference_accelerations(bodies, wanted, Law{});
  std::vector<Vec4> found(bodies.size(), {nan, nan, nan, nan});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    found[static_cast<std::size_t>(wanted[i])] = {static_cast<float>(sums[i].x), static_cast<float>(sums[i].y),
                                                  static_cast<float>(sums[i].z), 0};
  }
  return found;
}

std::vector<Vec4> ball(int count) {
  return test::random_ball(count).positions;
}

void expect_refused(int count, const KernelCall& call, const std::string& cause) {
  SCOPED_TRACE(count);
  const std::vector<Vec4> bodies = ball(count);
  test::expect_failure(
      test::Failure::runtime, [&] { (void)checked_accelerations(bodies, tolerance, call); }, cause);
}

TEST(CheckedCalls, PassTheAccelerationsOfACorrectKernel) {
  for (const int count : {1, 2, 3, 4, 33, 257}) {
    const std::vector<Vec4> bodies = ball(count);
    EXPECT_EQ(checked_accelerations(bodies, tolerance, direct_sum), direct_sum(bodies, {})) << count;
  }
}

TEST(CheckedCalls, GiveAListOfTargetsAndOtherSourcesInBetween) {
  const std::vector<Vec4> bodies = ball(33);
  std::vector<bool> same_bodies;
  std::vector<std::size_t> targets;
  (void)checked_accelerations(bodies, tolerance, [&](std::span<const Vec4> sources, std::span<const int> of) {
    same_bodies.push_back(std::ranges::equal(sources, bodies));
    targets.push_back(of.size());
    return direct_sum(sources, of);
  });
  EXPECT_EQ(same_bodies, (std::vector{false, true, false, true, true}));
  EXPECT_EQ(targets, (std::vector<std::size_t>{0, 0, 0, 0, 11}));
}

TEST(CheckedCalls, EvaluateTheTargetsAlone) {
  const std::vector<Vec4> bodies = ball(257);
  const std::vector<int> wanted{3, 40, 100, 256};
  std::vector<std::vector<int>> targets;
  const std::vector<Vec4> found = checked_accelerations(
      bodies, tolerance,
      [&](std::span<const Vec4> sources, std::span<const int> of) {
        targets.emplace_back(of.begin(), of.end());
        return direct_sum(sources, of);
      },
      wanted);
  EXPECT_EQ(entries(found, wanted), entries(direct_sum(bodies, {}), wanted));
  EXPECT_EQ(targets, (std::vector<std::vector<int>>{{}, wanted, {}, wanted, {256, 3}}));
}

TEST(CheckedCalls, TakeAFewOfManyBodies) {
  const std::vector<Vec4> bodies(100'000, Vec4{1, 1, 1, 1});
  std::size_t others = 0, targets = 0;
  (void)checked_accelerations(bodies, tolerance, [&](std::span<const Vec4> sources, std::span<const int> of) {
    if (sources.size() < bodies.size()) others = sources.size();
    targets = of.size();
    std::vector<Vec4> found(sources.size(), of.empty() ? Vec4{} : Vec4{nan, nan, nan, nan});
    for (const int target : of) found[static_cast<std::size_t>(target)] = {};
    return found;
  });
  EXPECT_EQ(others, 4097u);
  EXPECT_EQ(targets, 4000u);
}

TEST(CheckedCalls, FindSumsThatGoOnInTheNextCall) {
  for (const int count : {2, 33}) {
    std::vector<Vec4> sums;
    expect_refused(
        count,
        [&](std::span<const Vec4> bodies, std::span<const int> targets) {
          std::vector<Vec4> found = direct_sum(bodies, targets);
          sums.resize(found.size());
          for (std::size_t i = 0; i < found.size(); ++i) found[i].x = sums[i].x += found[i].x;
          return found;
        },
        "keeps something from one call to the next");
  }
}

// Whoever compares with the true sum finds it: what is returned belongs to the other bodies.
TEST(CheckedCalls, ReturnWhatAKernelComputesThatKeepsItsFirstSources) {
  const std::vector<Vec4> bodies = ball(33);
  std::vector<Vec4> kept;
  const auto call = [&](std::span<const Vec4> sources, std::span<const int> targets) {
    if (kept.empty()) kept.assign(sources.begin(), sources.end());
    return direct_sum(kept, targets);
  };
  const std::vector<Vec4> found = checked_accelerations(bodies, tolerance, call);
  const std::vector<int> targets = each_of(bodies);
  EXPECT_GT(force_error(found, targets, reference_accelerations(bodies, targets, Law{})).max, tolerance.max);
}

TEST(CheckedCalls, FindASecondCallThatIsNotFinite) {
  int calls = 0;
  expect_refused(
      33,
      [&](std::span<const Vec4> bodies, std::span<const int> targets) {
        std::vector<Vec4> found = direct_sum(bodies, targets);
        if (++calls == 4) found[20].y = nan;
        return found;
      },
      "another acceleration of body 20");
}

TEST(CheckedCalls, LeaveAKernelThatIsNeverFiniteToTheCaller) {
  const std::vector<Vec4> bodies = ball(33);
  const auto call = [](std::span<const Vec4> sources, std::span<const int> targets) {
    std::vector<Vec4> found = direct_sum(sources, targets);
    found[20].y = nan;
    return found;
  };
  EXPECT_EQ(force_error(checked_accelerations(bodies, tolerance, call), each_of(bodies), {}).worst, 20);
}

TEST(CheckedCalls, FindAKernelThatTakesPlacesForBodies) {
  for (const int count : {2, 33}) {
    expect_refused(
        count,
        [](std::span<const Vec4> bodies, std::span<const int> targets) {
          std::vector<int> places(targets.size());
          for (std::size_t k = 0; k < places.size(); ++k) places[k] = static_cast<int>(k);
          return direct_sum(bodies, places);
        },
        "which is none: the k-th body to finish is targets.body(k)");
  }
}

TEST(CheckedCalls, FindATargetThatIsLeftOut) {
  expect_refused(
      33,
      [](std::span<const Vec4> bodies, std::span<const int> targets) {
        return direct_sum(bodies, targets.empty() ? targets : targets.first(targets.size() - 1));
      },
      "body 2 is missing or not finite");
}

TEST(CheckedCalls, FindAKernelThatTakesItsTargetsForAllSources) {
  expect_refused(
      33,
      [](std::span<const Vec4> bodies, std::span<const int> targets) {
        std::vector<Vec4> sources{bodies.begin(), bodies.end()};
        if (!targets.empty()) {
          for (Vec4& body : sources) body.w = 0;
          for (const int target : targets) sources[static_cast<std::size_t>(target)].w = bodies[0].w;
        }
        return direct_sum(sources, targets);
      },
      "is another one than with more bodies as targets");
}

}  // namespace
}  // namespace orrery
