// Bodies that the devices of several ranks hold. Here, these are the host.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/devices/part_sizes.h"
#include "compute/integrators/update.h"
#include "compute/kernels/shared_facets.h"
#include "compute/ranks/device_kernel.h"
#include "tests/compute/ranks/device_ranks.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

using test::DeviceRanks;
using test::expect_failure;
using test::Failure;
using test::holding_on_host_devices;
using test::nccl_of;
using test::new_nccl;
using test::old_nccl;

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

TEST(DeviceResidents, AreThoseOfOneProcess) {
  for (const int size : {2, 3, 4, -2, -3}) {
    SCOPED_TRACE(std::to_string(size) + " ranks; negative: connected");
    test::HostNccl nccl = nccl_of(std::abs(size));
    DeviceRanks ranks{std::abs(size), std::abs(size), holding_on_host_devices(), size < 0 ? &nccl : nullptr};
    const auto kernel = ranks.make(holding_on_host_devices());
    ResidentFacet& devices = *residents_of(*kernel);
    EXPECT_TRUE(devices.can_hold(held_count));
    EXPECT_FALSE(devices.can_hold(test::HostHeld::worth_holding - 1));
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

TEST(DeviceResidents, HaveTheirRanks) {
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

TEST(DeviceResidents, ReportTheFirstOfAllRanks) {
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

/// In any rank, at any time: the line names it, no other rank waits, and bodies can be held again, by messages then.
TEST(DeviceResidents, AnErrorNamesItsRankAndLeavesNothingBehind) {
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

TEST(DeviceResidents, AreForgottenWhenOthersAreEvaluated) {
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

}  // namespace
}  // namespace orrery
