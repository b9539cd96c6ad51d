// Passes that move bodies in device memory: kicks and drifts of all bodies, and of bodies with block steps.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/core/bodies.h"
#include "compute/core/vec.h"
#include "compute/cuda/arrays.h"
#include "compute/integrators/time_step_levels.h"
#include "compute/integrators/update.h"
#include "compute/kernels/epilogue.h"

struct CUstream_st;

namespace orrery::cuda {

/// Returns whether this build contains machine code for `device`. Throws cuda::Error.
bool has_code_for(const Device& device);

/// Enqueues kick_body() with the owed kick, then kick_drift_body() (both in update.h), for `count` bodies in memory of
/// `device`, which must be active. If the bodies are frozen, makes only the owed kick.
void kick_drift(const Device& device, const StateArrays& arrays, int count, const KickDrift& pass,
                const NonFiniteCheck& check, CUstream_st* stream);

/// Enqueues a check of all bodies, which changes nothing. `pass`: number of this pass in the report.
void check_finite(const Vec4* d_positions, const Vec4* d_velocities, int count, const NonFiniteReport& report,
                  std::uint32_t pass, CUstream_st* stream);

#if defined(__CUDACC__)

/// Returns whether a pass with a lower number has reported a body. Loads through the caches without synchronization, so
/// it may miss a report that is made while this pass runs.
__device__ inline bool reported_before(const NonFiniteReport& report, std::uint32_t pass) {
  return report.d_first->is_before(pass);
}

__device__ inline void put(const NonFiniteReport& report, const PackedFinding& here) {
  if (atomicMin(&report.d_first->bits, here.bits) > here.bits) *report.seen = 1;
}

/// Makes a pass over one body: settle(body), which belongs to the previous step, then update(body). Stores the parts
/// that `change` names. If the bodies are frozen, it only settles. Reports a body that is not finite.
template <class Real, class Settle, class Update>
__device__ void update_checked(const StateArrays& arrays, int i, BodyChange change, const NonFiniteCheck& check,
                               Settle&& settle, Update&& update) {
  // Everything is loaded whether or not the bodies are frozen, so that no load waits for another.
  const bool frozen = reported_before(check.report, check.frozen_below);
  BodyState before = load_body<Real>(arrays, i);
  settle(before);
  BodyState body = before;
  update(body);
  store_body<Real>(arrays, i, frozen ? before : body, change);
  if (!frozen && !is_finite(body.position, body.velocity)) {
    put(check.report,
        {is_finite(before.position, before.velocity) ? check.after : check.before, check.report.number_of(i)});
  }
}
/// Makes a pass without anything to settle.
template <class Real, class Update>
__device__ void update_checked(const StateArrays& arrays, int i, BodyChange change, const NonFiniteCheck& check,
                               Update&& update) {
  update_checked<Real>(
      arrays, i, change, check, [](BodyState&) {}, update);
}

#endif

/// Levels of bodies in device memory, like orrery::BodyLevels. All work is enqueued on the stream; the device must be
/// active.
class BodyLevels {
 public:
  /// Returns the bytes of device memory per body: levels and bodies in both orders, the copies that sorting makes, and
  /// the origins.
  static constexpr std::size_t bytes_per_body(Digits digits) {
    const std::size_t origins = digits == Digits::compensated ? 2 : 1;
    return 3 * (sizeof(Level) + sizeof(int)) + origins * sizeof(Vec4);
  }

  explicit BodyLevels(const Device& device) : device_{device} {}

  /// Allocates memory for this many bodies with these digits, and waits for the device. Does nothing if it exists.
  void prepare(int count, Digits digits);
  /// Frees the memory. Call only while nothing is enqueued.
  void forget() { memory_ = {}; }

  /// Gives each body its level, and waits for the stream. Returns the deepest level that has bodies.
  int assign(const StepCriterion& criterion, float time_step, const Vec4* d_accelerations, cudaStream_t stream);
  const LevelCounts& counts() const { return counts_; }
  /// Returns indices of bodies in device memory: the first active_count() are the active bodies at `now`.
  const int* d_order() const { return memory_.order.data(); }
  int active_count(const Substep& now) const { return count_from(counts_, now.lowest_active()); }
  /// Kicks and drifts bodies, see StepOps::kick_drift_levels(). `check`: see kick_drift().
  void kick_drift(const Substep& now, const StateArrays& arrays, float drag, const NonFiniteCheck& check,
                  cudaStream_t stream) const;

 private:
  struct Memory {
    DeviceArray<Level> levels, sorted_levels;
    DeviceArray<int> bodies, order;  // indices: 0, 1, 2 ..., and sorted by level, the deepest first
    // Positions at which steps begin, see update_body(). Without low words, origins_low is empty.
    DeviceArray<Vec4> origins, origins_low;
    DeviceArray<int> counts;  // number of bodies at each level
    HostArray<int> counts_here;
    DeviceArray<unsigned char> sort_scratch;
  };

  int count() const { return static_cast<int>(memory_.levels.size()); }
  /// Finds the level of each body. Waits for the stream.
  void find_levels(const StepCriterion& criterion, float time_step, const Vec4* d_accelerations, LevelSet kept,
                   cudaStream_t stream);

  const Device& device_;
  Memory memory_;
  LevelCounts counts_{};
};

}  // namespace orrery::cuda
