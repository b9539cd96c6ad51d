#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "compute/core/vec.h"
#include "compute/cuda/device.h"
#include "compute/cuda/device_array.h"
#include "compute/kernels/migration_facet.h"
#include "compute/kernels/on_all.h"
#include "compute/kernels/tree/domain_border.h"
#include "compute/kernels/tree/domain_layout.h"
#include "compute/kernels/tree/octree.h"

namespace orrery {

/// Moves bodies that several devices hold to the devices in whose domains they are: stretches of Hilbert's curve, with
/// as many bodies in each as its layout says, so that the host knows all numbers. Each device reads what the others
/// found in the round before, and at last writes its bodies to the memory of their new devices.
///
/// A border between domains is a cell of level 15, or one with few bodies. Bodies of that cell go to either side, and
/// it does not matter which.
class DomainMigration {
 public:
  explicit DomainMigration(const cuda::Device& device) : device_{device} {}

  /// Takes memory for at most so many bodies of this device, number `index`.
  void prepare(int most_bodies, int index, int devices);
  void forget();
  /// All devices' migrations, by index, once they are prepared.
  void connect(std::span<const DomainMigration* const> all);

  static constexpr int border_steps = key_levels / DomainBorder::levels_per_digit;
  static constexpr int rounds = 4 + border_steps;

  struct Move {
    const ResidentBodies& from;
    const DomainLayout& to;
    int of_all;           ///< bodies
    std::uint64_t* keys;  ///< room for one per body that this device has before
    int* numbers;         ///< likewise; what they become is of no use
  };
  /// Enqueues a round. The next one must not begin before all devices have ended this one.
  void round(int number, const Move& move, cudaStream_t stream);

  /// After all rounds: the bodies of this device, in any order, and the cube of the keys of all bodies.
  ResidentBodies arrived() const;
  const TreeCube* cube() const { return cube_.data(); }
  /// What the device has of its bodies beside their places, in the order of its tree.
  Vec4* velocities() const { return velocities_.data(); }
  int* ids() const { return ids_.data(); }
  /// `to` becomes what has arrived, in this order.
  void take(const int* order, const ResidentBodies& to, cudaStream_t stream) const;

 private:
  int borders() const { return devices_ - 1; }
  /// Before step number `step`, and after it.
  DomainBorder* borders_at(int step) const { return borders_.data() + step * borders(); }
  std::size_t histograms_of(int step) const;
  void begin_search(const Move& move, cudaStream_t stream);
  void count_digits(int step, const Move& move, cudaStream_t stream);
  void narrow(int step, const Move& move, cudaStream_t stream);
  void count_stretches(const Move& move, cudaStream_t stream);
  void send(const Move& move, cudaStream_t stream);

  const cuda::Device& device_;
  int index_ = 0, devices_ = 1;
  cuda::DeviceArray<Vec4> velocities_, arrived_positions_, arrived_velocities_;
  cuda::DeviceArray<int> ids_, arrived_ids_;
  cuda::DeviceArray<OctreeState> extents_;  // of its own bodies, and then of all with the deviation of its own
  cuda::DeviceArray<TreeCube> cube_;
  cuda::DeviceArray<DomainBorder> borders_;  // of each step
  cuda::DeviceArray<int> histograms_;        // its own: of each step, border and digit
  cuda::DeviceArray<int> stretches_;         // its own bodies in each, and then the places of the first of them
  // Of all devices:
  OnAll<const OctreeState> all_extents_, all_deviations_;
  OnAll<const int> all_histograms_, all_stretches_;
  ResidentBodies all_arrived_[most_devices];
};

}  // namespace orrery
