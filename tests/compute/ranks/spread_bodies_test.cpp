// Bodies that stay with their ranks from step to step move as those of one process, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "compute/devices/part_sizes.h"
#include "compute/kernels/joint_work.h"
#include "compute/kernels/shared_facets.h"
#include "compute/ranks/kernel_of_ranks.h"
#include "compute/sim/simulation.h"
#include "tests/compute/ranks/rank_team.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/degenerate_bodies.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/kernel_info.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;
using test::RankTeam;

KernelPtr tree_kernel() {
  return test::find_kernel("cpu-tree");
}

/// What the ranks of a kernel did with bodies that stay with them.
class Witness {
 public:
  /// Called before a rank's part of an evaluation; may throw. `number` counts those of the rank.
  std::function<void(int rank, int number, const ForceArgs& args)> before = [](int, int, const ForceArgs&) {};

  void see(int rank, std::span<const int> ids, const ForceArgs& args) {
    int number = 0;
    {
      const std::lock_guard lock{mutex_};
      std::vector<int> now{ids.begin(), ids.end()}, came;
      std::ranges::sort(now);
      std::vector<int>& present = ids_[rank];
      number = numbers_[rank]++;
      std::ranges::set_difference(now, present, std::back_inserter(came));
      if (number > 0) arrivals_ += static_cast<int>(came.size());
      present = std::move(now);
    }
    before(rank, number, args);
  }
  /// Bodies that came to a rank after its first evaluation.
  int arrivals() const { return arrivals_; }
  int bodies_of(int rank) { return static_cast<int>(ids_[rank].size()); }
  /// Of each of `count` bodies, the rank that has it; -1: none.
  std::vector<int> owners(int count) const {
    std::vector<int> owners(static_cast<std::size_t>(count), -1);
    for (const auto& [rank, of_rank] : ids_) {
      for (const int id : of_rank) owners[static_cast<std::size_t>(id)] = rank;
    }
    return owners;
  }
  /// Those of all ranks in the latest evaluation, ascending.
  std::vector<int> ids() const {
    std::vector<int> all;
    for (const auto& [rank, of_rank] : ids_) all.insert(all.end(), of_rank.begin(), of_rank.end());
    std::ranges::sort(all);
    return all;
  }

 private:
  std::mutex mutex_;
  std::map<int, std::vector<int>> ids_;  // by rank
  std::map<int, int> numbers_;           // likewise
  int arrivals_ = 0;
};

/// cpu-tree with a witness.
class WitnessedTree final : public ForceKernel, public DomainFacet {
 public:
  explicit WitnessedTree(Witness& witness)
      : witness_{witness}, own_{tree_kernel()->make(Settings{*tree_kernel()}, nullptr)} {}
  void prepare(int count) override { own_->prepare(count); }
  void do_evaluate(const ForceArgs& args) override { own_->evaluate(args); }
  TreeFacet* tree() override { return own_->tree(); }
  DomainFacet* domains() override { return this; }
  MessageWriter divide(std::span<const Vec4> bodies, std::span<const Part> parts, std::vector<int>& owners) override {
    return own_->domains()->divide(bodies, parts, owners);
  }
  MessageWriter divide_own(std::span<const Vec4> bodies, std::span<const Part> parts, bool anew, JointWork& work,
                           std::vector<int>& owners) override {
    return own_->domains()->divide_own(bodies, parts, anew, work, owners);
  }
  void evaluate_domain(const ForceArgs& args, std::span<const int> ids, MessageReader division,
                       JointWork& work) override {
    work.attempt([&] { witness_.see(work.rank(), ids, args); });
    own_->domains()->evaluate_domain(args, ids, division, work);
  }

 private:
  Witness& witness_;
  std::unique_ptr<ForceKernel> own_;
};

/// Several ranks with a witness.
struct WitnessedTeam {
  explicit WitnessedTeam(int size) : team{size, known} {
    known.put(info());
    kernel = team.catalog().put(info());
  }
  KernelInfo info() {
    KernelInfo of_test = test::kernel_info(
        "witnessed", [this](const Settings&, const cuda::Device*) { return std::make_unique<WitnessedTree>(witness); });
    of_test.takes_targets = of_test.is_tree = true;
    return of_test;
  }

  Witness witness;
  KernelCatalog known;
  RankTeam team;
  KernelPtr kernel;
};

constexpr const char* moving_scene = "collapse";

Simulation alone(int count) {
  return {test::backends(), {.scene = moving_scene, .count = count}, tree_kernel()};
}

std::vector<int> all_of(int count) {
  std::vector<int> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

TEST(SpreadBodies, CrossBordersAndMoveAsInOneProcess) {
  Simulation expected = alone(2000);
  expected.run(50);
  for (const int size : {2, 3, 4}) {
    SCOPED_TRACE(size);
    WitnessedTeam ranks{size};
    Simulation found{ranks.team.backends(), {.scene = moving_scene, .count = 2000}, ranks.kernel};
    // One rank is slow at times, so that the borders move.
    ranks.witness.before = [](int rank, int number, const ForceArgs& args) {
      if (rank == number / 16 % 2) std::this_thread::sleep_for(args.count * std::chrono::microseconds{2});
    };
    found.run(20);
    const Bodies on_the_way = found.bodies();
    found.run(30);
    EXPECT_EQ(found.bodies(), expected.bodies());
    EXPECT_EQ(ranks.witness.ids(), all_of(2000)) << "each body has one rank";
    EXPECT_GT(ranks.witness.arrivals(), 100) << "bodies change their ranks";
    Simulation half = alone(2000);
    half.run(20);
    EXPECT_EQ(on_the_way, half.bodies()) << "reading the bodies disturbs no step";
  }
}

TEST(SpreadBodies, TravelInSeveralMessages) {
  constexpr int count = 2 * static_cast<int>(RankBodies::most_in_message) + 5;
  const Bodies bodies = test::random_ball(count);
  WitnessedTeam ranks{2};
  const auto kernel = ranks.team.backends().make_kernel(*ranks.kernel, Settings{*ranks.kernel});
  SpreadFacet* const spread = spread_of(*kernel);
  ASSERT_TRUE(spread);
  for (const Bodies& sent : {bodies, test::random_ball(3)}) {
    spread->spread(sent, {});
    EXPECT_EQ(spread->gather(), sent) << sent.count();
  }
}

TEST(SpreadBodies, StayWhileTheKernelIsPreparedForOthers) {
  WitnessedTeam ranks{2};
  const auto kernel = ranks.team.backends().make_kernel(*ranks.kernel, Settings{*ranks.kernel});
  const Bodies many = test::random_ball(3000), few = test::random_ball(10);
  spread_of(*kernel)->spread(many, {});
  kernel->prepare(few.count());
  EXPECT_EQ(spread_of(*kernel)->gather(), many);
  EXPECT_FALSE(owners_of(*kernel, few.count())) << "those are of other bodies";
  const auto alone = tree_kernel()->make(Settings{*tree_kernel()}, nullptr);
  EXPECT_EQ(test::evaluate(*kernel, few, {.law = {}}).accelerations,
            test::evaluate(*alone, few, {.law = {}}).accelerations);
  EXPECT_EQ(owners_of(*kernel, few.count())->of_body.size(), 10u);
}

TEST(SpreadBodies, HaveTheRankThatEvaluatedThem) {
  constexpr int count = 6000;
  WitnessedTeam ranks{3};
  Simulation found{ranks.team.backends(), {.scene = moving_scene, .count = count}, ranks.kernel};
  Simulation expected = alone(count);
  const auto expect_domains = [&](std::int64_t step, bool stays) {  // the bodies, with their ranks
    const std::shared_ptr<const Domains> domains = found.status().domains;
    ASSERT_TRUE(domains);
    EXPECT_EQ(domains->step, step);
    EXPECT_EQ(domains->owners.names, (std::vector<std::string>{"rank 0", "rank 1", "rank 2"}));
    const std::vector<int>& owners = domains->owners.of_body;
    EXPECT_EQ(std::set(owners.begin(), owners.end()), (std::set{0, 1, 2}));
    if (stays) {
      EXPECT_EQ(owners, ranks.witness.owners(count));
    }
  };
  for (const char* integrator : {"leapfrog", "euler", "leapfrog-blocks"}) {
    SCOPED_TRACE(integrator);
    for (Simulation* run : {&found, &expected}) {
      run->apply(SelectIntegrator{integrator});
      run->apply(ReadDomains{});
      run->run(5);
    }
    expect_domains(found.status().step, !find_integrator(integrator).block_steps);
    EXPECT_EQ(found.bodies(), expected.bodies()) << "reading them disturbs no step";
  }
  found.apply(Restart{});
  found.apply(SetPaused{true});
  EXPECT_FALSE(found.status().domains) << "of other bodies";
  found.apply(ReadDomains{});
  EXPECT_EQ(found.advance_frame(1), 0);
  found.wait();
  expect_domains(0, /*stays=*/false);
}

TEST(SpreadBodies, MayBeInPartsOfUnequalSizes) {
  constexpr int ranks = 7;
  constexpr std::size_t most = 10;  // in a message
  const Bodies bodies = test::random_ball(ranks * static_cast<int>(most));
  const std::vector<Part> parts = PartSizes{ranks}.parts();
  std::vector<RankBodies> held(ranks);
  bool more = true, unequal = false;
  for (std::size_t offset = 0; more; offset += most) {
    more = false;
    for (std::size_t rank = 0; rank < held.size(); ++rank) {
      MessageWriter message;
      more |= RankBodies::put_first(bodies, {}, parts[rank], offset, message, most);
      held[rank].take_first(MessageReader{message.bytes()});
      unequal |= parts[rank].last(bodies.count()) - parts[rank].first(bodies.count()) != static_cast<int>(most);
    }
  }
  EXPECT_TRUE(unequal);
  std::vector<int> ids;
  for (const RankBodies& rank : held) {
    MessageWriter message;
    rank.put(0, bodies.count(), message);
    MessageReader reader{message.bytes()};
    reader.get_all(ids);
  }
  EXPECT_EQ(ids, all_of(bodies.count()));
}

TEST(SpreadBodies, OfASlowRankAreFewer) {
  WitnessedTeam ranks{2};
  ranks.witness.before = [](int rank, int, const ForceArgs& args) {
    if (rank == 1) std::this_thread::sleep_for(args.count * std::chrono::microseconds{30});
  };
  Simulation simulation{ranks.team.backends(), {.scene = "plummer", .count = 1000}, ranks.kernel};
  simulation.run(1);
  const int first = ranks.witness.bodies_of(1);
  simulation.run(20);
  EXPECT_LT(ranks.witness.bodies_of(1), first * 3 / 4);
}

TEST(SpreadBodies, MayLieInAnyWay) {
  const std::vector<Bodies> systems{test::coincident(257), test::collinear(257),   test::lopsided(257),
                                    test::lopsided(3),     test::coincident(2),    test::random_ball(1),
                                    test::random_ball(5),  test::random_ball(4097)};
  for (const int size : {2, 3, 4}) {
    WitnessedTeam ranks{size};
    Simulation found{ranks.team.backends(), {.scene = "plummer", .count = 8}, ranks.kernel};
    Simulation expected{test::backends(), {.scene = "plummer", .count = 8}, tree_kernel()};
    for (const Bodies& bodies : systems) {
      SCOPED_TRACE(std::to_string(size) + " ranks, " + std::to_string(bodies.count()) + " bodies");
      for (Simulation* each : {&found, &expected}) {
        each->set_bodies(bodies);
        each->run(3);
      }
      EXPECT_EQ(found.bodies(), expected.bodies());
      EXPECT_EQ(ranks.witness.ids(), all_of(bodies.count()));
    }
  }
}

TEST(SpreadBodies, FollowCommandsBetweenSteps) {
  WitnessedTeam ranks{3};
  Simulation found{ranks.team.backends(), {.scene = moving_scene, .count = 500}, ranks.kernel};
  Simulation expected = alone(500);
  const std::vector<std::function<void(Simulation&)>> changes{
      [](Simulation& run) { run.apply(SelectIntegrator{"yoshida4"}); },
      [](Simulation& run) { run.apply(SelectIntegrator{"euler"}); },
      [](Simulation& run) { run.apply(SetSoftening{0.07f}); },
      [](Simulation& run) { run.apply(SelectIntegrator{"leapfrog"}); },
      [](Simulation& run) { run.apply(SelectIntegrator{"leapfrog-blocks"}); },
      [](Simulation& run) { run.apply(SelectIntegrator{"leapfrog"}); },
      [](Simulation& run) { run.apply(ProbeForces{.sample = 16}); },
      [](Simulation& run) { run.apply(MeasureConserved{}); },
      [](Simulation& run) { run.apply(SetDigits{Digits::compensated}); },
      [](Simulation& run) { run.apply(SetTimeStep{0.001f}); }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    for (Simulation* run : {&found, &expected}) {
      changes[i](*run);
      run->run(3);
    }
    ASSERT_EQ(found.bodies(), expected.bodies()) << "after change " << i;
  }
  ASSERT_TRUE(found.status().conserved && expected.status().conserved);
  EXPECT_EQ(found.status().conserved->sums.energy(), expected.status().conserved->sums.energy());
}

TEST(SpreadBodies, AreAsBeforeAStepThatFailed) {
  struct BadDay : std::runtime_error {
    BadDay() : std::runtime_error{"a bad day"} {}
  };
  for (const int rank : {0, 2}) {
    SCOPED_TRACE(rank);
    WitnessedTeam ranks{3};
    Simulation found{ranks.team.backends(), {.scene = moving_scene, .count = 600}, ranks.kernel};
    Simulation expected = alone(600);
    for (Simulation* run : {&found, &expected}) {
      run->apply(SelectIntegrator{"yoshida4"});  // the others go on to further evaluations
      run->run(2);
    }
    ranks.witness.before = [rank](int here, int, const ForceArgs&) {
      if (here == rank) throw BadDay{};
    };
    expect_failure(
        Failure::runtime, [&] { found.run(1); }, rank == 0 ? "a bad day" : "rank 2: a bad day");
    EXPECT_EQ(found.bodies(), expected.bodies());
    ranks.witness.before = [](int, int, const ForceArgs&) {};
    for (Simulation* run : {&found, &expected}) run->run(3);
    EXPECT_EQ(found.bodies(), expected.bodies());
    ranks.witness.before = [rank](int here, int, const ForceArgs&) {
      if (here == rank) throw std::bad_alloc{};
    };
    expect_failure(
        Failure::runtime, [&] { found.run(1); }, "not enough memory");
  }
}

TEST(SpreadBodies, AreAsBeforeAStepThatWasCancelled) {
  WitnessedTeam ranks{3};
  Simulation found{ranks.team.backends(), {.scene = moving_scene, .count = 600}, ranks.kernel};
  found.run(2);
  const Bodies before = found.bodies();
  ranks.witness.before = [](int rank, int, const ForceArgs& args) {
    const auto begin = std::chrono::steady_clock::now();
    while (rank == 0 && !*args.cancelled && std::chrono::steady_clock::now() - begin < std::chrono::seconds{4}) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  };
  ASSERT_EQ(found.advance_frame(1), 1);
  const auto begin = std::chrono::steady_clock::now();
  found.apply(SetTimeStep{0.002f});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{3});
  EXPECT_EQ(found.status().step, 2);
  EXPECT_EQ(found.bodies(), before);
  ranks.witness.before = [](int, int, const ForceArgs&) {};
  found.run(3);
  Simulation expected = alone(600);
  expected.run(2);
  expected.apply(SetTimeStep{0.002f});
  expected.run(3);
  EXPECT_EQ(found.bodies(), expected.bodies());
}

TEST(SpreadBodies, ThatAreNotFiniteStopTheRunAsInOneProcess) {
  WitnessedTeam ranks{3};
  Simulation found{ranks.team.backends(), {.scene = "plummer", .count = 8}, ranks.kernel};
  Simulation expected{test::backends(), {.scene = "plummer", .count = 8}, tree_kernel()};
  test::expect_same_not_finite(found, expected);
}

}  // namespace
}  // namespace orrery
