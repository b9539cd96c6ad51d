#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/kernels/division.h"
#include "compute/kernels/rank_device.h"

namespace orrery {

inline std::size_t sum_of(std::span<const std::size_t> sizes) {
  std::size_t sum = 0;
  for (const std::size_t size : sizes) sum += size;
  return sum;
}

inline std::vector<std::size_t> sizes_of(std::span<const DeviceBlock> blocks) {
  std::vector<std::size_t> sizes;
  for (const DeviceBlock& block : blocks) sizes.push_back(block.bytes);
  return sizes;
}

/// Returns the blocks that the leader shares with another rank, of which only the sizes are known.
inline DivisionFacet::Blocks blocks_of(const Handout& handout) {
  DivisionFacet::Blocks blocks;
  for (const auto& sizes : {std::span{handout.with_all}, std::span{handout.with_one}}) {
    for (const std::size_t size : sizes) blocks.push_back({.bytes = size});
  }
  return blocks;
}

/// Returns the blocks cut to these sizes, in bytes.
inline DivisionFacet::Blocks first_of(DivisionFacet::Blocks blocks, std::span<const std::size_t> sizes) {
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].bytes = sizes[i];
  return blocks;
}

/// Page-locked host memory through which blocks of a device are copied, packed one after the other.
class Staging {
 public:
  explicit Staging(const cuda::Device& device) : device_{device} {}

  /// Returns `bytes` bytes of memory. Earlier contents may be lost.
  std::span<std::byte> take(std::size_t bytes) {
    if (memory_.size() < bytes) {
      memory_ = {};  // free the old memory before taking the new
      memory_ = {device_, bytes, /*pinned=*/true};
    }
    return first(bytes);
  }
  std::span<std::byte> first(std::size_t bytes) const { return memory_.all().first(bytes); }

  /// Enqueues the copies to host memory, and returns where they go.
  std::span<std::byte> fill(std::span<const DeviceBlock> blocks, cudaStream_t stream) {
    const std::span<std::byte> all = take(sum_of(sizes_of(blocks)));
    std::byte* to = all.data();
    for (const DeviceBlock& block : blocks) {
      if (block.bytes == 0) continue;
      cuda::download(static_cast<const std::byte*>(block.data), std::span{to, block.bytes}, stream);
      to += block.bytes;
    }
    return all;
  }
  void empty(std::span<const DeviceBlock> blocks, cudaStream_t stream) const {
    const std::byte* from = first(sum_of(sizes_of(blocks))).data();
    for (const DeviceBlock& block : blocks) {
      if (block.bytes == 0) continue;
      cuda::upload(std::span{from, block.bytes}, static_cast<std::byte*>(block.data), stream);
      from += block.bytes;
    }
  }

 private:
  const cuda::Device& device_;
  cuda::HostArray<std::byte> memory_;
};

}  // namespace orrery
