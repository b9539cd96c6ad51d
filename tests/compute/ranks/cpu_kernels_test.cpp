// Several ranks that share the evaluations of a CPU kernel find the bits of one process.
#include "compute/ranks/cpu_kernels.h"

#include <cctype>
#include <new>

#include "compute/diagnostics/conserved.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/kernels/shared_facets.h"
#include "compute/sim/simulation.h"
#include "tests/compute/ranks/rank_team.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/kernel_doubles.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;
using test::RankTeam;

std::vector<KernelPtr> kernels_by_sharing(bool can_be_shared) {
  return test::kernels_under_test([&](const KernelInfo& kernel) { return kernel.takes_targets == can_be_shared; });
}

class SharedKernelOf : public testing::TestWithParam<KernelPtr> {
 protected:
  static const KernelInfo& info() { return *GetParam(); }
};

std::vector<double> alone(const Bodies& bodies, const Law& law) {
  return potentials_with_earlier(bodies.positions, bodies.positions_low, 0, bodies.count(), law, nullptr);
}

TEST_P(SharedKernelOf, FindsTheBitsOfOneProcess) {
  std::vector<Bodies> systems{test::coincident(257), test::collinear(257), test::lopsided(257),
                              test::massless(33),    test::coincident(2),  test::lopsided(3)};
  for (const int count : {1, 2, 3, 5, 31, 257, 4097}) systems.push_back(test::random_ball(count));
  const auto alone = test::backends().make_kernel(info(), Settings{info()});
  for (const int size : {2, 3, 4}) {
    RankTeam team{size};
    const auto shared = team.backends().make_kernel(info(), Settings{info()});
    for (const Bodies& bodies : systems) {
      SCOPED_TRACE(std::to_string(size) + " ranks, " + std::to_string(bodies.count()) + " bodies");
      for (const Law& law : {Law{}, test::attract_repel}) {
        const test::ForceRequest request{.law = law, .kick_dt = 0.01f};
        const test::ForceResult expected = test::evaluate(*alone, bodies, request);
        for (int again = 0; again < 2; ++again) {  // a tree's ranks then have other bodies
          const test::ForceResult found = test::evaluate(*shared, bodies, request);
          EXPECT_EQ(found.accelerations, expected.accelerations);
          EXPECT_EQ(found.velocities, expected.velocities);
        }
      }
    }
  }
}

TEST_P(SharedKernelOf, EvaluatesTargets) {
  const Bodies bodies = test::random_ball(300);
  RankTeam team{3};
  const auto alone = test::backends().make_kernel(info(), Settings{info()});
  const auto shared = team.backends().make_kernel(info(), Settings{info()});
  const std::vector<Vec4> all = test::evaluate(*alone, bodies, {.law = {}}).accelerations;
  for (const std::vector<int>& targets : {std::vector{17}, {299, 0}, {5, 4, 200, 100, 1, 2}}) {
    const std::vector<Vec4> found = test::evaluate(*shared, bodies, {.law = {}, .targets = targets}).accelerations;
    EXPECT_EQ(entries(found, targets), entries(all, targets));
    EXPECT_EQ(std::ranges::count_if(found, [](const Vec4& a) { return !std::isnan(a.x); }),
              static_cast<std::ptrdiff_t>(targets.size()));
  }
}

TEST_P(SharedKernelOf, FindsTheBitsOfOneProcessForMoreBodiesThan16BitsCount) {
  const Bodies bodies = test::random_ball(65'537);
  test::ForceRequest request{.law = {}};
  if (!info().is_tree) {  // some of the bodies, for all take long
    for (int body = 0; body < bodies.count(); body += 1021) request.targets.push_back(body);
  }
  const auto alone = test::backends().make_kernel(info(), Settings{info()});
  const auto found_by = [&](ForceKernel& kernel) {
    const std::vector<Vec4> all = test::evaluate(kernel, bodies, request).accelerations;
    return request.targets.empty() ? all : entries(all, request.targets);
  };
  const std::vector<Vec4> expected = found_by(*alone);
  for (const int size : {2, 3, 4}) {
    RankTeam team{size};
    const auto shared = team.backends().make_kernel(info(), Settings{info()});
    for (int again = 0; again < 2; ++again) EXPECT_EQ(found_by(*shared), expected) << size << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, SharedKernelOf, testing::ValuesIn(kernels_by_sharing(true)), test::test_name);

class SharedTree : public SharedKernelOf {};

const KernelInfo& tree() {
  return *test::find_kernel("cpu-tree");
}

TEST_P(SharedTree, CountsTheInteractionsOfAllRanks) {
  const Bodies bodies = test::random_ball(4097);
  RankTeam team{3};
  const auto alone = test::backends().make_kernel(info(), Settings{info()});
  const auto shared = team.backends().make_kernel(info(), Settings{info()});
  std::uint64_t expected = 0;
  test::evaluate(*alone, bodies, {.law = {}, .evaluated = &expected});
  for (int again = 0; again < 2; ++again) {
    std::uint64_t found = 0;
    test::evaluate(*shared, bodies, {.law = {}, .evaluated = &found});
    // Interactions of an expansion with far cells count once per thread or rank that has groups in the cell.
    EXPECT_NEAR(static_cast<double>(found), static_cast<double>(expected), 0.03 * static_cast<double>(expected));
    EXPECT_EQ(shared->tree()->report()->interactions, static_cast<std::int64_t>(found));
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, SharedTree, testing::ValuesIn(test::trees_under_test()), test::test_name);

TEST(ReplicatedKernel, OfAKernelWithoutTargetsIsRefused) {
  RankTeam team{2};
  const std::vector<KernelPtr> others = kernels_by_sharing(false);
  ASSERT_FALSE(others.empty());
  for (const KernelPtr& kernel : others) {
    EXPECT_USAGE_ERROR(team.backends().make_kernel(*kernel, Settings{*kernel}), kernel->id, "2 ranks cannot share it",
                       "cpu-serial, ");
    EXPECT_EQ(team.backends().available_kernels().find(kernel->id), std::string::npos);
  }
}

TEST(ReplicatedKernel, IsNotOfCudaWithoutDevices) {
  RankTeam team{2};
  const BackendStatus& cuda = team.backends().status(Backend::cuda);
  EXPECT_FALSE(cuda.available);
  const BackendStatus& alone = test::backends().status(Backend::cuda);
  const std::string reason = alone.available ? "these ranks have no CUDA devices" : alone.reason;
  EXPECT_EQ(cuda.reason.find(reason), 0u) << "the reason that counts: " << cuda.reason;
  EXPECT_EQ(team.backends().default_kernel()->backend, Backend::cpu);
  EXPECT_RUNTIME_ERROR((Backends{team.catalog(), 0}), reason);
  EXPECT_RUNTIME_ERROR((Backends{team.catalog(), DeviceList{.all = true, .ordinals = {}}}), reason);
}

TEST(ReplicatedKernel, NamesTheRanksThatItHas) {
  RankTeam team{3};
  const KernelPtr kernel = test::find_kernel("cpu-serial");
  EXPECT_EQ(team.backends().make_kernel(*kernel, Settings{*kernel})->chosen(10, {}), "ranks 3");
}

/// Notes its targets.
class Notes final : public ForceKernel {
 public:
  explicit Notes(std::vector<int>& seen) : seen_{seen} {}
  void do_evaluate(const ForceArgs& args) override {
    seen_.clear();
    for (int k = 0; k < args.target_count(); ++k) seen_.push_back(args.targets.body(k));
  }

 private:
  std::vector<int>& seen_;
};

KernelInfo notes(std::vector<int>& seen) {
  KernelInfo info = test::kernel_info(
      "notes", [&seen](const Settings&, const cuda::Device*) { return std::make_unique<Notes>(seen); });
  info.takes_targets = true;
  return info;
}

TEST(ReplicatedKernel, KnowsTheOwnersOfBodies) {
  std::vector<int> first, second;  // the targets of both ranks
  const test::SharedKernelTeam ranks{2, notes(first), notes(second)};
  const auto kernel = ranks.make();
  for (const int count : {1, 2, 7, 256}) {
    test::evaluate(*kernel, test::random_ball(count), {.law = {}});
    std::vector<int> owners(static_cast<std::size_t>(count), -1);
    for (const int body : first) owners[static_cast<std::size_t>(body)] = 0;
    if (count > 1) {  // the second rank is not asked for nothing
      for (const int body : second) owners[static_cast<std::size_t>(body)] = 1;
    }
    EXPECT_EQ(owners_of(*kernel, count), (BodyOwners{.names = {"rank 0", "rank 1"}, .of_body = owners})) << count;
  }
}

TEST(ReplicatedKernel, OfOneProcessHasNoOwners) {
  for (const KernelPtr& kernel : test::kernels_under_test()) {
    EXPECT_EQ(owners_of(*test::backends().make_kernel(*kernel, Settings{*kernel}), 10), BodyOwners{}) << kernel->id;
  }
}

class SharedRun : public testing::TestWithParam<const char*> {};

Bodies after_steps(const Backends& backends, const char* integrator, const char* kernel, Digits digits) {
  Simulation simulation{backends, {.scene = "plummer", .count = 300}, test::find_kernel(kernel)};
  test::apply(simulation, SetDigits{digits}, SelectIntegrator{integrator});
  simulation.run(5);
  return simulation.bodies();
}

TEST_P(SharedRun, MovesTheBodiesAsOneProcessDoes) {
  for (const int size : {2, 3}) {
    RankTeam team{size};
    for (const char* kernel : {"cpu-jerk", "cpu-tree", "cpu-fp64"}) {
      if (find_integrator(GetParam()).needs_jerks && !test::find_kernel(kernel)->gives_jerks) continue;
      for (const Digits digits : {Digits::single, Digits::compensated}) {
        EXPECT_EQ(after_steps(team.backends(), GetParam(), kernel, digits),
                  after_steps(test::backends(), GetParam(), kernel, digits))
            << size << " ranks, " << kernel;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Integrators, SharedRun,
                         testing::Values("euler", "leapfrog", "yoshida4", "leapfrog-blocks", "hermite4",
                                         "hermite4-blocks"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(SharedRun, SeveralSimulationsTakeTurns) {
  RankTeam team{2};
  Simulation first{team.backends(), {.scene = "plummer", .count = 500}, test::find_kernel("cpu-serial")};
  Simulation second{team.backends(), {.scene = "plummer", .count = 900}, test::find_kernel("cpu-tree")};
  Simulation first_alone{test::backends(), {.scene = "plummer", .count = 500}, test::find_kernel("cpu-serial")};
  Simulation second_alone{test::backends(), {.scene = "plummer", .count = 900}, test::find_kernel("cpu-tree")};
  for (Simulation* each : {&first, &second, &first_alone, &second_alone}) each->start(4, 0);
  for (Simulation* each : {&first, &second, &first_alone, &second_alone}) each->wait();
  EXPECT_EQ(first.bodies(), first_alone.bodies());
  EXPECT_EQ(second.bodies(), second_alone.bodies());
}

TEST(SharedRun, ACommandAbandonsALongStepOfAllRanks) {
  RankTeam team{2};
  Simulation simulation{team.backends(), {.scene = "plummer", .count = 131'072}, test::find_kernel("cpu-serial")};
  const Bodies start = simulation.bodies();
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(simulation.advance_frame(1), 1);  // a minute of work
  simulation.apply(SetTimeStep{0.002f});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{10});
  EXPECT_EQ(simulation.status().step, 0);
  EXPECT_EQ(simulation.bodies(), start);
  simulation.apply(LoadScene{{.scene = "plummer", .count = 100}});
  simulation.run(1);
  Simulation alone{test::backends(), {.scene = "plummer", .count = 100}, test::find_kernel("cpu-serial")};
  alone.run(1);
  EXPECT_EQ(simulation.bodies(), alone.bodies()) << "an order to cancel that came late does nothing";
}

/// The calls in which a Fragile kernel throws.
struct Weakness {
  std::atomic<bool> prepare = false, evaluate = false;
};

/// Throws in its own way while it has a weakness; otherwise nothing attracts anything.
template <class Error>
class Fragile final : public ForceKernel {
 public:
  explicit Fragile(const Weakness& weakness) : weakness_{weakness} {}
  void prepare(int count) override {
    if (weakness_.prepare) throw Error{};
    prepared_ = count;
  }
  void do_evaluate(const ForceArgs& args) override {
    if (args.count != prepared_) throw std::logic_error("it was not prepared");
    if (weakness_.evaluate) throw Error{};
    for (int place = 0; place < args.target_count(); ++place) {
      const int i = args.targets.body(place);
      args.epilogue.finish(i, args.bodies[i].w, Vec3{});
    }
  }

 private:
  const Weakness& weakness_;
  int prepared_ = 0;
};

struct BadDay : std::runtime_error {
  BadDay() : std::runtime_error{"a bad day"} {}
};

template <class Error>
KernelInfo fragile(const Weakness& weakness) {
  KernelInfo info = test::kernel_info(
      "fragile", [&](const Settings&, const cuda::Device*) { return std::make_unique<Fragile<Error>>(weakness); });
  info.takes_targets = true;
  return info;
}

/// The leader has a kernel with the weakness `own`, two workers have others with `theirs`.
template <class Error>
struct FragileTeam {
  Weakness own, theirs;
  test::SharedKernelTeam ranks{3, fragile<Error>(own), fragile<Error>(theirs)};

  std::unique_ptr<ForceKernel> make() const { return ranks.make(); }
};

TEST(ReplicatedKernel, AWorkersErrorNamesItsRank) {
  FragileTeam<BadDay> ranks;
  const Bodies bodies = test::random_ball(10);
  const auto kernel = ranks.make();
  const auto evaluate = [&] { test::evaluate(*kernel, bodies, {.law = {}}); };
  ranks.theirs.evaluate = true;
  expect_failure(Failure::runtime, evaluate, "rank 1: a bad day");
  ranks.own.evaluate = true;
  EXPECT_EQ(test::failure_of(evaluate).message, "a bad day") << "the leader's own comes first";
  ranks.theirs.evaluate = ranks.own.evaluate = false;
  EXPECT_NO_THROW(evaluate()) << "nothing of the failures is left";
}

TEST(ReplicatedKernel, IsPreparedAnewAfterAFailedPreparation) {
  FragileTeam<BadDay> ranks;
  const Bodies few = test::random_ball(10), more = test::random_ball(20);
  const auto kernel = ranks.make();
  kernel->prepare(10);
  ranks.theirs.prepare = true;
  EXPECT_RUNTIME_ERROR(kernel->prepare(20), "rank 1: a bad day");
  ranks.theirs.prepare = false;
  EXPECT_NO_THROW(test::evaluate(*kernel, few, {.law = {}})) << "the leader was ready for 20 bodies, the others for 10";
  ranks.own.prepare = true;
  EXPECT_EQ(test::failure_of([&] { kernel->prepare(20); }).message, "a bad day");
  ranks.own.prepare = false;
  EXPECT_NO_THROW(test::evaluate(*kernel, few, {.law = {}}))
      << "the others were ready for 20 bodies, the leader for 10";
  EXPECT_NO_THROW(test::evaluate(*kernel, more, {.law = {}}));
}

TEST(ReplicatedKernel, AWorkerWithoutMemorySaysSo) {
  FragileTeam<std::bad_alloc> ranks;
  const auto kernel = ranks.make();
  ranks.theirs.evaluate = true;
  EXPECT_RUNTIME_ERROR(test::evaluate(*kernel, test::random_ball(10), {.law = {}}), "rank 1: not enough memory");
}

TEST(ReplicatedKernel, AWorkerThatCannotMakeTheKernelSaysWhy) {
  RankTeam team{2};
  const Weakness none;
  const KernelPtr kernel = team.catalog().put(fragile<BadDay>(none));
  EXPECT_USAGE_ERROR(team.backends().make_kernel(*kernel, Settings{*kernel}), "rank 1: ", "fragile");
  Simulation simulation{team.backends(), {.scene = "plummer", .count = 8}, test::find_kernel("cpu-serial")};
  EXPECT_NO_THROW(simulation.run(1)) << "the ranks go on";
}

std::unique_ptr<ForceKernel> kernel_of(const RankTeam& team) {
  const KernelPtr kernel = test::find_kernel("cpu-simd");
  return team.backends().make_kernel(*kernel, Settings{*kernel});
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

/// Clumps of very different sizes and densities, far apart, with many bodies at one place in the last.
Bodies clumps(int each) {
  std::mt19937 random{7};
  std::normal_distribution<float> normal;
  Bodies bodies = test::random_ball(4 * each);
  constexpr float sizes[] = {1, 1e-3f, 30, 0};
  for (int i = 0; i < bodies.count(); ++i) {
    const int clump = i % 4;
    Vec4& at = bodies.positions[static_cast<std::size_t>(i)];
    const auto near = [&](float center) { return center + sizes[clump] * normal(random); };
    at = {near(100.0f * static_cast<float>(clump)), near(clump == 1 ? 3.0f : -7.0f), near(0), at.w};
  }
  return bodies;
}

Bodies scaled(Bodies bodies, float length, float mass) {
  for (Vec4& at : bodies.positions) at = {at.x * length, at.y * length, at.z * length, at.w * mass};
  return bodies;
}

/// Eight bodies at one corner of each of these octahedra, and eight at the others: the ball around the latter, from the
/// center of their box, is larger than the one around all.
Bodies octahedra(int count) {
  constexpr Vec3 corners[] = {{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}, {1, 0, 0}, {0, 1, 0},
                              {0, 0, 1},  {0, 0, 1},  {0, 1, 0},  {1, 0, 0}};
  std::mt19937 random{7};
  std::normal_distribution<float> normal{0, 200};
  Bodies bodies = test::random_ball(16 * count);
  for (std::size_t i = 0; i < bodies.positions.size(); i += 16) {
    const float x = normal(random), y = normal(random), z = normal(random);
    for (std::size_t k = 0; k < 16; ++k) {
      const Vec3& corner = corners[k < 8 ? 0 : k - 7];
      bodies.positions[i + k] = {x + corner.x, y + corner.y, z + corner.z, 1};
    }
  }
  return bodies;
}

void expect_bits_of_one_process(const std::string& settings_text, const Bodies& bodies, const Law& law) {
  const Settings settings{tree(), Settings::values_of(settings_text)};
  const auto alone = test::backends().make_kernel(tree(), settings);
  const std::vector<Vec4> expected = test::evaluate(*alone, bodies, {.law = law}).accelerations;
  for (const int size : {2, 3, 5}) {
    SCOPED_TRACE(settings_text + ", " + std::to_string(size) + " ranks");
    test::RankTeam team{size};
    const auto shared = team.backends().make_kernel(tree(), settings);
    EXPECT_EQ(test::evaluate(*shared, bodies, {.law = law}).accelerations, expected);
  }
}

TEST(TreeOnRanks, OpensTheSameCellsForAGroupThatIsWiderThanItsLeaf) {
  for (const int count : {100, 150}) {
    expect_bits_of_one_process("order=high leaf=16 group=8 tolerance=1e-6", octahedra(count), {.softening = 1e6f});
  }
}

TEST(TreeOnRanks, OpensTheSameCellsIfTheirSquaresLeaveTheRangeOfFloat) {
  for (const char* settings : {"order=local", "order=high", "order=monopole tolerance=off"}) {
    expect_bits_of_one_process(settings, scaled(clumps(300), 1e-20f, 1), {});
    expect_bits_of_one_process(settings, scaled(test::random_ball(2000), 1e10f, 1e27f), {});
  }
}

class TreeOnRanksWith : public testing::TestWithParam<const char*> {};

TEST_P(TreeOnRanksWith, FindsTheBitsOfOneProcess) {
  const Settings settings{tree(), Settings::values_of(GetParam())};
  const auto alone = test::backends().make_kernel(tree(), settings);
  for (const int size : {2, 3, 5}) {
    test::RankTeam team{size};
    const auto shared = team.backends().make_kernel(tree(), settings);
    for (const Bodies& bodies : {test::random_ball(5000), clumps(900), test::coincident(700), test::lopsided(1000)}) {
      for (const Law& law : {Law{}, test::attract_repel}) {
        SCOPED_TRACE(std::to_string(size) + " ranks, " + std::to_string(bodies.count()) + " bodies");
        const std::vector<Vec4> expected = test::evaluate(*alone, bodies, {.law = law}).accelerations;
        for (int again = 0; again < 6; ++again) {  // the ranks' parts change in between
          EXPECT_EQ(test::evaluate(*shared, bodies, {.law = law}).accelerations, expected);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, TreeOnRanksWith,
                         testing::Values("tolerance=1e-3", "tolerance=off", "tolerance=off theta=0.4",
                                         "order=high tolerance=1e-5", "order=high tolerance=off", "order=monopole",
                                         "order=quadrupole tolerance=1e-4", "leaf=8 group=16", "leaf=64 group=8",
                                         "group=256"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

/// Counts the bodies of each rank, with an exchange so that all are at work together.
TEST(TreeOnRanksWork, IsDividedEquallyAtFirst) {
  const Bodies bodies = test::random_ball(8000);
  const auto kernel = tree().make(Settings{tree()}, nullptr);
  for (const int ranks : {2, 3, 4}) {
    std::vector<int> owners, counts(static_cast<std::size_t>(ranks));
    (void)kernel->domains()->divide(bodies.positions, PartSizes{ranks}.parts(), owners);
    ASSERT_EQ(owners.size(), bodies.positions.size());
    for (const int owner : owners) ++counts.at(static_cast<std::size_t>(owner));
    for (const int count : counts) EXPECT_NEAR(count, 8000 / ranks, 400);
  }
}

TEST(TreeOnRanksWork, StaysOnOneRankIfItCannotBeDivided) {
  const Bodies bodies = test::coincident(500);
  const auto kernel = tree().make(Settings{tree()}, nullptr);
  std::vector<int> owners;
  (void)kernel->domains()->divide(bodies.positions, PartSizes{3}.parts(), owners);
  EXPECT_EQ(owners, std::vector<int>(500, 0));
}

TEST(TreeOnRanksWork, ACancelledEvaluationLeavesNothingBehind) {
  const Bodies bodies = test::random_ball(3000);
  test::RankTeam team{3};
  const auto shared = team.backends().make_kernel(tree(), Settings{tree()});
  const auto alone = test::backends().make_kernel(tree(), Settings{tree()});
  const std::vector<Vec4> expected = test::evaluate(*alone, bodies, {.law = {}}).accelerations;
  const std::atomic<bool> cancelled = true;
  std::vector<Vec4> accelerations(bodies.positions.size());
  for (int again = 0; again < 3; ++again) {
    shared->evaluate({.bodies = bodies.positions.data(),
                      .count = bodies.count(),
                      .masses = mass_range(bodies.positions),
                      .law = {},
                      .epilogue = {.accelerations = accelerations.data()},
                      .cancelled = &cancelled});
    EXPECT_FALSE(shared->tree()->report());
    EXPECT_EQ(test::evaluate(*shared, bodies, {.law = {}}).accelerations, expected);
  }
}

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
  const test::SharedKernelTeam ranks{2, spread(first), spread(second)};
  const auto kernel = ranks.make();
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
  const test::SharedKernelTeam ranks{2, spread(first), spread(second)};
  const auto kernel = ranks.make();
  const Bodies bodies = test::random_ball(6);
  EXPECT_FALSE(owners_of(*kernel, 6));
  test::evaluate(*kernel, bodies, {.law = {}});
  const BodyOwners halves{.names = {"rank 0", "rank 1"}, .of_body = {0, 0, 0, 1, 1, 1}};
  EXPECT_EQ(owners_of(*kernel, 6), halves);
  EXPECT_FALSE(owners_of(*kernel, 7)) << "other bodies";
  kernel->bodies_replaced();
  EXPECT_FALSE(owners_of(*kernel, 6)) << "other bodies, as many";
}

TEST(PartitionedKernel, ASlowRankGetsFewerBodies) {
  std::vector<int> first, second;
  const test::SharedKernelTeam ranks{2, spread(first, std::chrono::microseconds{100}),
                                     spread(second, std::chrono::microseconds{400})};
  const auto kernel = ranks.make();
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
