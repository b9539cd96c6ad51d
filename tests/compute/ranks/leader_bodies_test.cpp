// Bodies that stay with their ranks from step to step move, and are written, as those of one process, bit for bit.
#include <new>

#include "compute/core/bodies.h"
#include "compute/core/row_file.h"
#include "compute/core/temporary_folder.h"
#include "compute/devices/load_balance.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/kernels/shared_facets.h"
#include "compute/ranks/cpu_kernels.h"
#include "compute/ranks/rank_bodies.h"
#include "compute/sim/simulation.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/units.h"
#include "tests/compute/ranks/rank_team.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/kernel_doubles.h"
#include "tests/compute/support/random_ball.h"
#include "tests/compute/support/short_memory.h"
#include "tests/compute/support/thread_ranks.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::Failure;
using test::RankTeam;

KernelPtr tree_kernel() {
  return test::find_kernel("cpu-tree");
}

/// A record of what the ranks of a kernel did with bodies that stay with them.
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
  /// Returns the rank of each of `count` bodies; -1: no rank has it.
  std::vector<int> owners(int count) const {
    std::vector<int> owners(static_cast<std::size_t>(count), -1);
    for (const auto& [rank, of_rank] : ids_) {
      for (const int id : of_rank) owners[static_cast<std::size_t>(id)] = rank;
    }
    return owners;
  }
  /// Returns the ids on all ranks in the latest evaluation, ascending.
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
  MessageWriter divide_own(std::span<const Vec4> bodies, std::span<const Part> parts, bool anew, CollectiveWork& work,
                           std::vector<int>& owners) override {
    return own_->domains()->divide_own(bodies, parts, anew, work, owners);
  }
  void evaluate_domain(const ForceArgs& args, std::span<const int> ids, MessageReader division,
                       CollectiveWork& work) override {
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

TEST(LeaderBodies, CrossBordersAndMoveAsInOneProcess) {
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

TEST(LeaderBodies, TravelInSeveralMessages) {
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

TEST(LeaderBodies, StayWhileTheKernelIsPreparedForOthers) {
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

TEST(LeaderBodies, HaveTheRankThatEvaluatedThem) {
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
      test::apply(*run, SelectIntegrator{integrator}, ReadDomains{});
      run->run(5);
    }
    expect_domains(found.status().step, !find_integrator(integrator).block_steps);
    EXPECT_EQ(found.bodies(), expected.bodies()) << "reading them disturbs no step";
  }
  test::apply(found, Restart{}, SetPaused{true});
  EXPECT_FALSE(found.status().domains) << "of other bodies";
  found.apply(ReadDomains{});
  EXPECT_EQ(found.advance_frame(1), 0);
  found.wait();
  expect_domains(0, /*stays=*/false);
}

TEST(LeaderBodies, MayBeInPartsOfUnequalSizes) {
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

TEST(LeaderBodies, OfASlowRankAreFewer) {
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

TEST(LeaderBodies, MayLieInAnyWay) {
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

TEST(LeaderBodies, FollowCommandsBetweenSteps) {
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

TEST(LeaderBodies, AreAsBeforeAStepThatFailed) {
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
    EXPECT_RUNTIME_ERROR(found.run(1), rank == 0 ? "a bad day" : "rank 2: a bad day");
    EXPECT_EQ(found.bodies(), expected.bodies());
    ranks.witness.before = [](int, int, const ForceArgs&) {};
    for (Simulation* run : {&found, &expected}) run->run(3);
    EXPECT_EQ(found.bodies(), expected.bodies());
    ranks.witness.before = [rank](int here, int, const ForceArgs&) {
      if (here == rank) throw std::bad_alloc{};
    };
    EXPECT_RUNTIME_ERROR(found.run(1), "not enough memory");
  }
}

TEST(LeaderBodies, AreAsBeforeAStepThatWasCancelled) {
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

TEST(LeaderBodies, ThatAreNotFiniteStopTheRunAsInOneProcess) {
  WitnessedTeam ranks{3};
  Simulation found{ranks.team.backends(), {.scene = "plummer", .count = 8}, ranks.kernel};
  Simulation expected{test::backends(), {.scene = "plummer", .count = 8}, tree_kernel()};
  test::expect_same_not_finite(found, expected);
}

/// cpu-simd that counts the evaluations of bodies that stay with a rank.
class WitnessedSum final : public ForceKernel {
 public:
  using Before = std::function<void(const ForceArgs& args)>;
  WitnessedSum(std::atomic<int>& evaluations, const Before& before)
      : evaluations_{evaluations}, before_{before}, own_{simd().make(Settings{simd()}, nullptr)} {}
  void prepare(int count) override { own_->prepare(count); }

 protected:
  void do_evaluate(const ForceArgs& args) override {
    if (args.targets.first >= 0) ++evaluations_;  // ReplicatedKernel lists them in any order
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
  EXPECT_RUNTIME_ERROR(found.run(1), "rank 2: a bad day");
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

// Bodies that ranks hold are read in pieces, and written as those of one process.

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
        for (const char* name : {"a.checkpoint", "a.gadget", "a.txt", "a.hdf5"}) {
          if (name == std::string{"a.hdf5"} && !has_hdf5()) continue;
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

/// The outcome of writing these bodies: the bytes of the file, or the message.
std::string outcome_of(const SnapshotView& view, const std::filesystem::path& path) {
  std::filesystem::remove(path);
  const test::Failure failure = test::failure_of([&] { write_snapshot(path, view); });
  if (failure.kind != test::Failure::none) return failure.message;
  std::ifstream file{path, std::ios::binary};
  return std::string{std::istreambuf_iterator<char>{file}, {}};
}

TEST(BodiesOfRanks, AreCheckedWhereTheyAre) {
  const TemporaryFolder folder;
  const BodyProperties none;
  const Units units = gravity_units(2 * galactic_units.length_cm, galactic_units.mass_g / 2);  // GADGET has others
  test::RankTeam team{3};
  const KernelPtr tree = team.catalog().find("cpu-tree");
  const auto kernel = team.backends().make_kernel(*tree, Settings{*tree});
  const auto try_bodies = [&](const char* what, const auto& change) {
    SCOPED_TRACE(what);
    Bodies bodies = test::random_ball(300);
    change(bodies);
    spread_of(*kernel)->spread(bodies, {});
    BodyBounds expected;
    for (std::size_t i = 0; i < bodies.positions.size(); ++i) expected.add(bodies.positions[i], bodies.velocities[i]);
    const std::optional<BodyBounds> found = spread_of(*kernel)->source()->bounds();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->finite, expected.finite);
    EXPECT_EQ(found->least_mass, expected.least_mass);
    EXPECT_EQ(found->fastest, expected.fastest);
    for (const char* name : {"a.txt", "a.tipsy", "a.gadget", "a.hdf5"}) {
      if (name == std::string{"a.hdf5"} && !has_hdf5()) continue;
      const auto view = [&](std::unique_ptr<BodySource> source) {
        return SnapshotView{.bodies = std::move(source), .properties = none, .units = units};
      };
      EXPECT_EQ(outcome_of(view(spread_of(*kernel)->source()), folder / name),
                outcome_of(view(std::make_unique<HeldBodies>(bodies)), folder / name))
          << name;
    }
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  try_bodies("masses of their own", [](Bodies&) {});
  try_bodies("equal masses", [](Bodies& bodies) {
    for (Vec4& position : bodies.positions) position.w = 2;
  });
  try_bodies("one that is not finite", [](Bodies& bodies) { bodies.velocities[207].y = -infinity; });
  try_bodies("a mass that is not finite", [](Bodies& bodies) { bodies.positions[5].w = infinity; });
  try_bodies("beyond the units of the format", [](Bodies& bodies) { bodies.positions[250].z = -9.99e14f; });
  try_bodies("a mass below them", [](Bodies& bodies) { bodies.positions[250].w = 1.1e-30f; });
  try_bodies("too fast for them", [](Bodies& bodies) { bodies.velocities[99].x = 9.9e14f; });
}

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
