#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/cuda/launch.h"
#include "compute/kernels/tree_facet.h"

// Picking of the larger cells of a tree in device memory, for CUDA sources.
namespace orrery {

/// Picks cells and copies them to the host. The host never waits: both are enqueued between two evaluations.
class CellPicker {
 public:
  static constexpr int most_levels = 32;

  explicit CellPicker(const cuda::Device& device) : device_{device} {}

  /// Allocates memory for picks of `most` >= 1 cells. Without this call, pick() allocates.
  void prepare(int most);
  /// Enqueues a pick of the larger cells, at most `most` >= 1, on one level or on every level. A `Cells` can be copied
  /// to the device. There, for i in [0, count()), it has cell(i) and level(i): below most_levels; negative if i is no
  /// cell.
  template <class Cells>
  void pick(const Cells& cells, int most, int level, cudaStream_t stream);
  /// Empties cells() until the next pick.
  void forget() { most_ = 0; }
  /// Returns the latest pick; none without one. Call only when the stream has passed the pick.
  std::optional<PickedCells> cells() const;

  /// Number of cells on each level, and of those picked or refused so far.
  struct Levels {
    int cells[most_levels], seen[most_levels];
  };

 private:
  const cuda::Device& device_;
  int most_ = 0;
  cuda::DeviceArray<Levels> d_levels_;
  cuda::DeviceArray<TreeCell> d_cells_;
  cuda::HostArray<Levels> levels_;
  cuda::HostArray<TreeCell> cells_;
};

#if defined(__CUDACC__)
template <class Cells>
__global__ void count_levels(const __grid_constant__ Cells cells, CellPicker::Levels* levels, int wanted) {
  constexpr int most_levels = CellPicker::most_levels;
  __shared__ int here[most_levels];
  if (threadIdx.x < most_levels) here[threadIdx.x] = 0;
  __syncthreads();
  const int count = cells.count();
  for (auto i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    const int level = cells.level(i);
    if (level >= 0 && (wanted == CellRequest::every_level || level == wanted)) atomicAdd(&here[level], 1);
  }
  __syncthreads();
  if (threadIdx.x < most_levels) atomicAdd(&levels->cells[threadIdx.x], here[threadIdx.x]);
}

/// Picks level by level from the root until `most` cells are picked. The order within a level is arbitrary.
template <class Cells>
__global__ void pick_cells(const __grid_constant__ Cells cells, CellPicker::Levels* levels, TreeCell* picked, int most,
                           int wanted) {
  constexpr int most_levels = CellPicker::most_levels;
  __shared__ int begins[most_levels];
  if (threadIdx.x == 0) {
    int begin = 0;
    for (int level = 0; level < most_levels; ++level) {
      begins[level] = begin;
      begin += levels->cells[level];
    }
  }
  __syncthreads();
  const int count = cells.count();
  for (auto i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    const int level = cells.level(i);
    if (level < 0 || (wanted != CellRequest::every_level && level != wanted) || begins[level] >= most) continue;
    const int place = begins[level] + atomicAdd(&levels->seen[level], 1);
    if (place < most) picked[place] = cells.cell(i);
  }
}

template <class Cells>
void CellPicker::pick(const Cells& cells, int most, int level, cudaStream_t stream) {
  prepare(most);
  most_ = most;
  const auto size = static_cast<std::size_t>(most);
  ORRERY_CUDA_CHECK(cudaMemsetAsync(d_levels_.data(), 0, sizeof(Levels), stream));
  ORRERY_CUDA_CHECK(cudaMemsetAsync(d_cells_.data(), 0, size * sizeof(TreeCell), stream));
  constexpr int block = 256;
  const int blocks = 4 * device_.multiprocessors();
  count_levels<<<blocks, block, 0, stream>>>(cells, d_levels_.data(), level);
  ORRERY_CUDA_CHECK_LAUNCH(count_levels);
  pick_cells<<<blocks, block, 0, stream>>>(cells, d_levels_.data(), d_cells_.data(), most, level);
  ORRERY_CUDA_CHECK_LAUNCH(pick_cells);
  cuda::download(d_levels_.data(), levels_.first(1), stream);
  cuda::download(d_cells_.data(), cells_.first(most), stream);
}

#endif

inline void CellPicker::prepare(int most) {
  const auto size = static_cast<std::size_t>(most);
  if (d_levels_.size() == 0) {
    d_levels_ = cuda::DeviceArray<Levels>(device_, 1);
    levels_ = cuda::HostArray<Levels>(device_, 1, /*pinned=*/true);
  }
  if (cells_.size() >= size) return;
  most_ = 0;
  d_cells_ = cuda::DeviceArray<TreeCell>(device_, size);
  cells_ = cuda::HostArray<TreeCell>(device_, size, /*pinned=*/true);
}

inline std::optional<PickedCells> CellPicker::cells() const {
  if (most_ == 0) return std::nullopt;
  int count = 0;
  for (const int cells : levels_.first(1)[0].cells) count += cells;
  const std::span<const TreeCell> picked = cells_.first(std::min(count, most_));
  return PickedCells{.cells = {picked.begin(), picked.end()}, .count = count, .walk = {}};
}

}  // namespace orrery
