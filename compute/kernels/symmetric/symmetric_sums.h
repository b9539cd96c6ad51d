#pragma once

#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/pair_items.h"

namespace orrery {

/// The sums of cuda-symmetric in memory: three rows of 32 per tile, so that a warp adds to whole cache lines. One of
/// the pointers is null.
struct SymmetricSums {
  float* floats = nullptr;              ///< forces over the square of the greatest mass
  unsigned long long* fixed = nullptr;  ///< accelerations over the greatest mass, in fixed point: two's complement,
                                        ///< whose sum is the same in any order
  float fixed_scale = 1;                ///< a power of two: the fixed-point number of 1
  float mass_scale = 1;                 ///< 1 / the greatest mass; multiplies every mass

  static constexpr int tile = PairItems::tile;
  ORRERY_HD static std::size_t index(int i) {
    return static_cast<std::size_t>(i / tile) * (3 * tile) + static_cast<std::size_t>(i % tile);
  }

#if defined(__CUDACC__)
  /// Adds part of the force on body i, over the square of the greatest mass. `mass` is its mass times mass_scale. The
  /// lanes of a warp must have consecutive i, the first a multiple of 32.
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

/// Owns the sums. They are zero before an evaluation, and again once the stream has passed finish().
class SymmetricAccumulator {
 public:
  SymmetricAccumulator(const cuda::Device& device, bool deterministic)
      : device_{device}, deterministic_{deterministic} {}

  /// Throws UsageError if the GPU is short of memory for the sums: 12 bytes per body, 24 if deterministic.
  void prepare(int count);
  /// Returns the sums that the force kernel adds to. Call prepare() first.
  SymmetricSums begin(const ForceArgs& args);
  /// Call after the force kernel. Enqueues a pass that turns the sums into accelerations, for the epilogue.
  void finish(const ForceArgs& args);

  // Several devices can each add to sums of their own, before one of them finishes.
  /// Returns this device's sums of `count` bodies.
  DeviceBlock own_sums(int count) const;
  /// Returns where the finishing device gets the sums of device `index`, from 1 on. Takes memory as prepare() does.
  DeviceBlock place_of_others(int count, int index);
  /// Enqueues a pass that adds the sums of `others` devices to those of the finishing device.
  void add_others(const ForceArgs& args, int others);

 private:
  std::size_t bytes_for(int count) const;
  SymmetricSums sums_for(const ForceArgs& args) const;

  const cuda::Device& device_;
  bool deterministic_;
  bool zero_ = false;                // the sums are zero once the stream has passed the last use
  cuda::DeviceArray<float> floats_;  // one of the two is in use
  cuda::DeviceArray<unsigned long long> fixed_;
  std::vector<cuda::DeviceArray<unsigned char>> others_;  // the sums of other devices
};

}  // namespace orrery
