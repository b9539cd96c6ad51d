#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/cuda/launch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tree_facet.h"

// Implementation of TreeFacet for CUDA trees: reports on evaluations (TreeLog), and cells to show (CellPicker).
namespace orrery {

/// Log of a CUDA tree's latest evaluations: their counts, and the times of their phases. Work on an evaluation's stream
/// copies the counts to the host and records an event for each phase. The host reads both after the evaluation's end.
class TreeLog {
 public:
  /// `phases`: names of the phases, with static storage duration.
  TreeLog(const cuda::Device& device, std::span<const char* const> phases);

  /// Begins an evaluation and its first phase.
  void begin(const ForceArgs& args);
  void next_phase();
  /// Enqueues the last phase, with `block` threads per block, and ends the evaluation. The epilogue finishes the
  /// bodies: d_sums[i] is the acceleration (x, y, z) and the mass (w) of body d_order[i]. `d_is_target`: one byte per
  /// body in original order, zero for bodies to leave out; null: finishes all. `noted`: also receives the number of
  /// interactions; may be null.
  void finish(const ForceArgs& args, const Vec4* d_sums, const int* d_order, const TreeCounts* d_counts, int block,
              const unsigned char* d_is_target = nullptr, std::uint64_t* noted = nullptr);
  /// Ends an evaluation without finishing its bodies, because other devices do.
  void finish_counts(const ForceArgs& args, const TreeCounts* d_counts, std::uint64_t* noted);

  /// Returns the report of the latest evaluation that has ended, except evaluations in the unread slot (see Ring).
  std::optional<TreeReport> report() const;

 private:
  struct Evaluation {
    Evaluation(const cuda::Device& device, std::size_t phases);

    std::vector<cuda::Event> begins;  // beginning of each phase, if phases are timed
    cuda::Event done;
    bool enqueued = false, timed = false;

    bool ended() const { return enqueued && done.reached(); }
    bool in_flight() const { return enqueued && !done.reached(); }
  };

  /// Slots of evaluations. Two slots alternate, so that one can be read while the GPU is busy with the other. While
  /// both are in flight, evaluations use a third slot, which is never read. So the GPU may lag any number of
  /// evaluations.
  class Ring {
   public:
    static constexpr std::size_t slots = 3;

    Ring(const cuda::Device& device, std::size_t phases);
    /// Returns the slot for the next evaluation.
    std::size_t next();
    /// Returns the slot of the latest ended evaluation that can be read.
    std::optional<std::size_t> latest_ended() const;
    Evaluation& operator[](std::size_t slot) { return evaluations_[slot]; }
    const Evaluation& operator[](std::size_t slot) const { return evaluations_[slot]; }

   private:
    static constexpr std::size_t unread = 2;
    static constexpr std::size_t other(std::size_t slot) { return 1 - slot; }

    std::array<Evaluation, slots> evaluations_;
    std::size_t awaited_ = 0;  // 0 or 1: the alternating slot that ends next
  };

  void end();

  std::span<const char* const> phases_;
  cuda::HostArray<TreeCounts> counts_;
  Ring ring_;
  std::size_t slot_ = 0, phase_ = 0;  // slot and phase of the latest evaluation
  cudaStream_t stream_ = nullptr;
  PhaseMarks* marks_ = nullptr;  // marks of the latest evaluation; null: not requested
};

/// Picks cells to show, and copies them to the host. Both are enqueued between two evaluations, so the host never
/// waits.
class CellPicker {
 public:
  static constexpr int most_levels = 32;

  explicit CellPicker(const cuda::Device& device) : device_{device} {}

  /// Allocates memory for picks of `most` >= 1 cells. Without this call, pick() allocates.
  void prepare(int most);
  /// Enqueues a pick of at most `most` >= 1 cells, the larger ones first, on one level or on every level. `Cells` can
  /// be copied to the device and has count(), cell(i) and level(i) there. level(i) is below most_levels; negative if i
  /// is not a cell.
  template <class Cells>
  void pick(const Cells& cells, int most, int level, cudaStream_t stream);
  /// Empties cells() until the next pick.
  void forget() { most_ = 0; }
  /// Returns the latest pick, if any. Call only when the stream has passed the pick.
  std::optional<PickedCells> cells() const;

  /// Counts by level: all cells, and cells that were picked or refused so far.
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

}  // namespace orrery
