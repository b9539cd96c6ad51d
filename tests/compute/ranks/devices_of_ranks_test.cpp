// Which device each rank opens, and which kernels these can divide. Here, the devices are the host.
#include <gtest/gtest.h>

#include <vector>

#include "compute/kernels/kernel_sharing.h"
#include "tests/compute/ranks/device_ranks.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::DeviceRanks;
using test::exchanging_on_host_devices;
using test::expect_failure;
using test::Failure;
using test::new_nccl;
using test::serial_on_host_devices;

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

TEST(DevicesOfRanks, AreConnectedOnlyIfEachRankHasItsOwn) {
  const std::vector<RankDeviceFacts> apart{{.uuid = {1}}, {.uuid = {2}}, {.uuid = {3}}},
      together{{.uuid = {1}}, {.uuid = {2}}, {.uuid = {2}}};
  const std::vector versions(3, new_nccl);
  EXPECT_EQ(why_not_connected(apart, versions), "");
  EXPECT_EQ(why_not_connected(together, versions), "rank 1 and rank 2 share a GPU");
}

TEST(DevicesOfRanks, DoNotDivideEveryKernel) {
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
