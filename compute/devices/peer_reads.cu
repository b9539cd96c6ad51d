#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "compute/cuda/launch.h"
#include "compute/devices/peer_reads.h"

namespace orrery {
namespace {

constexpr int block = 512;
constexpr int loads = 4;              // of one thread, in flight at once
constexpr int chunk = block * loads;  // vectors that a block copies at once
constexpr int blocks_per_processor = 2;
constexpr int most_copies = 64;  // of one launch

struct Copies {
  struct Copy {
    const uint4* from;
    uint4* to;
    std::size_t vectors;
    std::size_t first_chunk;
  } at[most_copies];
  int count = 0;
  std::size_t chunks = 0;
};

__global__ void __launch_bounds__(block) read_chunks(const __grid_constant__ Copies copies) {
  int i = 0;
  for (std::size_t place = blockIdx.x; place < copies.chunks; place += gridDim.x) {
    while (i + 1 < copies.count && copies.at[i + 1].first_chunk <= place) ++i;
    const Copies::Copy& copy = copies.at[i];
    const std::size_t first = (place - copy.first_chunk) * chunk + threadIdx.x;
    uint4 vectors[loads];
#pragma unroll
    for (int load = 0; load < loads; ++load) {
      if (const std::size_t at = first + load * block; at < copy.vectors) vectors[load] = __ldcs(copy.from + at);
    }
#pragma unroll
    for (int load = 0; load < loads; ++load) {
      if (const std::size_t at = first + load * block; at < copy.vectors) copy.to[at] = vectors[load];
    }
  }
}

void launch(const cuda::Device& device, const Copies& copies, cudaStream_t stream) {
  if (copies.chunks == 0) return;
  const std::size_t resident = static_cast<std::size_t>(device.info().multiprocessors) * blocks_per_processor;
  read_chunks<<<static_cast<unsigned>(std::min(copies.chunks, resident)), block, 0, stream>>>(copies);
  ORRERY_CUDA_CHECK_LAUNCH(read_chunks);
}

}  // namespace

void read_blocks(const cuda::Device& device, std::span<const BlockCopy> copies, cudaStream_t stream) {
  Copies next;
  for (const BlockCopy& copy : copies) {
    if (copy.from.bytes == 0) continue;
    if (copy.from.bytes % sizeof(uint4) != 0) throw std::logic_error("read_blocks: a block ends within 16 bytes");
    const std::size_t vectors = copy.from.bytes / sizeof(uint4);
    next.at[next.count++] = {static_cast<const uint4*>(copy.from.data), static_cast<uint4*>(copy.to.data), vectors,
                             next.chunks};
    next.chunks += (vectors + chunk - 1) / chunk;
    if (next.count < most_copies) continue;
    launch(device, next, stream);
    next = {};
  }
  launch(device, next, stream);
}

}  // namespace orrery
