#pragma once

#include <cstddef>
#include <span>

#include "compute/cuda/arrays.h"
#include "compute/integrators/hermite.h"
#include "compute/integrators/update_cuda.h"

namespace orrery::cuda {

/// A moment of a step of hermite4-blocks at which own steps end, in device memory.
struct HermiteMoment {
  int number = 0;  ///< as Substep::number with the levels down to most_level
  int active = 0;  ///< number of bodies whose steps end; 0: the whole step had ended before
};

/// HermiteBodies in device memory. Everything is enqueued on the stream; the device must be active.
class HermiteBodies {
 public:
  /// Device memory that a body takes.
  static constexpr std::size_t bytes_per_body =
      sizeof(HermiteBody) + sizeof(PreciseBody) + sizeof(Pull) + sizeof(Level) + sizeof(int);

  explicit HermiteBodies(const Device& device) : device_{device} {}

  /// Allocates memory for this many bodies. Throws UsageError if the device has not enough.
  void prepare(int count);
  /// Frees the memory. Call only while nothing is enqueued.
  void forget();
  std::size_t bytes() const { return static_cast<std::size_t>(count()) * bytes_per_body; }
  /// Call when the bodies were replaced: start() is needed again.
  void bodies_replaced() { started_ = pulls_current_ = false; }
  void forget_pulls() { pulls_current_ = false; }

  bool started() const { return started_; }
  bool pulls_current() const { return pulls_current_; }
  void start(const StateArrays& arrays, CUstream_st* stream);
  /// See orrery::HermiteBodies; both wait for the stream. Throws as prepare().
  HermiteState state(CUstream_st* stream) const;
  void go_on(const HermiteState& state, CUstream_st* stream);

  const PreciseBody* d_predicted() const { return memory_.predicted.data(); }
  Pull* d_pulls() { return memory_.pulls.data(); }
  /// Returns indices of bodies: the first active_count() are the active ones at the last predict(), in any order. Null
  /// if all bodies are active.
  const int* d_active() const { return active_count_ < count() ? memory_.active.data() : nullptr; }
  int active_count() const { return active_count_; }

  /// See orrery::HermiteBodies for these.
  void predict_begin(CUstream_st* stream);
  void take_first_pulls(const StepCriterion& criterion, float drag, CUstream_st* stream);
  /// Waits for the stream unless all `share_steps`.
  int begin(float time_step, bool share_steps, CUstream_st* stream);
  void predict(const Substep& now, CUstream_st* stream);
  /// Waits for the stream unless all share their steps.
  int correct(const Substep& now, const Correction& how, CUstream_st* stream);

  // The device can find the next moments and their active bodies itself, so that the host need not wait for each one:
  // it enqueues up to moments_at_once moments, numbered from 0, and then reads them by take_moments().
  static constexpr int moments_at_once = 16;
  /// Call after begin().
  void begin_moments(CUstream_st* stream);
  /// Does predict() at the next moment, and lists all active bodies.
  void predict_next(int place, float time_step, CUstream_st* stream);
  /// Returns the list of active bodies, of at most count() entries, and the number of its entries.
  const int* d_listed() const { return memory_.active.data(); }
  const int* d_listed_count(int place) const { return &memory_.moments.data()[place + 1].active; }
  /// Does correct() at the moment of predict_next().
  void correct_next(int place, float time_step, const Correction& how, CUstream_st* stream);
  /// Returns the moments_at_once moments since begin_moments() or the last call. Waits for the stream.
  std::span<const HermiteMoment> take_moments(CUstream_st* stream);
  /// See kick_drift() for `check`.
  void write(const StateArrays& arrays, Vec4* d_accelerations, const NonFiniteCheck& check, CUstream_st* stream) const;

  const LevelCounts& counts() const { return counts_; }

 private:
  struct Memory {
    DeviceArray<HermiteBody> bodies;
    DeviceArray<PreciseBody> predicted;
    DeviceArray<Pull> pulls;
    DeviceArray<Level> levels;
    DeviceArray<int> active;
    DeviceArray<int> counts;  // number of bodies at each level, then of the active bodies listed so far
    HostArray<int> counts_here;
    DeviceArray<HermiteMoment> moments;  // the latest moment that the host has read, then the later ones
    HostArray<HermiteMoment> moments_here;
  };

  int count() const { return static_cast<int>(memory_.bodies.size()); }
  int fetch_counts(CUstream_st* stream);

  const Device& device_;
  Memory memory_;
  LevelCounts counts_{};
  int active_count_ = 0;
  bool started_ = false, pulls_current_ = false;
  bool share_steps_ = true;
};

}  // namespace orrery::cuda
