// How the ranks of a kernel divide the bodies of an evaluation.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "compute/kernels/kernel_sharing.h"
#include "compute/kernels/shared_facets.h"
#include "compute/ranks/cpu_kernels.h"
#include "tests/compute/ranks/rank_team.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/kernel_info.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

/// Has as many bodies as its part says, in their order, each of which takes some time. Notes the targets among them.
class Spread final : public ForceKernel, public DomainFacet {
 public:
  Spread(std::vector<int>& seen, std::chrono::microseconds per_target) : seen_{seen}, per_target_{per_target} {}
  void do_evaluate(const ForceArgs&) override { FAIL() << "no rank has all bodies"; }
  DomainFacet* domains() override { return this; }
  MessageWriter divide(std::span<const Vec4> bodies, std::span<const Part> parts, std::vector<int>& owners) override {
    for (const Part& part : parts) {
      const auto place = [&](std::size_t at) { return owners.begin() + static_cast<std::ptrdiff_t>(at); };
      std::fill(place(part.first(bodies.size())), place(part.last(bodies.size())), part.index);
    }
    return {};
  }
  MessageWriter divide_own(std::span<const Vec4> bodies, std::span<const Part> /*parts*/, bool /*anew*/,
                           CollectiveWork& work, std::vector<int>& owners) override {
    owners.assign(bodies.size(), work.rank());
    return {};
  }
  void evaluate_domain(const ForceArgs& args, std::span<const int> /*ids*/, MessageReader /*division*/,
                       CollectiveWork& work) override {
    seen_.clear();
    for (int place = 0; place < args.target_count(); ++place) seen_.push_back(args.targets.body(place));
    std::this_thread::sleep_for(args.target_count() * per_target_);
    work.put_for_all('x');
    work.exchange();
  }

 private:
  std::vector<int>& seen_;
  std::chrono::microseconds per_target_;
};

KernelInfo spread(std::vector<int>& seen, std::chrono::microseconds per_target = {}) {
  KernelInfo info = test::kernel_info("spread", [&seen, per_target](const Settings&, const cuda::Device*) {
    return std::make_unique<Spread>(seen, per_target);
  });
  info.takes_targets = info.is_tree = true;
  return info;
}

TEST(PartitionedKernel, TellsEachRankItsTargetsAmongItsBodies) {
  std::vector<int> first, second;  // the targets of both ranks
  test::KernelOfTwo kernel{spread(first), spread(second)};
  const Bodies bodies = test::random_ball(6);
  test::evaluate(*kernel, bodies, {.law = {}});
  EXPECT_EQ(first, (std::vector{0, 1, 2}));
  EXPECT_EQ(second, (std::vector{0, 1, 2}));
  test::evaluate(*kernel, bodies, {.law = {}, .targets = {5, 0, 3}});
  EXPECT_EQ(first, std::vector{0});
  EXPECT_EQ(second, (std::vector{2, 0}));
}

TEST(PartitionedKernel, KnowsTheOwnersOnceItHasDividedTheBodies) {
  std::vector<int> first, second;
  test::KernelOfTwo kernel{spread(first), spread(second)};
  const Bodies bodies = test::random_ball(6);
  EXPECT_FALSE(owners_of(*kernel, 6));
  test::evaluate(*kernel, bodies, {.law = {}});
  const BodyOwners halves{.names = {"rank 0", "rank 1"}, .of_body = {0, 0, 0, 1, 1, 1}};
  EXPECT_EQ(owners_of(*kernel, 6), halves);
  EXPECT_FALSE(owners_of(*kernel, 7)) << "other bodies";
  (*kernel).bodies_replaced();
  EXPECT_FALSE(owners_of(*kernel, 6)) << "other bodies, as many";
}

TEST(PartitionedKernel, ASlowRankGetsFewerBodies) {
  std::vector<int> first, second;
  test::KernelOfTwo kernel{spread(first, std::chrono::microseconds{100}),
                           spread(second, std::chrono::microseconds{400})};
  const Bodies bodies = test::random_ball(64);
  test::evaluate(*kernel, bodies, {.law = {}});
  EXPECT_EQ(first.size(), 32u) << "nothing is measured yet";
  for (int evaluation = 0; evaluation < 20; ++evaluation) {
    test::evaluate(*kernel, bodies, {.law = {}});
    EXPECT_EQ(first.size() + second.size(), 64u);
  }
  EXPECT_NEAR(static_cast<double>(first.size()), 51, 8) << "51 take as long as the other 13";
  test::evaluate(*kernel, bodies, {.law = {}, .targets = {1, 2, 3, 4}});
  EXPECT_EQ(first, (std::vector{1, 2, 3, 4})) << "a target is where its body is";
}

}  // namespace
}  // namespace orrery
