#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "compute/cuda/event.h"
#include "compute/cuda/host_array.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tree_facet.h"

namespace orrery {

/// What the latest evaluations of a CUDA tree found, and the times of their phases: enqueued on the stream with them,
/// read once they have ended.
class TreeLog {
 public:
  /// Phases' names, of static duration.
  TreeLog(const cuda::Device& device, std::span<const char* const> phases);

  /// An evaluation begins, with its first phase.
  void begin(const ForceArgs& args);
  void next_phase();
  /// The last phase, by blocks of so many threads, and the evaluation's end: bodies take up their accelerations in
  /// their own order. Entry i of `d_sums` is x, y, z and the mass of body d_order[i].
  void finish(const ForceArgs& args, const Vec4* d_sums, const int* d_order, const TreeCounts* d_counts, int block);

  /// Of the latest evaluation that can be read and has ended.
  std::optional<TreeReport> report() const;

 private:
  struct Evaluation {
    Evaluation(const cuda::Device& device, std::size_t phases);

    std::vector<cuda::Event> begins;  // of the phases, if they were timed
    cuda::Event done;
    bool enqueued = false, timed = false;
  };
  /// One to read, one that the GPU has yet to come to, and one for all that are enqueued meanwhile: so something can be
  /// read however far the GPU is behind.
  static constexpr std::size_t slots = 3, unread_slot = 2;

  std::span<const char* const> phases_;
  cuda::HostArray<TreeCounts> counts_;
  std::array<Evaluation, slots> evaluations_;
  std::size_t awaited_ = 0;  // 0 or 1; the other is the one to read
  std::size_t latest_ = 0, phase_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace orrery
