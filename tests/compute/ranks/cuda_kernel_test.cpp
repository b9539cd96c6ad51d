// Kernels that the devices of several ranks divide. Here, these are the host.
#include "compute/devices/load_balance.h"
#include "compute/integrators/update.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/kernels/shared_facets.h"
#include "compute/ranks/rank_leader.h"
#include "tests/compute/ranks/device_ranks.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/kernel_doubles.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::DeviceRanks;
using test::exchanging_on_host_devices;
using test::expect_failure;
using test::Failure;
using test::holding_on_host_devices;
using test::nccl_of;
using test::new_nccl;
using test::old_nccl;
using test::on_host_devices;
using test::serial_on_host_devices;

void expect_bits_of_one_device(const KernelInfo& info) {
  const KernelPtr serial = test::find_kernel("cpu-serial");
  const auto alone = test::backends().make_kernel(*serial, Settings{*serial});
  for (const int size : {2, 3, 4, -2, -3, -4}) {
    test::HostNccl nccl = nccl_of(std::abs(size));
    DeviceRanks ranks{std::abs(size), std::abs(size), info, size < 0 ? &nccl : nullptr};
    const auto kernel = ranks.make(info);
    EXPECT_EQ(nccl.connected(), std::max(-size, 0));
    for (const int count : {300, 1, 2, 3, 5, 1009}) {
      SCOPED_TRACE(std::to_string(size) + " ranks, " + std::to_string(count) + " bodies");
      const Bodies bodies = test::random_ball(count);
      for (const Law& law : {Law{}, test::attract_repel}) {
        const test::ForceRequest request{.law = law, .kick_dt = 0.01f};
        const test::ForceResult expected = test::evaluate(*alone, bodies, request),
                                found = test::evaluate(*kernel, bodies, request);
        EXPECT_EQ(found.accelerations, expected.accelerations);
        EXPECT_EQ(found.velocities, expected.velocities);
      }
    }
  }
}

TEST(LeaderCudaKernel, FindsTheBitsOfOneDevice) {
  expect_bits_of_one_device(serial_on_host_devices());
}

TEST(LeaderCudaKernel, FindsThemWhereEachRankHasAPartOfTheBodies) {
  expect_bits_of_one_device(exchanging_on_host_devices());
}

TEST(LeaderCudaKernel, EvaluatesTargetsAndNoOthers) {
  const KernelPtr serial = test::find_kernel("cpu-serial");
  const auto alone = test::backends().make_kernel(*serial, Settings{*serial});
  const Bodies bodies = test::random_ball(300);
  const std::vector<Vec4> all = test::evaluate(*alone, bodies, {.law = {}}).accelerations;
  std::vector<int> every_second;
  for (int body = 0; body < bodies.count(); body += 2) every_second.push_back(body);
  for (const KernelInfo& info : {serial_on_host_devices(), exchanging_on_host_devices()}) {
    DeviceRanks ranks{3, 3, info};
    const auto kernel = ranks.make(info);
    for (const std::vector<int>& targets : {std::vector{17}, {299, 0}, {5, 4, 200, 100, 1, 2}, every_second}) {
      const std::vector<Vec4> found = test::evaluate(*kernel, bodies, {.law = {}, .targets = targets}).accelerations;
      EXPECT_EQ(entries(found, targets), entries(all, targets));
      EXPECT_EQ(std::ranges::count_if(found, [](const Vec4& a) { return !std::isnan(a.x); }),
                static_cast<std::ptrdiff_t>(targets.size()));
    }
  }
}

TEST(LeaderCudaKernel, KnowsTheOwnersOfBodies) {
  DeviceRanks ranks{2, 2};
  EXPECT_EQ(owners_of(*ranks.make(), 5), (BodyOwners{.names = {"rank 0", "rank 1"}, .of_body = {0, 0, 1, 1, 1}}));
  EXPECT_EQ(ranks.make()->chosen(10, {}), "ranks 2, MPI (rank 0 has no NCCL)");
}

TEST(LeaderCudaKernel, GivesSlowRanksFewerBodiesOfATree) {
  const KernelInfo info = exchanging_on_host_devices();
  DeviceRanks ranks{2, 2, info};
  const auto kernel = ranks.make(info);
  const Bodies bodies = test::random_ball(300);
  const auto of_first = [&] {
    (void)test::evaluate(*kernel, bodies, {.law = {}});
    read_owners(*kernel, 300, nullptr);
    return std::ranges::count(owners_of(*kernel, 300)->of_body, 0);
  };
  EXPECT_EQ(owners_of(*kernel, 300), std::nullopt) << "they were not read yet";
  EXPECT_EQ(of_first(), 150);
  EXPECT_EQ(owners_of(*kernel, 300)->names, (std::vector<std::string>{"rank 0", "rank 1"}));
  EXPECT_EQ(of_first(), 150) << "the first evaluations say nothing";
  EXPECT_EQ(of_first(), 150);
  EXPECT_EQ(of_first(), 200) << "the second rank takes twice as long";
}

/// Evaluates on three ranks and returns what the kernel says of the way of the data.
std::string way_of_data(test::HostNccl& nccl) {
  DeviceRanks ranks{3, 3, serial_on_host_devices(), &nccl};
  EXPECT_EQ(ranks.leader().transport(), "");
  const auto kernel = ranks.make();
  (void)test::evaluate(*kernel, test::random_ball(10), {.law = {}});
  const std::string way = ranks.leader().transport();
  EXPECT_EQ(kernel->chosen(10, {}), "ranks 3, " + way);
  EXPECT_EQ(nccl.connected(), way.starts_with("NCCL") ? 3 : 0) << way;
  return way;
}

TEST(LeaderCudaKernel, SendsFromDeviceToDeviceIfAllRanksAreConnected) {
  test::HostNccl nccl = nccl_of(3);
  EXPECT_EQ(way_of_data(nccl), "NCCL 2.28.3");
  EXPECT_EQ(nccl.handed_on(), 4) << "the bodies to each of two ranks, and the results of each";
}

TEST(LeaderCudaKernel, SendsThroughMpiIfOneRankCannotBeConnected) {
  test::HostNccl none{{new_nccl, new_nccl, 0}}, other{{new_nccl, old_nccl, new_nccl}};
  EXPECT_EQ(way_of_data(none), "MPI (rank 2 has no NCCL)");
  EXPECT_EQ(way_of_data(other), "MPI (rank 1 has NCCL 2.19.3, and rank 0 NCCL 2.28.3)");
  for (const int fails_in : {0, 1, 2}) {
    test::HostNccl nccl = nccl_of(3);
    nccl.connect_fails_in = fails_in;
    EXPECT_EQ(way_of_data(nccl),
              fails_in > 0 ? "MPI (rank " + std::to_string(fails_in) + ": a bad cable)" : "MPI (a bad cable)");
    EXPECT_EQ(nccl.handed_on(), 0) << "although two ranks were connected";
    nccl.others_give_up = true;
    EXPECT_EQ(way_of_data(nccl),
              fails_in > 0 ? "MPI (rank " + std::to_string(fails_in) + ": a bad cable)" : "MPI (a bad cable)")
        << "which is the cause";
  }
  test::HostNccl slow = nccl_of(3);
  slow.gives_up_in = 1;
  EXPECT_EQ(way_of_data(slow), "MPI (rank 1: nobody came within 20 s)");
}

TEST(LeaderCudaKernel, SendsThroughMpiIfTheUserSaysSo) {
  setenv("ORRERY_NCCL", "0", /*replace=*/1);
  test::HostNccl nccl = nccl_of(3);
  EXPECT_EQ(way_of_data(nccl), "MPI (ORRERY_NCCL=0)");
  EXPECT_EQ(nccl.connected(), 0);
  unsetenv("ORRERY_NCCL");
}

void expect_no_rank_waits_for_data(const KernelInfo& info) {
  const Bodies bodies = test::random_ball(10);
  for (const int fails_in : {0, 1, 2, 3}) {
    SCOPED_TRACE(fails_in);
    test::HostNccl nccl = nccl_of(4);
    DeviceRanks ranks{4, 4, info, &nccl};
    const auto kernel = ranks.make(info);
    const std::vector<Vec4> expected = test::evaluate(*kernel, bodies, {.law = {}}).accelerations;
    nccl.fails_in = fails_in;
    const std::string message = test::failure_of([&] { test::evaluate(*kernel, bodies, {.law = {}}); }).message;
    EXPECT_EQ(message, fails_in > 0 ? "rank " + std::to_string(fails_in) + ": a bad day" : "a bad day");
    const int before = nccl.handed_on();
    EXPECT_EQ(test::evaluate(*kernel, bodies, {.law = {}}).accelerations, expected);
    EXPECT_EQ(nccl.handed_on(), before) << "through MPI from now on";
    EXPECT_EQ(nccl.connected(), 0);
    EXPECT_EQ(kernel->chosen(10, {}), "ranks 4, MPI (NCCL 2.28.3 was lost)");
  }
}

TEST(LeaderCudaKernel, ARankThatFailsLeavesNoOtherWaitingForItsData) {
  expect_no_rank_waits_for_data(serial_on_host_devices());
}

TEST(LeaderCudaKernel, NorForWhatItOffers) {
  expect_no_rank_waits_for_data(exchanging_on_host_devices());
}

TEST(LeaderCudaKernel, AKernelThatIsMadeAfterALossSaysHowItsDataGo) {
  const Bodies bodies = test::random_ball(10);
  for (const bool again : {true, false}) {
    test::HostNccl nccl = nccl_of(3);
    DeviceRanks ranks{3, 3, serial_on_host_devices(), &nccl};
    const auto first = ranks.make();
    nccl.fails_in = 1;
    EXPECT_EQ(test::failure_of([&] { test::evaluate(*first, bodies, {.law = {}}); }).message, "rank 1: a bad day");
    EXPECT_EQ(ranks.leader().transport(), "MPI (NCCL 2.28.3 was lost)");
    if (!again) nccl.connect_fails_in = 2;
    const auto second = ranks.make();
    const std::string way = again ? "NCCL 2.28.3" : "MPI (rank 2: a bad cable)";
    EXPECT_EQ(ranks.leader().transport(), way);
    EXPECT_EQ(second->chosen(10, {}), "ranks 3, " + way);
    EXPECT_EQ(first->chosen(10, {}), "ranks 3, MPI (NCCL 2.28.3 was lost)");
    const int before = nccl.handed_on();
    const std::vector<Vec4> found = test::evaluate(*second, bodies, {.law = {}}).accelerations;
    EXPECT_EQ(nccl.handed_on(), before + (again ? 4 : 0));
    EXPECT_EQ(test::evaluate(*first, bodies, {.law = {}}).accelerations, found);
    EXPECT_EQ(nccl.handed_on(), before + (again ? 4 : 0)) << "the first through MPI";
    EXPECT_EQ(nccl.connected(), again ? 3 : 0);
  }
}

TEST(LeaderCudaKernel, ResultsThatDoNotArriveAreNotUsed) {
  const Bodies bodies = test::random_ball(10);
  test::HostNccl nccl = nccl_of(4);
  DeviceRanks ranks{4, 4, serial_on_host_devices(), &nccl};
  const auto kernel = ranks.make();
  const std::vector<Vec4> expected = test::evaluate(*kernel, bodies, {.law = {}}).accelerations;
  nccl.hand_back_fails_in = 2;
  EXPECT_EQ(test::failure_of([&] { test::evaluate(*kernel, bodies, {.law = {}}); }).message, "rank 2: a broken cable");
  EXPECT_EQ(test::evaluate(*kernel, bodies, {.law = {}}).accelerations, expected);
  EXPECT_EQ(nccl.connected(), 0);
}

TEST(LeaderCudaKernel, ALossInOneKernelStopsNoOtherOne) {
  const Bodies bodies = test::random_ball(10);
  for (int round = 0; round < 20; ++round) {
    test::HostNccl nccl = nccl_of(3);
    DeviceRanks ranks{3, 3, serial_on_host_devices(), &nccl};
    const auto first = ranks.make(), second = ranks.make();
    const std::vector<Vec4> expected = test::evaluate(*first, bodies, {.law = {}}).accelerations;
    std::atomic<int> failures = 0;
    nccl.fails_in = 1 + round % 2;
    const auto evaluate_often = [&](ForceKernel& kernel) {
      for (int turn = 0; turn < 5; ++turn) {
        try {
          EXPECT_EQ(test::evaluate(kernel, bodies, {.law = {}}).accelerations, expected);
        } catch (const std::runtime_error& failure) {
          ++failures;
          EXPECT_NE(std::string{failure.what()}.find("a bad day"), std::string::npos) << failure.what();
        }
      }
    };
    std::jthread beside{[&] { evaluate_often(*second); }};
    evaluate_often(*first);
    beside.join();
    EXPECT_EQ(failures, 1) << "of the kernel that failed";
  }
}

/// Throws while it is set.
class Failing final : public ForceKernel {
 public:
  explicit Failing(const std::atomic<bool>& fails) : fails_{fails} {}
  void do_evaluate(const ForceArgs& args) override {
    if (fails_) throw std::runtime_error("a bad day");
    for (int place = 0; place < args.target_count(); ++place) {
      args.epilogue.finish(args.targets.body(place), 1, Vec3{});
    }
  }

 private:
  const std::atomic<bool>& fails_;
};

KernelInfo failing(const std::atomic<bool>& fails) {
  KernelInfo kernel = test::kernel_info(
      "failing", [&fails](const Settings&, const cuda::Device*) { return std::make_unique<Failing>(fails); });
  kernel.takes_targets = true;
  return on_host_devices(kernel);
}

TEST(LeaderCudaKernel, AnErrorNamesItsRankAndLeavesNothingBehind) {
  for (const bool exchanges : {false, true}) {
    std::atomic<bool> own = false, theirs = false;
    KernelInfo leaders = failing(own), workers = failing(theirs);
    leaders.is_tree = workers.is_tree = exchanges;
    DeviceRanks ranks{3, 3, workers};
    const auto kernel = ranks.make(leaders);
    const auto evaluate = [&] { test::evaluate(*kernel, test::random_ball(10), {.law = {}}); };
    theirs = true;
    expect_failure(Failure::runtime, evaluate, "rank 1: a bad day");
    own = true;
    EXPECT_EQ(test::failure_of(evaluate).message, "a bad day");
    own = theirs = false;
    EXPECT_NO_THROW(evaluate());
  }
}

/// Orders have all bodies of a rank, unless these go from device to device; so do the messages of exchanges.
TEST(LeaderCudaKernel, SaysThatAMessageWouldBeTooLong) {
  constexpr int few = 60, many = 300;
  constexpr std::size_t most_bytes = 1500;  // many: 16 * 100 bytes of bodies
  for (const KernelInfo& info : {exchanging_on_host_devices(), serial_on_host_devices()}) {
    for (const bool connected : {false, true}) {
      SCOPED_TRACE(std::string{info.is_tree ? "exchanges, " : ""} + (connected ? "connected" : ""));
      if (connected && !info.is_tree) continue;  // its messages are short
      test::HostNccl nccl = nccl_of(3);
      DeviceRanks ranks{3, 3, info, connected ? &nccl : nullptr, most_bytes};
      const auto kernel = ranks.make(info);
      for (int turn = 0; turn < 2; ++turn) {
        EXPECT_RUNTIME_ERROR(test::evaluate(*kernel, test::random_ball(many), {.law = {}}),
                             "too many bodies for one message");
        EXPECT_NO_THROW(test::evaluate(*kernel, test::random_ball(few), {.law = {}}));
      }
    }
  }
}

constexpr int held_count = 211;
constexpr cuda::KickDrift first_half{.kick_dt = 0.005, .drift_dt = 0.01}, second_half{.owed_kick_dt = 0.005};

/// Bodies in memory of the host, and a report of those that are not finite.
struct World {
  Bodies bodies = test::random_ball(held_count);
  cuda::PackedFinding finding{};
  int seen = 0;

  cuda::NonFiniteReport report() { return {.d_first = &finding, .seen = &seen}; }
  ForceArgs args() const {
    return {.bodies = nullptr, .count = held_count, .masses = mass_range(bodies.positions), .law = {}, .epilogue = {}};
  }
  void hold(ResidentFacet& devices) {
    devices.hold(bodies.positions.data(), bodies.velocities.data(), held_count, &finding, nullptr);
  }
  /// Steps of leapfrog, each of which has a number of its own as a pass.
  void step(ResidentFacet& devices, std::uint32_t steps) {
    devices.evaluate_residents(args());
    for (std::uint32_t step = 1; step <= steps; ++step) {
      devices.kick_drift(first_half, {report(), step, step, step}, nullptr);
      devices.evaluate_residents(args());
      devices.kick_drift(second_half, {report(), step, step, step}, nullptr);
    }
    devices.check_finite(report(), steps + 1, nullptr);
  }
  void collect(ResidentFacet& devices) { devices.collect(bodies.positions.data(), bodies.velocities.data(), nullptr); }
};

/// By one process.
Bodies moved(Bodies bodies, int steps) {
  const KernelPtr serial = test::find_kernel("cpu-serial");
  const auto kernel = serial->make(Settings{*serial}, nullptr);
  std::vector<Vec4> accelerations(bodies.positions.size());
  const auto evaluate = [&] {
    kernel->evaluate({.bodies = bodies.positions.data(),
                      .count = held_count,
                      .masses = mass_range(bodies.positions),
                      .law = {},
                      .epilogue = {.accelerations = accelerations.data()}});
  };
  const auto move = [&](double kick_dt, double drift_dt) {
    (void)kick_drift({bodies.positions.data(), bodies.velocities.data(), accelerations.data()}, held_count, kick_dt, 0,
                     drift_dt);
  };
  evaluate();
  for (int step = 0; step < steps; ++step) {
    move(0.005, 0.01);
    evaluate();
    move(0.005, 0);
  }
  return bodies;
}

TEST(LeaderResidents, AreThoseOfOneProcess) {
  for (const int size : {2, 3, 4, -2, -3}) {
    SCOPED_TRACE(std::to_string(size) + " ranks; negative: connected");
    test::HostNccl nccl = nccl_of(std::abs(size));
    DeviceRanks ranks{std::abs(size), std::abs(size), holding_on_host_devices(), size < 0 ? &nccl : nullptr};
    const auto kernel = ranks.make(holding_on_host_devices());
    ResidentFacet& devices = *residents_of(*kernel);
    EXPECT_TRUE(devices.can_hold(held_count));
    EXPECT_FALSE(devices.can_hold(test::HostResidents::worth_holding - 1));
    kernel->prepare(held_count);
    EXPECT_TRUE(devices.has_room(held_count));
    World world;
    const Bodies expected = moved(world.bodies, 6);
    for (int turn = 0; turn < 2; ++turn) {
      World again;
      again.hold(devices);
      again.step(devices, 3);
      again.collect(devices);
      EXPECT_EQ(again.bodies, moved(world.bodies, 3));
      again.step(devices, 3);  // they are still held
      again.collect(devices);
      EXPECT_EQ(again.bodies, expected);
      EXPECT_EQ(again.seen, 0);
    }
  }
}

TEST(LeaderResidents, HaveTheirRanks) {
  DeviceRanks ranks{3, 3, holding_on_host_devices()};
  const auto kernel = ranks.make(holding_on_host_devices());
  World world;
  world.hold(*residents_of(*kernel));
  auto& shown = dynamic_cast<OwnersFacet&>(*kernel);
  shown.read_owners(held_count, nullptr);
  const std::optional<BodyOwners> owners = shown.owners(held_count);
  ASSERT_TRUE(owners);
  EXPECT_EQ(owners->of_body, PartSizes{3}.owners(held_count));
}

TEST(LeaderResidents, ReportTheFirstOfAllRanks) {
  DeviceRanks ranks{3, 3, holding_on_host_devices()};
  const auto kernel = ranks.make(holding_on_host_devices());
  ResidentFacet& devices = *residents_of(*kernel);
  World world;
  for (const std::size_t body : {200u, 100u}) world.bodies.velocities[body].x = 3e38f;  // of ranks 2 and 1
  world.hold(devices);
  const auto drift = [&](std::uint32_t pass) {
    devices.kick_drift({.drift_dt = 10}, {world.report(), pass, pass, pass}, nullptr);
  };
  drift(1);
  EXPECT_EQ(world.seen, 0) << "rank 0 does not know yet";
  devices.check_finite(world.report(), 2, nullptr);
  EXPECT_EQ(world.seen, 1);
  EXPECT_EQ(world.finding.pass(), 1u);
  EXPECT_EQ(world.finding.body(), 100);
  world.collect(devices);
  const Bodies frozen = world.bodies;
  drift(3);
  world.collect(devices);
  for (const std::size_t body : {5u, 90u, 180u}) {
    EXPECT_EQ(world.bodies.positions[body], frozen.positions[body]) << "nothing moves any more";
  }
}

/// In any rank, at any time: the channel names it, no other rank waits, and bodies can be held again, by messages then.
TEST(LeaderResidents, AnErrorNamesItsRankAndLeavesNothingBehind) {
  for (const bool connected : {true, false}) {
    for (const int failing : {0, 1, 2}) {
      for (const char* when : {"hold", "evaluate", "between", "pass", "look", "collect"}) {
        SCOPED_TRACE(std::string{when} + ", rank " + std::to_string(failing) + (connected ? ", connected" : ""));
        test::HostNccl nccl{connected ? std::vector(3, new_nccl) : std::vector{new_nccl, old_nccl, new_nccl}};
        DeviceRanks ranks{3, 3, holding_on_host_devices(), &nccl};
        const auto kernel = ranks.make(holding_on_host_devices());
        EXPECT_EQ(nccl.connected(), connected ? 3 : 0);
        ResidentFacet& devices = *residents_of(*kernel);
        World world;
        const auto is = [&](const char* now) { return std::string{when} == now; };
        const auto run = [&] {
          if (is("hold")) nccl.fails_in = failing;
          world.hold(devices);
          if (is("evaluate")) nccl.fails_in = failing;
          if (is("between")) nccl.fails_between_in = failing;
          devices.evaluate_residents(world.args());
          if (is("pass")) nccl.pass_fails_in = failing;
          devices.kick_drift(first_half, {world.report(), 1, 1, 1}, nullptr);
          if (is("look")) nccl.fails_in = failing;
          devices.check_finite(world.report(), 2, nullptr);
          if (is("collect")) nccl.fails_in = failing;
          world.collect(devices);
        };
        const Failure failed = test::failure_of(run);
        EXPECT_EQ(failed.kind, Failure::runtime);
        EXPECT_EQ(failed.message, failing == 0 ? "a bad day" : "rank " + std::to_string(failing) + ": a bad day");
        const bool alone = is("pass") && failing == 0;  // the others have no orders then
        EXPECT_EQ(nccl.connected(), alone && connected ? 3 : 0) << "all ranks have left the connection";
        EXPECT_THROW(devices.evaluate_residents(world.args()), std::logic_error) << "none are held";
        World again;
        again.hold(devices);
        again.step(devices, 2);
        again.collect(devices);
        EXPECT_EQ(again.bodies, moved(World{}.bodies, 2)) << "no pass of before is made";
      }
    }
  }
}

TEST(LeaderResidents, AreForgottenWhenOthersAreEvaluated) {
  DeviceRanks ranks{2, 2, holding_on_host_devices()};
  const auto kernel = ranks.make(holding_on_host_devices());
  ResidentFacet& devices = *residents_of(*kernel);
  World world;
  world.hold(devices);
  std::vector<Vec4> accelerations(held_count);
  ForceArgs args = world.args();
  args.bodies = world.bodies.positions.data();
  args.epilogue.accelerations = accelerations.data();
  kernel->evaluate(args);
  EXPECT_FALSE(devices.has_room(held_count));
  EXPECT_THROW(devices.evaluate_residents(world.args()), std::logic_error);
  world.hold(devices);
  world.step(devices, 1);
  EXPECT_TRUE(devices.has_room(held_count));
}

TEST(RankDeviceSelection, AreThoseOfTheirPlaces) {
  DeviceRanks ranks{3, 4};
  EXPECT_EQ(ranks.leader().open_devices({}), 0);
  EXPECT_EQ(ranks.opened(), (std::vector{0, 1, 2}));
  EXPECT_EQ(ranks.leader().open_devices({.first = 2}), 2) << "the one that draws";
  EXPECT_EQ(ranks.opened(), (std::vector{2, 3, 0}));
  EXPECT_EQ(ranks.leader().open_devices({.listed = {3, 1, 2}}), 3);
  EXPECT_EQ(ranks.opened(), (std::vector{3, 1, 2}));
  (void)ranks.make();
  EXPECT_EQ(ranks.opened(), (std::vector{0, 1, 2})) << "opened anew for a kernel of others than the last ones";
}

TEST(RankDeviceSelection, AreSharedOnlyIfTheUserNamesThemSo) {
  DeviceRanks ranks{3, 2};
  EXPECT_USAGE_ERROR(ranks.leader().open_devices({}), "ranks 0 and 2 would share device 0", "--devices 0,0");
  EXPECT_EQ(ranks.leader().open_devices({.listed = {0, 0, 0}}), 0);
  EXPECT_EQ(ranks.opened(), (std::vector{0, 0, 0}));
  EXPECT_USAGE_ERROR(ranks.leader().open_devices({.listed = {0, 1}}), "rank 2: --devices names 2");
  EXPECT_RUNTIME_ERROR(ranks.leader().open_devices({.listed = {0, 7, 0}}), "rank 1: there is no such device");
  EXPECT_RUNTIME_ERROR(ranks.leader().open_devices({.first = 9}), "there is no such device");
}

TEST(RankDeviceSelection, AreAlike) {
  const RankDeviceFacts first{.uuid = {1}, .architecture = 90, .multiprocessors = 132};
  const auto check = [&](const RankDeviceFacts& other) { check_devices(std::vector{first, other}, {}); };
  EXPECT_NO_THROW(check({.uuid = {2}, .architecture = 90, .multiprocessors = 132}));
  for (const RankDeviceFacts& other : {RankDeviceFacts{.uuid = {2}, .architecture = 80, .multiprocessors = 132},
                                       RankDeviceFacts{.uuid = {2}, .architecture = 90, .multiprocessors = 108}}) {
    EXPECT_USAGE_ERROR(check(other), "rank 0 is sm_90 with 132", "rank 1 is sm_");
  }
}

TEST(RankDeviceSelection, AreConnectedOnlyIfEachRankHasItsOwn) {
  const std::vector<RankDeviceFacts> apart{{.uuid = {1}}, {.uuid = {2}}, {.uuid = {3}}},
      together{{.uuid = {1}}, {.uuid = {2}}, {.uuid = {2}}};
  const std::vector versions(3, new_nccl);
  EXPECT_EQ(why_not_connected(apart, versions), "");
  EXPECT_EQ(why_not_connected(together, versions), "rank 1 and rank 2 share a GPU");
}

TEST(RankDeviceSelection, DoNotDivideEveryKernel) {
  EXPECT_EQ(why_not_shared(*test::find_kernel("cpu-tree"), 2), "");
  EXPECT_NE(why_not_shared(*test::find_kernel("cpu-symmetric"), 2).find("2 ranks cannot share it"), std::string::npos);
  KernelInfo kernel = serial_on_host_devices();
  EXPECT_EQ(why_not_shared(kernel, 3), "");
  kernel.file_text = "its text";
  EXPECT_NE(why_not_shared(kernel, 3).find("3 ranks share built-in kernels only"), std::string::npos);
  kernel = exchanging_on_host_devices();
  EXPECT_EQ(why_not_shared(kernel, 3), "");
  kernel.gives_jerks = true;
  EXPECT_EQ(why_not_shared(kernel, 3), "the GPUs of 3 ranks cannot divide device-serial");
  const KernelInfo tree = test::exchanging_on_host_devices();
  EXPECT_EQ(why_not_shared(tree, 64), "");
  EXPECT_EQ(why_not_shared(tree, 65),
            "device-serial can be divided among the GPUs of at most 64 ranks, not of 65 ranks");
}

}  // namespace
}  // namespace orrery
