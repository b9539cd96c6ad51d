#pragma once

#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/pair_items.h"

namespace orrery {

/// Sums of cuda-symmetric in device memory. Each tile has three rows of 32, for x, y and z, so that a warp adds to
/// whole cache lines. One of the pointers is null.
struct SymmetricSums {
  float* floats = nullptr;              ///< forces over the square of the greatest mass
  unsigned long long* fixed = nullptr;  ///< accelerations over the greatest mass, in fixed point with two's complement:
                                        ///< the sum is the same in any order
  float fixed_scale = 1;                ///< fixed-point number that represents 1, a power of two
  float mass_scale = 1;                 ///< 1 / greatest mass, by which every mass is multiplied

  static constexpr int tile = PairItems::tile;
  ORRERY_HD static std::size_t index(int i) {
    return static_cast<std::size_t>(i / tile) * (3 * tile) + static_cast<std::size_t>(i % tile);
  }

#if defined(__CUDACC__)
  /// Adds a partial force on body i, divided by the square of the greatest mass. `mass` is the mass of body i times
  /// mass_scale. The lanes of a warp must have consecutive i, starting at a multiple of 32.
  __device__ void add(int i, float mass, const Vec3& force) const {
    if (fixed) {
      // All bodies share one fixed-point step. Summing accelerations, not forces, keeps the digits of light bodies.
      const float inverse = mass > 0 ? 1 / mass : 0.0f;
      add_fixed(index(i), force.x * inverse);
      add_fixed(index(i) + tile, force.y * inverse);
      add_fixed(index(i) + 2 * tile, force.z * inverse);
    } else {
      atomicAdd(floats + index(i), force.x);
      atomicAdd(floats + index(i) + tile, force.y);
      atomicAdd(floats + index(i) + 2 * tile, force.z);
    }
  }

 private:
  __device__ void add_fixed(std::size_t where, float part) const {
    atomicAdd(fixed + where, static_cast<unsigned long long>(__float2ll_rn(part * fixed_scale)));
  }
#endif
};

/// Owner of the sums. They are zero before an evaluation, and again once the stream has passed finish().
class SymmetricAccumulator {
 public:
  SymmetricAccumulator(const cuda::Device& device, bool deterministic)
      : device_{device}, deterministic_{deterministic} {}

  /// Allocates the sums: 12 bytes per body, 24 if deterministic. Throws UsageError if the GPU's memory is short.
  void prepare(int count);
  /// Returns the sums, zeroed in the stream, to which the force kernel adds. Call prepare() first.
  SymmetricSums begin(const ForceArgs& args);
  /// Enqueues a pass that turns the sums into accelerations for the epilogue. Call after the force kernel.
  void finish(const ForceArgs& args);

  // If several devices divide the pairs, each has its own sums, and one device adds them up and calls finish().
  /// Returns this device's sums of `count` bodies.
  DeviceBlock own_sums(int count) const;
  /// Returns the finishing device's buffer for the sums of device `index` >= 1. Allocates it as prepare() does.
  DeviceBlock place_of_others(int count, int index);
  /// Enqueues a pass that adds the sums of `others` devices to those of the finishing device.
  void add_others(const ForceArgs& args, int others);

 private:
  std::size_t bytes_for(int count) const;
  SymmetricSums sums_for(const ForceArgs& args) const;

  const cuda::Device& device_;
  bool deterministic_;
  bool zero_ = false;                // whether the sums are zero once the stream has passed the last use
  cuda::DeviceArray<float> floats_;  // only one of floats_ and fixed_ is used
  cuda::DeviceArray<unsigned long long> fixed_;
  std::vector<cuda::DeviceArray<unsigned char>> others_;  // copies of the sums of other devices
};

}  // namespace orrery
