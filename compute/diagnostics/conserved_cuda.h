#pragma once

#include "compute/core/force_law.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/stream.h"
#include "compute/diagnostics/conserved.h"

namespace orrery::cuda {

/// conserved() on the device and without waiting: one measurement at a time. The order of every sum is fixed, so that
/// the same bodies give the same bits.
class ConservedSums {
 public:
  explicit ConservedSums(const Device& device)
      : device_{device}, result_{device, 1, /*pinned=*/true}, begin_{device}, end_{device} {}

  /// Takes the memory for this many bodies with these digits, which keep() otherwise takes itself and then may wait for
  /// the device. Call only once the stream has passed what was enqueued.
  void prepare(int count, Digits digits);
  /// Enqueues a copy of the bodies as they are when the stream comes to it. The low words are null if there are none.
  void keep(const Vec4* d_positions, const Vec4* d_velocities, const Vec4* d_positions_low,
            const Vec4* d_velocities_low, int count, cudaStream_t stream);
  /// Enqueues the sums over the bodies that were kept, in launches that leave the GPU to others in between.
  void enqueue(const Law& law, cudaStream_t stream);

  /// These once the stream has passed what was enqueued.
  Conserved sums() const { return result_.first(1).front(); }
  double ms() const { return elapsed_ms(begin_, end_); }

 private:
  const Device& device_;
  DeviceArray<Vec4> d_positions_, d_velocities_;
  DeviceArray<Vec4> d_positions_low_, d_velocities_low_;  // empty without low words
  DeviceArray<Conserved> d_partials_;
  HostArray<Conserved> result_;  // written by the device
  Event begin_, end_;
};

}  // namespace orrery::cuda
