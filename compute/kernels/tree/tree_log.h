#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tree_facet.h"

namespace orrery {

/// Counts of a CUDA tree's latest evaluations, and times of their phases. Both are enqueued on the stream with an
/// evaluation, and read after its end.
class TreeLog {
 public:
  /// `phases`: names of the phases, of static duration.
  TreeLog(const cuda::Device& device, std::span<const char* const> phases);

  /// Begins an evaluation, with its first phase.
  void begin(const ForceArgs& args);
  void next_phase();
  /// Enqueues the last phase, with `block` threads per block, and ends the evaluation: the epilogue finishes the
  /// bodies. d_sums[i] is x, y, z and the mass of body d_order[i]. `d_is_target`: one byte per body in original order,
  /// zero for bodies to leave out; null: finishes all. `noted`: also receives the interactions; may be null.
  void finish(const ForceArgs& args, const Vec4* d_sums, const int* d_order, const TreeCounts* d_counts, int block,
              const unsigned char* d_is_target = nullptr, std::uint64_t* noted = nullptr);
  /// Ends an evaluation whose bodies other devices finish.
  void finish_counts(const ForceArgs& args, const TreeCounts* d_counts, std::uint64_t* noted);

  /// Returns the report of the latest evaluation that can be read and has ended.
  std::optional<TreeReport> report() const;

 private:
  struct Evaluation {
    Evaluation(const cuda::Device& device, std::size_t phases);

    std::vector<cuda::Event> begins;  // begin of each phase, if they were timed
    cuda::Event done;
    bool enqueued = false, timed = false;

    bool ended() const { return enqueued && done.reached(); }
    bool in_flight() const { return enqueued && !done.reached(); }
  };

  /// Evaluations in two alternating slots, so that one can be read while the GPU is busy with the other. While both are
  /// in flight, evaluations go to a third slot that is not read: the GPU may be any number of them behind.
  class Ring {
   public:
    static constexpr std::size_t slots = 3;

    Ring(const cuda::Device& device, std::size_t phases);
    /// The slot for the next evaluation.
    std::size_t next();
    /// The slot of the latest evaluation that can be read and has ended.
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

}  // namespace orrery
