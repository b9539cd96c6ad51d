#pragma once

#include <cstdint>

#include "compute/kernels/division.h"
#include "compute/kernels/tree/body_keys.h"

namespace orrery {

inline constexpr int most_borders = most_devices - 1;

/// The cell of the octree in which one domain ends and the next begins: it has the body before which there are as many
/// as the domains before it have. Found from the root down, three levels at a time, by counting the keys of the cells
/// below: their digits.
struct DomainBorder {
  static constexpr int levels_per_digit = 3, digits = 1 << 3 * levels_per_digit;
  static_assert(key_levels % levels_per_digit == 0);
  /// A cell with so few bodies is not divided further: it does not matter which of them belong to which domain.
  static constexpr int few = 16;

  // No initial values: a kernel has borders in shared memory.
  std::uint64_t begin;  ///< its first key
  std::int64_t level;   ///< 64 bits, so that a border has no padding, whose copies initcheck would report
  int before;           ///< bodies with smaller keys
  int inside;           ///< bodies

  /// Where the search begins: `rank` of `count` bodies are in the domains before it.
  ORRERY_HD static DomainBorder of_all(int rank, int count) {
    if (rank < count) return {0, 0, 0, count};
    return {std::uint64_t{1} << 3 * key_levels, key_levels, count, 0};  // behind all keys
  }

  ORRERY_HD bool found() const { return inside <= few || level == key_levels; }
  ORRERY_HD std::uint64_t end() const { return begin + (std::uint64_t{1} << bits_below()); }
  ORRERY_HD bool has(std::uint64_t key) const { return (key ^ begin) >> bits_below() == 0; }
  /// Of a key in the cell, unless it is found.
  ORRERY_HD int digit(std::uint64_t key) const {
    return static_cast<int>(key >> (bits_below() - 3 * levels_per_digit)) & (digits - 1);
  }
  /// The cell of keys with this digit, of which there are `count` behind `smaller` keys in this cell.
  ORRERY_HD DomainBorder at_digit(int digit, int smaller, int count) const {
    const int shift = bits_below() - 3 * levels_per_digit;
    return {begin | static_cast<std::uint64_t>(digit) << shift, level + levels_per_digit, before + smaller, count};
  }

 private:
  ORRERY_HD int bits_below() const { return static_cast<int>(3 * (key_levels - level)); }
};

static_assert(sizeof(DomainBorder) == 2 * sizeof(std::uint64_t) + 2 * sizeof(int));  // no byte is padding

/// Which of the stretches that `count` borders make a key lies in, in the order of the keys: 0 before the first border,
/// 2 count behind the last one. The bodies of a border's cell are a stretch of their own.
ORRERY_HD inline int stretch_of(std::uint64_t key, const DomainBorder* borders, int count) {
  int stretch = 0;
  for (int i = 0; i < count; ++i) stretch += (key >= borders[i].begin) + (key >= borders[i].end());
  return stretch;
}

}  // namespace orrery

#if defined(__CUDACC__)
#include <cub/block/block_scan.cuh>

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
