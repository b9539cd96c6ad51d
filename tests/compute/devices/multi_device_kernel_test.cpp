// Several devices that divide the evaluations of a kernel find what one finds. One GPU is enough for most: it can stand
// for several, each with a stream and a kernel of its own.
#include "compute/devices/device_team.h"
#include "compute/diagnostics/reference.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"
#include "tests/compute/support/teams.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::coincident;
using test::lopsided;
using test::random_targets;
using test::Several;
using test::teams;
using test::Way;

bool can_be_divided(const KernelInfo& kernel) {
  return (kernel.takes_targets || kernel.divides) && !kernel.gives_jerks;
}

std::vector<KernelPtr> kernels_by_division(bool divided) {
  return test::kernels_under_test([&](const KernelInfo& kernel) { return can_be_divided(kernel) == divided; });
}

/// Ways in which devices can share a kernel.
std::vector<Way> ways_for(const KernelInfo& kernel) {
  std::vector<Way> ways = test::ways();
  std::erase_if(ways, [&](const Way& way) { return way.ranks && !why_not_shared(kernel, 2).empty(); });
  return ways;
}

class Divided : public test::KernelTest {
 protected:
  static std::vector<int> sample_of(int count) { return sample_targets(count, 300); }
  static void expect_accuracy(const std::vector<Vec4>& accelerations, const Bodies& bodies, const Law& law,
                              const std::vector<int>& sample) {
    const ForceError error =
        target_error(entries(accelerations, sample), sample, reference_accelerations(bodies.positions, sample, law));
    EXPECT_LE(error.max, info().tolerance.max) << "body " << error.worst;
    if (sample.size() > 30) {
      EXPECT_LE(error.median, info().tolerance.median);
    }
  }
};

TEST_P(Divided, AgreesWithTheDirectSum) {
  std::vector<Bodies> systems;
  for (const int count : {1, 2, 3, 5, 31, 33, 257, 1000, 4097, 65'537}) systems.push_back(test::random_ball(count));
  systems.push_back(lopsided(1000));
  for (const Way& way : ways_for(info())) {
    const Several several{way};
    const auto kernel = several.backends().make_kernel(info(), Settings{info()});
    for (const Bodies& bodies : systems) {
      for (const Law& law : {Law{}, test::attract_repel}) {
        SCOPED_TRACE(way.to_string() + ", " + std::to_string(bodies.count()) + " bodies, " + law_info(law.id).id);
        for (int again = 0; again < 3; ++again) {  // a tree's parts then have other sizes
          const test::ForceResult found = test::evaluate(*kernel, bodies, {.law = law});
          ASSERT_EQ(std::ranges::count_if(found.accelerations, [](const Vec4& a) { return std::isnan(a.x); }), 0);
          expect_accuracy(found.accelerations, bodies, law, sample_of(bodies.count()));
        }
      }
    }
  }
}

TEST_P(Divided, OfCoincidentBodiesIsAsOnOneDevice) {
  const auto alone = test::backends().make_kernel(info(), Settings{info()});
  for (const int count : {257, 9001}) {
    const Bodies bodies = coincident(count);
    const std::vector<Vec4> expected = test::evaluate(*alone, bodies, {.law = {}}).accelerations;
    for (const DeviceList& team : teams()) {
      const Backends backends{test::catalog(), team};
      const auto kernel = backends.make_kernel(info(), Settings{info()});
      const std::vector<Vec4> found = test::evaluate(*kernel, bodies, {.law = {}}).accelerations;
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i].x, expected[i].x, 1e-5) << team.to_string() << ", body " << i << " of " << count;
        ASSERT_NEAR(found[i].z, expected[i].z, 1e-5) << team.to_string() << ", body " << i << " of " << count;
      }
    }
  }
}

TEST_P(Divided, TellsWhereTheTimeOfEachDeviceGoes) {
  const Bodies bodies = test::random_ball(20'011);
  for (const DeviceList& team : teams()) {
    const Backends backends{test::catalog(), team};
    const auto kernel = backends.make_kernel(info(), Settings{info()});
    EXPECT_TRUE(kernel->device_loads().empty()) << "nothing is known yet";
    for (int i = 0; i < 6; ++i) (void)test::evaluate(*kernel, bodies, {.law = {}});
    const std::vector<DeviceLoad> loads = kernel->device_loads();
    SCOPED_TRACE(team.to_string());
    ASSERT_EQ(loads.size(), team.all ? cuda::devices().size() : team.ordinals.size());
    for (std::size_t i = 0; i < loads.size(); ++i) {
      EXPECT_EQ(loads[i].device, team.all ? static_cast<int>(i) : team.ordinals[i]);
      EXPECT_GT(loads[i].work_ms, 0);
      EXPECT_GT(loads[i].copy_ms, 0);
      EXPECT_GE(loads[i].wait_ms, 0);
      EXPECT_LT(loads[i].work_ms + loads[i].copy_ms + loads[i].wait_ms, 1000);
    }
  }
}

TEST_P(Divided, KnowsTheOwnersIfTargetsAreDivided) {
  for (const DeviceList& team : teams()) {
    const Backends backends{test::catalog(), team};
    const std::optional<BodyOwners> owners = owners_of(*backends.make_kernel(info(), Settings{info()}), 1000);
    if (info().divides && info().is_tree) {
      EXPECT_FALSE(owners) << "only an evaluation finds the domains";
      continue;
    }
    ASSERT_TRUE(owners) << team.to_string();
    EXPECT_EQ(owners->why_unknown.empty(), !info().divides);
    if (info().divides) continue;
    EXPECT_EQ(owners->names.size(), team.all ? cuda::devices().size() : team.ordinals.size());
    ASSERT_EQ(owners->of_body.size(), 1000u);
    EXPECT_TRUE(std::ranges::is_sorted(owners->of_body));
    EXPECT_EQ(owners->of_body.back(), static_cast<int>(owners->names.size()) - 1);
  }
}

TEST_P(Divided, KicksVelocitiesAsOneDeviceDoes) {
  const Bodies bodies = test::random_ball(1009);
  const auto alone = test::backends().make_kernel(info(), Settings{info()});
  for (const DeviceList& team : teams()) {
    const Backends backends{test::catalog(), team};
    const auto kernel = backends.make_kernel(info(), Settings{info()});
    for (const bool store : {true, false}) {
      const test::ForceRequest request{.law = test::attract_repel, .store = store, .kick_dt = 0.01f};
      const test::ForceResult expected = test::evaluate(*alone, bodies, request),
                              found = test::evaluate(*kernel, bodies, request);
      for (std::size_t i = 0; i < bodies.velocities.size(); ++i) {
        ASSERT_NEAR(found.velocities[i].x, expected.velocities[i].x, 1e-4) << team.to_string() << ", body " << i;
        ASSERT_NEAR(found.velocities[i].z, expected.velocities[i].z, 1e-4) << team.to_string() << ", body " << i;
        ASSERT_EQ(std::isnan(found.accelerations[i].x), !store) << team.to_string() << ", body " << i;
      }
    }
  }
}

TEST_P(Divided, MovesBodiesAsOneDeviceDoes) {
  for (const Way& way : ways_for(info())) {
    const Several devices{way};
    for (const char* integrator : {"leapfrog", "leapfrog-blocks", "yoshida4"}) {
      for (const Digits digits : {Digits::single, Digits::compensated}) {
        SCOPED_TRACE(way.to_string() + ", " + integrator + ", " + std::string{word_of(digits)});
        const SceneRequest scene{.scene = "plummer", .count = 3001};
        Simulation one{test::backends(), scene, GetParam()}, several{devices.backends(), scene, GetParam()};
        for (Simulation* each : {&one, &several}) {
          test::apply(*each, SelectIntegrator{integrator}, SetDigits{digits});
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

INSTANTIATE_TEST_SUITE_P(Kernels, Divided, testing::ValuesIn(kernels_by_division(true)), test::test_name);

std::vector<KernelPtr> kernels_with_targets() {
  return test::kernels_under_test(
      [](const KernelInfo& kernel) { return can_be_divided(kernel) && kernel.takes_targets; });
}

class DividedTargets : public Divided {};

TEST_P(DividedTargets, AreEvaluatedAndNoOthers) {
  for (const Way& way : ways_for(info())) {
    const Several several{way};
    const auto kernel = several.backends().make_kernel(info(), Settings{info()});
    for (const auto& [count, size] : {std::pair{1, 1}, {2, 1}, {1009, 1}, {1009, 2}, {1009, 300}, {9001, 9001}}) {
      const Bodies bodies = test::random_ball(count);
      const std::vector<int> targets = random_targets(count, size);
      SCOPED_TRACE(way.to_string() + ", " + std::to_string(size) + " of " + std::to_string(count));
      const std::vector<Vec4> found = test::evaluate(*kernel, bodies, {.law = {}, .targets = targets}).accelerations;
      expect_accuracy(found, bodies, {}, targets);
      EXPECT_EQ(std::ranges::count_if(found, [](const Vec4& a) { return !std::isnan(a.x); }), size);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, DividedTargets, testing::ValuesIn(kernels_with_targets()), test::test_name);

class DividedKernels : public test::BackendTest {};

TEST_F(DividedKernels, HaveTheBitsOfOneDeviceWhereTheOrderOfTheSumsIsTheSame) {
  const KernelPtr tiled = test::find_kernel("cuda-tiled");
  const Settings settings{*tiled, {{"split", "1"}}};
  const auto alone = test::backends().make_kernel(*tiled, settings);
  for (const Way& way : test::ways()) {
    const Several several{way};
    const auto kernel = several.backends().make_kernel(*tiled, settings);
    SCOPED_TRACE(way.to_string());
    test::expect_same_bits(*kernel, *alone);
  }
}

TEST_F(DividedKernels, GiveTheSameBitsAgainIfSymmetricSumsAreInFixedPoint) {
  const KernelPtr symmetric = test::find_kernel("cuda-symmetric");
  const Bodies bodies = test::random_ball(4097);
  for (const DeviceList& team : teams()) {
    const Backends backends{test::catalog(), team};
    const auto kernel = backends.make_kernel(*symmetric, Settings{*symmetric, {{"deterministic", "on"}}});
    const std::vector<Vec4> first = test::evaluate(*kernel, bodies, {.law = {}}).accelerations;
    EXPECT_EQ(test::evaluate(*kernel, bodies, {.law = {}}).accelerations, first) << team.to_string();
  }
}

TEST_F(DividedKernels, TakeOtherNumbersOfBodiesInAnyOrder) {
  for (const KernelPtr& info : kernels_by_division(true)) {
    const Backends backends{test::catalog(), DeviceList{.ordinals = {0, 0}}};
    const auto kernel = backends.make_kernel(*info, Settings{*info});
    for (const int count : {4097, 3, 20'011, 1, 257}) {
      const Bodies bodies = test::random_ball(count);
      const std::vector<Vec4> found = test::evaluate(*kernel, bodies, {.law = {}}).accelerations;
      EXPECT_EQ(std::ranges::count_if(found, [](const Vec4& a) { return std::isnan(a.x); }), 0) << info->id;
    }
  }
}

TEST_F(DividedKernels, NameTheirDevices) {
  const Backends backends{test::catalog(), DeviceList{.ordinals = {0, 0}}};
  EXPECT_EQ(backends.team_words(), "devices 0,0");
  EXPECT_EQ(backends.device_ordinal(), 0);
  const KernelPtr kernel = test::find_kernel("cuda-naive");
  EXPECT_EQ(backends.make_kernel(*kernel, Settings{*kernel})->chosen(10, {}), "devices 0,0");
  EXPECT_EQ(test::backends().team_words(), "");
  EXPECT_EQ((Backends{test::catalog(), DeviceList{.ordinals = {0}}}.team_words()), "");
}

TEST_F(DividedKernels, AreLedByTheDeviceThatDrawsIfAllAreAskedFor) {
  const int last = static_cast<int>(cuda::devices().size()) - 1;
  const DeviceList all{.all = true, .ordinals = {}};
  EXPECT_EQ((Backends{test::catalog(), all, last}.device_ordinal()), last);
  EXPECT_EQ((Backends{test::catalog(), all, 1000}.device_ordinal()), 0) << "there is no such device";
  EXPECT_EQ((Backends{test::catalog(), DeviceList{.ordinals = {0}}, last}.device_ordinal()), 0) << "chosen by the user";
}

TEST_F(DividedKernels, AreRefusedWhereTheyCannotBeDivided) {
  const Backends backends{test::catalog(), DeviceList{.ordinals = {0, 0}}};
  const std::vector<KernelPtr> divided = kernels_by_division(true);
  for (const KernelPtr& kernel : test::kernels()) {
    const bool is_divided = std::ranges::find(divided, kernel) != divided.end();
    EXPECT_EQ(backends.refusal(*kernel), is_divided ? "" : std::string{"several devices cannot divide "} + kernel->id);
    if (is_divided) continue;
    EXPECT_USAGE_ERROR(backends.make_kernel(*kernel, Settings{*kernel}),
                       std::string{"several devices cannot divide "} + kernel->id, "can be divided: ", "cuda-tiled",
                       "cuda-tree", "cuda-symmetric");
  }
}

TEST_F(DividedKernels, NameTheDeviceThatDoesNotGetItsCopy) {
  const TeamDevices devices(2, std::make_shared<const cuda::Device>(0));
  std::vector<Broadcast::End> ends(2, {.blocks = {{nullptr, 16}}});
  EXPECT_RUNTIME_ERROR(PeerCopies{devices}.send(ends), "device 0: cudaMemcpyPeerAsync");
}

TEST_F(DividedKernels, NeedDevicesThatExist) {
  const int missing = static_cast<int>(cuda::devices().size());
  EXPECT_USAGE_ERROR((Backends{test::catalog(), DeviceList{.ordinals = {0, missing}}}),
                     "there is no CUDA device " + std::to_string(missing), "devices here: 0");
}

class DevicesOfRanks : public DividedKernels {};

TEST_F(DevicesOfRanks, SeveralSimulationsTakeTurns) {
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

TEST_F(DevicesOfRanks, AreRefusedWhatTheyCannotDivide) {
  const test::RanksOn ranks{{.ordinals = {0, 0}}};
  EXPECT_EQ(ranks.backends().default_kernel()->backend, Backend::cuda);
  EXPECT_EQ(ranks.backends().default_kernel(/*jerks=*/true)->backend, Backend::cpu);
  const KernelPtr jerk = test::find_kernel("cuda-jerk"), lock = test::find_kernel("cuda-tree-lock");
  EXPECT_USAGE_ERROR(ranks.backends().make_kernel(*jerk, Settings{*jerk}),
                     "the GPUs of 2 ranks cannot divide cuda-jerk", "can be shared: ", "cuda-tiled", "cuda-tree");
  EXPECT_USAGE_ERROR(ranks.backends().make_kernel(*lock, Settings{*lock}),
                     "cuda-tree-lock always evaluates every body, so 2 ranks cannot share it");
}

TEST_F(DevicesOfRanks, HaveADeviceEachUnlessTheUserNamesOneTwice) {
  const int size = static_cast<int>(cuda::devices().size()) + 1;
  test::RankTeam team{size, test::catalog(), cuda_rank_device};
  const std::string why = "ranks 0 and " + std::to_string(size - 1) + " would share device 0";
  EXPECT_EQ(team.backends().status(Backend::cuda).reason.find(why), 0u) << "CPU kernels still run";
  EXPECT_TRUE(team.backends().status(Backend::cpu).available);
  EXPECT_USAGE_ERROR((Backends{team.catalog(), 0}), why);
  EXPECT_USAGE_ERROR((Backends{team.catalog(), DeviceList{.all = true, .ordinals = {}}}), why);
  EXPECT_USAGE_ERROR((Backends{team.catalog(), DeviceList{.ordinals = {0}}}), "rank 1: --devices names 1");
}

}  // namespace
}  // namespace orrery
