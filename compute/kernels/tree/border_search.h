#pragma once

#if defined(__CUDACC__)
#include <cstdint>
#include <cub/block/block_scan.cuh>

#include "compute/kernels/tree/domain_border.h"

// The search for the borders between domains, by blocks of a thread for each digit.
namespace orrery {

inline constexpr int borders_at_once = 16;  ///< whose keys are counted in one pass: 32 KB of shared memory

/// The borders while they are searched for, in a block's shared memory.
struct SearchedBorders {
  DomainBorder at[most_borders];
  /// Borders in the same cell share the histogram of the first of them.
  int first_in_cell[most_borders];

  __device__ void find_first_in_cell(int border) {
    int first = border;
    while (first > 0 && at[first - 1].begin == at[border].begin) --first;
    first_in_cell[border] = first;
  }
  __device__ bool counts_keys(int border) const { return first_in_cell[border] == border && !at[border].found(); }
  __device__ bool all_found(int count) const {
    for (int i = 0; i < count; ++i) {
      if (!at[i].found()) return false;
    }
    return true;
  }
};

/// Adds the digits of `count` keys in the cells of the borders from `first` to `last` to their histograms, which lie
/// one behind the other. All threads of the grid call it.
__device__ inline void count_digits(const std::uint64_t* keys, int count, const SearchedBorders& borders, int first,
                                    int last, int* histograms) {
  constexpr int block = DomainBorder::digits;
  __shared__ int counts[borders_at_once][DomainBorder::digits];
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = first; i < last; ++i) counts[i - first][thread] = 0;
  __syncthreads();
  for (int i = static_cast<int>(blockIdx.x) * block + thread; i < count; i += static_cast<int>(gridDim.x) * block) {
    const std::uint64_t key = keys[i];
    for (int border = first; border < last; ++border) {
      const DomainBorder& cell = borders.at[border];
      if (borders.counts_keys(border) && cell.has(key)) atomicAdd(&counts[border - first][cell.digit(key)], 1);
    }
  }
  __syncthreads();
  for (int i = first; i < last; ++i) {
    if (const int found = counts[i - first][thread]; found > 0) {
      atomicAdd(histograms + i * DomainBorder::digits + thread, found);
    }
  }
  __syncthreads();  // before the next call
}

/// The same for all borders.
__device__ inline void count_all_digits(const std::uint64_t* keys, int count, const SearchedBorders& borders,
                                        int border_count, int* histograms) {
  for (int first = 0; first < border_count; first += borders_at_once) {
    count_digits(keys, count, borders, first, min(first + borders_at_once, border_count), histograms);
  }
}

/// Goes on from `cell` to that of the digit that has the body of the border's rank, if `inside` is how many keys in the
/// cell have the digit of this thread. One thread stores it. All threads of a block call it.
__device__ inline void narrow(const DomainBorder& cell, int rank_of_all, int inside, DomainBorder& found) {
  using Scan = cub::BlockScan<int, DomainBorder::digits>;
  __shared__ typename Scan::TempStorage storage;
  int smaller = 0;
  Scan{storage}.ExclusiveSum(inside, smaller);
  const int rank = rank_of_all - cell.before, digit = static_cast<int>(threadIdx.x);
  __syncthreads();  // the storage is free again
  if (smaller <= rank && rank < smaller + inside) found = cell.at_digit(digit, smaller, inside);
  __syncthreads();
}

}  // namespace orrery
#endif
