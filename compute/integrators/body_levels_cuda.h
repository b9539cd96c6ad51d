#pragma once

#include <cstddef>

#include "compute/core/bodies.h"
#include "compute/cuda/arrays.h"
#include "compute/integrators/time_step_levels.h"
#include "compute/integrators/update_cuda.h"

namespace orrery::cuda {

/// BodyLevels in device memory. Everything is enqueued on the stream; the device must be active.
class BodyLevels {
 public:
  /// Device memory that a body takes: levels and bodies in both orders, the copies that sorting makes, and the origin.
  static constexpr std::size_t bytes_per_body(Digits digits) {
    const std::size_t origins = digits == Digits::compensated ? 2 : 1;
    return 3 * (sizeof(Level) + sizeof(int)) + origins * sizeof(Vec4);
  }

  explicit BodyLevels(const Device& device) : device_{device} {}

  /// Takes the memory for this many bodies with these digits, and waits for the device if it has not got it.
  void prepare(int count, Digits digits);
  /// Gives it back. Call only while nothing is enqueued.
  void forget() { memory_ = {}; }

  /// Gives each body its level, and waits for the stream. Returns the deepest level that has bodies.
  int assign(const StepCriterion& criterion, float time_step, const Vec4* d_accelerations, cudaStream_t stream);
  const LevelCounts& counts() const { return counts_; }
  /// The active bodies at `now`: the first active_count() of these indices in device memory.
  const int* d_order() const { return memory_.order.data(); }
  int active_count(const Substep& now) const { return count_from(counts_, now.lowest_active()); }
  /// See StepOps::kick_drift_levels, and kick_drift() for `check`.
  void kick_drift(const Substep& now, const StateArrays& arrays, float drag, const NonFiniteCheck& check,
                  cudaStream_t stream) const;

 private:
  struct Memory {
    DeviceArray<Level> levels, sorted_levels;
    DeviceArray<int> bodies, order;  // 0, 1, 2 ..., and sorted by level, the deepest first
    // See update_body(). Without low words, the latter is empty.
    DeviceArray<Vec4> origins, origins_low;
    DeviceArray<int> counts;  // of bodies at each level
    HostArray<int> counts_here;
    DeviceArray<unsigned char> sort_scratch;
  };

  int count() const { return static_cast<int>(memory_.levels.size()); }
  /// Waits for the stream.
  void find_levels(const StepCriterion& criterion, float time_step, const Vec4* d_accelerations, LevelSet kept,
                   cudaStream_t stream);

  const Device& device_;
  Memory memory_;
  LevelCounts counts_{};
};

}  // namespace orrery::cuda
