#pragma once

#include <cstdint>

#include "compute/kernels/division.h"
#include "compute/kernels/tree/body_keys.h"

namespace orrery {

inline constexpr int most_borders = most_devices - 1;

/// Octree cell in which one domain ends and the next begins. It holds the body whose rank in key order is the number of
/// bodies in earlier domains. The search narrows it from the root, three levels at a time, by counting the digits of
/// the keys inside, i.e. the cells below.
struct DomainBorder {
  static constexpr int levels_per_digit = 3, digits = 1 << 3 * levels_per_digit;
  static_assert(key_levels % levels_per_digit == 0);
  /// Bodies of a cell that is not divided further: it does not matter which of so few belong to which domain.
  static constexpr int few = 16;

  // No initial values, as a kernel has borders in shared memory.
  std::uint64_t begin;  ///< first key of the cell
  std::int64_t level;   ///< 64 bits avoid padding, copies of which initcheck would report
  int before;           ///< number of bodies with smaller keys
  int inside;           ///< number of bodies in the cell

  /// Returns the start of the search. `rank`: number of bodies, out of `count`, in the domains before the border.
  ORRERY_HD static DomainBorder of_all(int rank, int count) {
    if (rank < count) return {0, 0, 0, count};
    return {std::uint64_t{1} << 3 * key_levels, key_levels, count, 0};  // after all keys
  }

  ORRERY_HD bool found() const { return inside <= few || level == key_levels; }
  ORRERY_HD std::uint64_t end() const { return begin + (std::uint64_t{1} << bits_below()); }
  ORRERY_HD bool has(std::uint64_t key) const { return (key ^ begin) >> bits_below() == 0; }
  /// Returns the digit of a key in the cell. Call only if the border is not found().
  ORRERY_HD int digit(std::uint64_t key) const {
    return static_cast<int>(key >> (bits_below() - 3 * levels_per_digit)) & (digits - 1);
  }
  /// Returns the cell of the keys with this digit. It has `count` bodies, and `smaller` bodies of this cell come before
  /// it.
  ORRERY_HD DomainBorder at_digit(int digit, int smaller, int count) const {
    const int shift = bits_below() - 3 * levels_per_digit;
    return {begin | static_cast<std::uint64_t>(digit) << shift, level + levels_per_digit, before + smaller, count};
  }

 private:
  ORRERY_HD int bits_below() const { return static_cast<int>(3 * (key_levels - level)); }
};

static_assert(sizeof(DomainBorder) == 2 * sizeof(std::uint64_t) + 2 * sizeof(int));  // no padding

/// Returns the index of the stretch in which a key lies. `count` borders make 2 count + 1 stretches in key order, as
/// the bodies of a border's cell form a separate one: 0 lies before the first border, 2 count after the last.
ORRERY_HD inline int stretch_of(std::uint64_t key, const DomainBorder* borders, int count) {
  int stretch = 0;
  for (int i = 0; i < count; ++i) stretch += (key >= borders[i].begin) + (key >= borders[i].end());
  return stretch;
}

}  // namespace orrery

#if defined(__CUDACC__)
#include <cub/block/block_scan.cuh>

namespace orrery {

inline constexpr int borders_at_once = 16;  ///< borders whose keys are counted in one pass: 32 KB of shared memory

/// Borders during the search, in a block's shared memory.
struct SearchedBorders {
  DomainBorder at[most_borders];
  /// Index of the first border in the same cell. These borders share its histogram.
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

/// Adds the digits of `count` keys in the cells of borders [first, last) to their histograms, which are consecutive.
/// All threads of the grid call it.
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

/// Calls count_digits() for all borders.
__device__ inline void count_all_digits(const std::uint64_t* keys, int count, const SearchedBorders& borders,
                                        int border_count, int* histograms) {
  for (int first = 0; first < border_count; first += borders_at_once) {
    count_digits(keys, count, borders, first, min(first + borders_at_once, border_count), histograms);
  }
}

/// Narrows `cell` to the digit that has the body of the border's rank, and one thread stores it. `inside`: number of
/// keys in the cell with this thread's digit. All threads of a block call it.
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
