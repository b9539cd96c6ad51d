// Measurements of bodies in device memory: conserved sums, magnitudes, force errors. All are enqueued on a stream; the
// host does not wait for them.
#pragma once

#include <vector>

#include "compute/core/law.h"
#include "compute/core/vec.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/diagnostics/conserved.h"
#include "compute/diagnostics/reference.h"

namespace orrery::cuda {

/// Computes conserved() on the device without blocking the host, one measurement at a time. The order of every sum is
/// fixed, so that the same bodies give the same bits.
class ConservedSums {
 public:
  explicit ConservedSums(const Device& device)
      : device_{device}, result_{device, 1, /*pinned=*/true}, begin_{device}, end_{device} {}

  /// Allocates the memory for this many bodies with these digits. Without this call, keep() allocates, and may then
  /// wait for the device. Call only when the stream has finished all enqueued work.
  void prepare(int count, Digits digits);
  /// Enqueues a copy of the bodies, as the stream's earlier work leaves them. The low words are null if there are none.
  void keep(const Vec4* d_positions, const Vec4* d_velocities, const Vec4* d_positions_low,
            const Vec4* d_velocities_low, int count, cudaStream_t stream);
  /// Enqueues the sums over the copied bodies, in several launches, so that other work can use the GPU in between.
  void enqueue(const Law& law, cudaStream_t stream);

  // Call these functions only when the stream has finished all enqueued work.
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

/// Computes the lengths of vectors on the device and copies them to the host, which does not wait; one array at a time.
class Magnitudes {
 public:
  explicit Magnitudes(const Device& device) : device_{device} {}

  /// Allocates the memory that enqueue() needs. This may wait for the device.
  void prepare(int count);
  /// Enqueues the computation of sqrt(x^2 + y^2 + z^2) for each of `count` vectors. Needs prepare() for `count`.
  void enqueue(const Vec4* d_vectors, int count, cudaStream_t stream);
  /// Returns the lengths. Call only when the stream has finished all enqueued work.
  std::vector<float> values() const;

 private:
  const Device& device_;
  int count_ = 0;
  DeviceArray<float> d_values_;
  HostArray<float> values_;  // written by the device
};

/// Compares a kernel's accelerations with reference_accelerations() on the device without blocking the host, one
/// comparison at a time.
class ForceComparison {
 public:
  explicit ForceComparison(const Device& device) : device_{device}, begin_{device}, end_{device} {}

  /// Allocates the memory that enqueue() needs for these bodies. Without this call, enqueue() allocates, and may then
  /// wait for the device.
  void prepare(int count, const ComparedBodies& compared);
  /// Enqueues the comparison for targets_of(compared, count), after the stream's earlier work. `d_accelerations` has
  /// one entry per body. `d_low`: low words of the bodies' coordinates; null: they have none.
  void enqueue(const Vec4* d_bodies, const Vec4* d_low, int count, const ComparedBodies& compared, const Law& law,
               const Vec4* d_accelerations, cudaStream_t stream);

  // Call these functions only when the stream has finished all enqueued work.
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
  HostArray<Vec3d> reference_;  // the device writes this array and the next one
  HostArray<Vec4> accelerations_;
  Event begin_, end_;
};

}  // namespace orrery::cuda
