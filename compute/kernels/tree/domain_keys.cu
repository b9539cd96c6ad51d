#include <cooperative_groups.h>

#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "compute/cuda/launch.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tree/border_search.h"
#include "compute/kernels/tree/domain_keys.h"

namespace orrery {
namespace {

namespace cg = cooperative_groups;

constexpr int block = DomainBorder::digits;  // a thread for each digit
constexpr int most_steps = key_levels / DomainBorder::levels_per_digit;

struct Search {
  const std::uint64_t* keys;
  int count;
  int borders;
  int* histograms;           ///< zero at first: of each step, border and digit
  unsigned char* stretches;  ///< of the bodies: what is found
  int ranks[most_borders];

  /// Of the first border in this step; those of the others follow.
  __device__ int* histograms_of(int step) const { return histograms + step * borders * DomainBorder::digits; }
};

/// All blocks find the same borders.
__global__ void __launch_bounds__(block) find_stretches(const __grid_constant__ Search search) {
  __shared__ SearchedBorders borders;
  const auto grid = cg::this_grid();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < search.borders) borders.at[thread] = DomainBorder::of_all(search.ranks[thread], search.count);
  __syncthreads();
  for (int step = 0; step < most_steps && !borders.all_found(search.borders); ++step) {
    if (thread < search.borders) borders.find_first_in_cell(thread);
    __syncthreads();
    count_all_digits(search.keys, search.count, borders, search.borders, search.histograms_of(step));
    grid.sync();
    for (int border = 0; border < search.borders; ++border) {
      const DomainBorder cell = borders.at[border];
      if (cell.found()) continue;
      const int* const histogram = search.histograms_of(step) + borders.first_in_cell[border] * DomainBorder::digits;
      narrow(cell, search.ranks[border], histogram[thread], borders.at[border]);
    }
  }
  for (int i = static_cast<int>(blockIdx.x) * block + thread; i < search.count;
       i += static_cast<int>(gridDim.x) * block) {
    search.stretches[i] = static_cast<unsigned char>(stretch_of(search.keys[i], borders.at, search.borders));
  }
}

/// Stable, so that numbers of one stretch stay in their order.
cudaError_t sort_stretches(void* space, std::size_t& bytes, cub::DoubleBuffer<unsigned char>& stretches,
                           cub::DoubleBuffer<int>& numbers, int count, int borders, cudaStream_t stream) {
  const int bits = std::bit_width(static_cast<unsigned>(2 * borders));
  return cub::DeviceRadixSort::SortPairs(space, bytes, stretches, numbers, count, 0, bits, stream);
}

template <class T>
__global__ void pick(const T* __restrict__ entries, const int* __restrict__ order, int count, T* __restrict__ picked) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i < count) picked[i] = entries[order[i]];
}

__global__ void spread(const Vec4* __restrict__ entries, const int* __restrict__ order, int count,
                       Vec4* __restrict__ to) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i < count) to[order[i]] = entries[i];
}

template <class T>
void pick_entries(const T* entries, const int* order, int count, T* picked, cudaStream_t stream) {
  pick<<<cuda::ceil_div(count, block), block, 0, stream>>>(entries, order, count, picked);
  ORRERY_CUDA_CHECK_LAUNCH(pick);
}

}  // namespace

void DomainKeys::prepare(int borders) {
  take_scratch(device_, histograms_, static_cast<std::size_t>(most_steps * borders * DomainBorder::digits),
               "cuda-tree: the counts of keys", "fewer devices");
}

std::size_t DomainKeys::sort_bytes(const cuda::Device& device, int count) {
  device.activate();
  std::size_t bytes = 0;
  cub::DoubleBuffer<unsigned char> stretches;
  cub::DoubleBuffer<int> numbers;
  ORRERY_CUDA_CHECK(sort_stretches(nullptr, bytes, stretches, numbers, count, most_borders, nullptr));
  return bytes;
}

int* DomainKeys::order(const Keys& keys, std::span<const int> ranks, const Space& space, cudaStream_t stream) {
  Search search{.keys = keys.keys,
                .count = keys.count,
                .borders = static_cast<int>(ranks.size()),
                .histograms = histograms_.data(),
                .stretches = space.stretches,
                .ranks = {}};
  std::ranges::copy(ranks, search.ranks);
  const std::size_t counts = static_cast<std::size_t>(most_steps * search.borders * DomainBorder::digits);
  ORRERY_CUDA_CHECK(cudaMemsetAsync(search.histograms, 0, counts * sizeof(int), stream));
  const int resident = cuda::known_resident_blocks(device_, find_stretches, block);
  const int blocks = std::min(cuda::ceil_div(keys.count, block), std::min(resident, 2) * device_.multiprocessors());
  void* arguments[] = {&search};
  ORRERY_CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(find_stretches),
                                                dim3(static_cast<unsigned>(blocks)), dim3(block), arguments, 0,
                                                stream));
  cub::DoubleBuffer<unsigned char> stretches{space.stretches, space.stretches + keys.count};
  cub::DoubleBuffer<int> numbers{keys.numbers, keys.other_numbers};
  std::size_t bytes = space.sort_bytes;
  ORRERY_CUDA_CHECK(sort_stretches(space.sort_space, bytes, stretches, numbers, keys.count, search.borders, stream));
  return numbers.Current();
}

void pick_keys(const std::uint64_t* keys, const int* order, int count, std::uint64_t* picked, cudaStream_t stream) {
  pick_entries(keys, order, count, picked, stream);
}

void pick_flags(const unsigned char* flags, const int* order, int count, unsigned char* picked, cudaStream_t stream) {
  pick_entries(flags, order, count, picked, stream);
}

void spread_entries(const Vec4* entries, const int* order, int count, Vec4* to, cudaStream_t stream) {
  spread<<<cuda::ceil_div(count, block), block, 0, stream>>>(entries, order, count, to);
  ORRERY_CUDA_CHECK_LAUNCH(spread);
}

}  // namespace orrery
