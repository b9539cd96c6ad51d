#pragma once

#include "compute/core/force_law.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/stream.h"
#include "compute/diagnostics/reference.h"

namespace orrery::cuda {

/// Holds a kernel's accelerations against reference_accelerations(), on the device and without waiting: one comparison
/// at a time.
class ForceComparison {
 public:
  explicit ForceComparison(const Device& device) : device_{device}, begin_{device}, end_{device} {}

  /// Takes the memory that enqueue() needs for these, which otherwise takes it itself and then may wait for the device.
  void prepare(int count, const ComparedBodies& compared);
  /// Enqueues the comparison for targets_of(compared, count). `d_accelerations` has one entry per body; both arrays are
  /// read as they are when the stream comes to it. `d_low` has the low words of the bodies' coordinates; null: they
  /// have none.
  void enqueue(const Vec4* d_bodies, const Vec4* d_low, int count, const ComparedBodies& compared, const Law& law,
               const Vec4* d_accelerations, cudaStream_t stream);

  /// These once the stream has passed what was enqueued.
  int sample() const { return sample_size(compared_, count_); }
  ForceError error() const;
  BodyErrors body_errors() const;
  double ms() const { return elapsed_ms(begin_, end_); }

 private:
  int targets() const { return static_cast<int>(targets_.size()); }
  int splits(int count) const;

  const Device& device_;
  int count_ = 0;
  ComparedBodies compared_;
  std::vector<int> targets_;
  HostArray<int> pinned_targets_;
  DeviceArray<int> d_targets_;
  DeviceArray<Vec3d> d_partials_;
  HostArray<Vec3d> reference_;  // what follows is written by the device
  HostArray<Vec4> accelerations_;
  Event begin_, end_;
};

}  // namespace orrery::cuda
