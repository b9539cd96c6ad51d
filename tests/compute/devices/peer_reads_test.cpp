// A device reads blocks of another one's memory: all of them, and nothing beside them.
#include "compute/devices/peer_reads.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "compute/cuda/device_array.h"
#include "compute/cuda/stream.h"
#include "compute/devices/device_team.h"
#include "tests/compute/support/backend.h"

namespace orrery {
namespace {

constexpr std::size_t words_per_vector = 4;  // 16 bytes

TEST(PeerReads, CopyManyBlocksOfAllSizes) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const DeviceTeam team{cuda::devices().size() > 1 ? std::vector{0, 1} : std::vector{0, 0}};
  if (!team.is_direct()) GTEST_SKIP() << "the devices cannot read each other's memory";
  const cuda::Device &from_device = team.device(1), &to_device = team.device(0);
  const cuda::Stream stream{to_device};
  // More blocks than one launch takes, some of them empty, and one of many chunks. A vector is left out between two.
  std::vector<std::size_t> sizes(200);
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = i * i % 97;
  sizes[70] = 1'000'003;
  const std::size_t vectors = std::accumulate(sizes.begin(), sizes.end(), sizes.size());
  std::vector<int> expected(vectors * words_per_vector), found(expected.size(), -1);
  std::iota(expected.begin(), expected.end(), 0);
  const cuda::DeviceArray<int> from{from_device, expected.size()}, to{to_device, expected.size()};
  cuda::upload(std::span<const int>{expected}, from.data(), stream.get());
  cuda::upload(std::span<const int>{found}, to.data(), stream.get());
  std::vector<BlockCopy> copies;
  std::size_t first = 0;
  for (const std::size_t size : sizes) {
    const std::size_t word = first * words_per_vector, bytes = size * words_per_vector * sizeof(int);
    copies.push_back({.from = {from.data() + word, bytes}, .to = {to.data() + word, bytes}});
    for (std::size_t i = 0; i < words_per_vector; ++i) expected[word + size * words_per_vector + i] = -1;
    first += size + 1;
  }
  stream.synchronize();
  to_device.activate();
  read_blocks(to_device, copies, stream.get());
  cuda::download(to.data(), std::span{found}, stream.get());
  stream.synchronize();
  EXPECT_EQ(found, expected);
}

TEST(PeerReads, RefuseParts) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const cuda::Device device{0};
  const BlockCopy copy{.from = {nullptr, 24}, .to = {nullptr, 24}};
  EXPECT_THROW(read_blocks(device, {&copy, 1}, nullptr), std::logic_error);
}

}  // namespace
}  // namespace orrery
