// Kernels that the devices of several ranks divide. Here, these are the host.
#include "compute/ranks/device_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute/kernels/kernel_sharing.h"
#include "tests/compute/ranks/host_device.h"
#include "tests/compute/ranks/rank_team.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/kernel_info.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;

/// A kernel of the CPU that ranks take for one of CUDA.
KernelInfo on_host_devices(KernelInfo kernel) {
  kernel.backend = Backend::cuda;
  return kernel;
}

KernelInfo serial_on_host_devices() {
  KernelInfo kernel = on_host_devices(*test::find_kernel("cpu-serial"));
  kernel.id = "device-serial";
  return kernel;
}

/// Ranks, each with a host device for itself.
class DeviceRanks {
 public:
  DeviceRanks(int size, int devices, const KernelInfo& workers = serial_on_host_devices())
      : opened_(static_cast<std::size_t>(size)),
        known_{known_with(workers)},
        team_{size, *known_, [this, devices] { return std::make_unique<test::HostDevice>(devices, opened_); }} {
    std::ranges::fill(opened_, -1);
  }

  RankLeader& leader() { return team_.leader(); }
  std::unique_ptr<ForceKernel> make(const KernelInfo& kernel = serial_on_host_devices()) {
    return team_.leader().make(kernel, Settings{kernel}, {});
  }
  std::vector<int> opened() const { return {opened_.begin(), opened_.end()}; }

 private:
  static std::unique_ptr<KernelCatalog> known_with(const KernelInfo& kernel) {
    auto known = std::make_unique<KernelCatalog>();
    known->put(kernel);
    return known;
  }

  std::vector<std::atomic<int>> opened_;  // by rank
  std::unique_ptr<KernelCatalog> known_;
  test::RankTeam team_;
};

TEST(DeviceKernel, FindsTheBitsOfOneDevice) {
  const KernelPtr serial = test::find_kernel("cpu-serial");
  const auto alone = test::backends().make_kernel(*serial, Settings{*serial});
  for (const int size : {2, 3, 4}) {
    DeviceRanks ranks{size, size};
    const auto kernel = ranks.make();
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

TEST(DeviceKernel, EvaluatesTargetsAndNoOthers) {
  const KernelPtr serial = test::find_kernel("cpu-serial");
  const auto alone = test::backends().make_kernel(*serial, Settings{*serial});
  const Bodies bodies = test::random_ball(300);
  const std::vector<Vec4> all = test::evaluate(*alone, bodies, {.law = {}}).accelerations;
  DeviceRanks ranks{3, 3};
  const auto kernel = ranks.make();
  std::vector<int> every_second;
  for (int body = 0; body < bodies.count(); body += 2) every_second.push_back(body);
  for (const std::vector<int>& targets : {std::vector{17}, {299, 0}, {5, 4, 200, 100, 1, 2}, every_second}) {
    const std::vector<Vec4> found = test::evaluate(*kernel, bodies, {.law = {}, .targets = targets}).accelerations;
    EXPECT_EQ(entries(found, targets), entries(all, targets));
    EXPECT_EQ(std::ranges::count_if(found, [](const Vec4& a) { return !std::isnan(a.x); }),
              static_cast<std::ptrdiff_t>(targets.size()));
  }
}

TEST(DeviceKernel, KnowsTheOwnersOfBodies) {
  DeviceRanks ranks{2, 2};
  EXPECT_EQ(owners_of(*ranks.make(), 5), (BodyOwners{.names = {"rank 0", "rank 1"}, .of_body = {0, 0, 1, 1, 1}}));
  EXPECT_EQ(ranks.make()->chosen(10, {}), "ranks 2");
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

TEST(DeviceKernel, AnErrorNamesItsRankAndLeavesNothingBehind) {
  std::atomic<bool> own = false, theirs = false;
  DeviceRanks ranks{3, 3, failing(theirs)};
  const auto kernel = ranks.make(failing(own));
  const auto evaluate = [&] { test::evaluate(*kernel, test::random_ball(10), {.law = {}}); };
  theirs = true;
  expect_failure(Failure::runtime, evaluate, "rank 1: a bad day");
  own = true;
  EXPECT_EQ(test::failure_of(evaluate).message, "a bad day");
  own = theirs = false;
  EXPECT_NO_THROW(evaluate());
}

TEST(DevicesOfRanks, AreThoseOfTheirPlaces) {
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

TEST(DevicesOfRanks, AreSharedOnlyIfTheUserNamesThemSo) {
  DeviceRanks ranks{3, 2};
  expect_failure(
      Failure::usage, [&] { ranks.leader().open_devices({}); }, "ranks 0 and 2 would share device 0", "--devices 0,0");
  EXPECT_EQ(ranks.leader().open_devices({.listed = {0, 0, 0}}), 0);
  EXPECT_EQ(ranks.opened(), (std::vector{0, 0, 0}));
  expect_failure(
      Failure::usage,
      [&] {
        ranks.leader().open_devices({.listed = {0, 1}});
      },
      "rank 2: --devices names 2");
  expect_failure(
      Failure::runtime,
      [&] {
        ranks.leader().open_devices({.listed = {0, 7, 0}});
      },
      "rank 1: there is no such device");
  expect_failure(
      Failure::runtime, [&] { ranks.leader().open_devices({.first = 9}); }, "there is no such device");
}

TEST(DevicesOfRanks, AreAlike) {
  const RankDeviceFacts first{.uuid = {1}, .architecture = 90, .multiprocessors = 132};
  const auto check = [&](const RankDeviceFacts& other) { check_devices(std::vector{first, other}, {}); };
  EXPECT_NO_THROW(check({.uuid = {2}, .architecture = 90, .multiprocessors = 132}));
  for (const RankDeviceFacts& other : {RankDeviceFacts{.uuid = {2}, .architecture = 80, .multiprocessors = 132},
                                       RankDeviceFacts{.uuid = {2}, .architecture = 90, .multiprocessors = 108}}) {
    expect_failure(
        Failure::usage, [&] { check(other); }, "rank 0 is sm_90 with 132", "rank 1 is sm_");
  }
}

TEST(DevicesOfRanks, DoNotDivideEveryKernel) {
  EXPECT_EQ(why_not_shared(*test::find_kernel("cpu-tree"), 2), "");
  EXPECT_NE(why_not_shared(*test::find_kernel("cpu-symmetric"), 2).find("2 ranks cannot share it"), std::string::npos);
  KernelInfo kernel = serial_on_host_devices();
  EXPECT_EQ(why_not_shared(kernel, 3), "");
  kernel.file_text = "its text";
  EXPECT_NE(why_not_shared(kernel, 3).find("3 ranks share built-in kernels only"), std::string::npos);
  for (bool KernelInfo::*trait : {&KernelInfo::is_tree, &KernelInfo::gives_jerks}) {
    kernel = serial_on_host_devices();
    kernel.*trait = true;
    EXPECT_EQ(why_not_shared(kernel, 3), "the GPUs of 3 ranks cannot divide device-serial");
  }
}

}  // namespace
}  // namespace orrery
