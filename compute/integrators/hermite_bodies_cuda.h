#pragma once

#include <cstddef>
#include <span>

#include "compute/cuda/arrays.h"
#include "compute/integrators/hermite.h"
#include "compute/integrators/update_cuda.h"

namespace orrery::cuda {

/// A moment of a hermite4-blocks step at which bodies' own steps end, in device memory.
struct HermiteMoment {
  int number = 0;  ///< as Substep::number, if most_level is the deepest level
  int active = 0;  ///< number of bodies whose steps end; 0: the whole step has already ended
};

/// HermiteBodies in device memory. All work is enqueued on the stream; the device must be active.
class HermiteBodies {
 public:
  /// Bytes of device memory per body.
  static constexpr std::size_t bytes_per_body =
      sizeof(HermiteBody) + sizeof(PreciseBody) + sizeof(Pull) + sizeof(Level) + sizeof(int);

  explicit HermiteBodies(const Device& device) : device_{device} {}

  /// Allocates memory for this many bodies. Throws UsageError if the device has too little.
  void prepare(int count);
  /// Frees the memory. Call only while nothing is enqueued.
  void forget();
  std::size_t bytes() const { return static_cast<std::size_t>(count()) * bytes_per_body; }
  /// Makes start() necessary again. Call when the bodies were replaced.
  void bodies_replaced() { started_ = pulls_current_ = false; }
  void forget_pulls() { pulls_current_ = false; }

  bool started() const { return started_; }
  bool pulls_current() const { return pulls_current_; }
  void start(const StateArrays& arrays, CUstream_st* stream);
  /// Returns the state; go_on() continues from a state, and throws as prepare(). Both wait for the stream.
  HermiteState state(CUstream_st* stream) const;
  void go_on(const HermiteState& state, CUstream_st* stream);

  const PreciseBody* d_predicted() const { return memory_.predicted.data(); }
  Pull* d_pulls() { return memory_.pulls.data(); }
  /// Returns the indices of the active bodies at the last predict(), in any order: the first active_count() entries.
  /// Null if all bodies are active.
  const int* d_active() const { return active_count_ < count() ? memory_.active.data() : nullptr; }
  int active_count() const { return active_count_; }

  /// These functions work as in orrery::HermiteBodies.
  void predict_begin(CUstream_st* stream);
  void take_first_pulls(const StepCriterion& criterion, float drag, CUstream_st* stream);
  /// Also waits for the stream, unless all `share_steps`.
  int begin(float time_step, bool share_steps, CUstream_st* stream);
  void predict(const Substep& now, CUstream_st* stream);
  /// Also waits for the stream, unless all bodies share their steps.
  int correct(const Substep& now, const Correction& how, CUstream_st* stream);

  // The device can find the next moments and their active bodies itself, so that the host need not wait for each one.
  // The host enqueues up to moments_at_once moments, numbered from 0, and then reads them by take_moments().
  static constexpr int moments_at_once = 16;
  /// Begins a sequence of moments. Call after begin().
  void begin_moments(CUstream_st* stream);
  /// Predicts all bodies at the next moment, number `place`, and lists the active ones.
  void predict_next(int place, float time_step, CUstream_st* stream);
  /// Returns the list of active bodies, at most count(); d_listed_count() returns where their number is.
  const int* d_listed() const { return memory_.active.data(); }
  const int* d_listed_count(int place) const { return &memory_.moments.data()[place + 1].active; }
  /// Corrects the listed bodies at the moment of predict_next().
  void correct_next(int place, float time_step, const Correction& how, CUstream_st* stream);
  /// Returns the moments_at_once moments since begin_moments() or the last call. Waits for the stream.
  std::span<const HermiteMoment> take_moments(CUstream_st* stream);
  /// Writes the rounded bodies and accelerations. `check`: see kick_drift().
  void write(const StateArrays& arrays, Vec4* d_accelerations, const NonFiniteCheck& check, CUstream_st* stream) const;

  const LevelCounts& counts() const { return counts_; }

 private:
  struct Memory {
    DeviceArray<HermiteBody> bodies;
    DeviceArray<PreciseBody> predicted;
    DeviceArray<Pull> pulls;
    DeviceArray<Level> levels;
    DeviceArray<int> active;
    DeviceArray<int> counts;  // number of bodies at each level, then of active bodies listed so far
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
