#pragma once

#include <cstdint>
#include <optional>

#include "compute/cuda/arrays.h"
#include "compute/integrators/time_step_levels.h"
#include "compute/integrators/update_cuda.h"
#include "compute/sim/engine/results.h"

namespace orrery {

/// A pass over the bodies as the number that NonFiniteCheck takes: its step, and its place in that step.
struct PassId {
  static constexpr int place_bits = 9;
  static constexpr std::int64_t most_steps = std::int64_t{1} << (32 - place_bits);  ///< more than a batch has
  /// In the order in which they run: the drifts, the check of the state after the step, and what the first drift of the
  /// next step finds in that state.
  enum Place : std::uint32_t { first_drift, check = (1u << place_bits) - 2, next_drift };
  /// `n` counts the drifts of a step, from 0.
  static constexpr Place drift(int n) { return static_cast<Place>(n); }
  static_assert((1u << most_leapfrog_level) < check, "each moment of a step of leapfrog-blocks is a place");

  std::uint32_t number;

  /// `step` < most_steps counts from a base.
  constexpr PassId(std::int64_t step, Place place) : number{static_cast<std::uint32_t>(step) << place_bits | place} {}
  static constexpr std::int64_t step_of(std::uint32_t number) { return number >> place_bits; }
};

/// Reports of passes on a stream about bodies that are not finite. Steps count from a base, so that they fit a PassId.
class NonFiniteWatch {
 public:
  NonFiniteWatch(const cuda::Device& device, cudaStream_t stream)
      : stream_{stream}, d_first_{device, 1}, seen_{device, 1, /*pinned=*/true} {
    clear();
  }

  /// Forgets what was found. Call only while nothing is enqueued.
  void clear() {
    seen() = 0;
    found_.reset();
    ORRERY_CUDA_CHECK(cudaMemsetAsync(d_first_.data(), 0xff, sizeof(cuda::PackedFinding), stream_));
  }

  /// Returns whether passes up to that of `step` have numbers.
  bool reaches(std::int64_t step) const { return step - base_ < PassId::most_steps - 1; }
  /// Counts from `step` on. Call only while nothing is enqueued.
  void count_from(std::int64_t step) {
    if (!found()) base_ = step;
  }

  cuda::NonFiniteReport report() const { return {d_first_.data(), &seen()}; }
  /// Returns the number of the check of the state after `step`.
  std::uint32_t pass_after(std::int64_t step) const { return number(step, PassId::check); }
  /// Returns the check of the drift in `step` after `drifts` others. If the step has changed the bodies before, what
  /// the drift finds counts as found in this step, which is completed.
  cuda::NonFiniteCheck check_in(std::int64_t step, bool changed_before, int drifts = 0) const {
    const std::uint32_t here = number(step, PassId::drift(drifts));
    if (!changed_before)
      return {report(), number(step - 1, PassId::next_drift), number(step - 1, PassId::next_drift), here};
    return {report(), number(step, PassId::first_drift), here, here};
  }

  /// Returns the first non-finite body, as soon as a pass has reported it. Waits for the stream when it sees it for the
  /// first time.
  const std::optional<NonFinite>& found() {
    if (!found_ && *static_cast<volatile int*>(&seen()) != 0) {
      cuda::PackedFinding first;
      ORRERY_CUDA_CHECK(cudaMemcpyAsync(&first, d_first_.data(), sizeof first, cudaMemcpyDeviceToHost, stream_));
      ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream_));
      found_ = NonFinite{.step = base_ + PassId::step_of(first.pass()), .body = first.body()};
    }
    return found_;
  }

 private:
  std::uint32_t number(std::int64_t step, PassId::Place place) const { return PassId{step - base_, place}.number; }
  int& seen() const { return seen_.first(1).front(); }

  cudaStream_t stream_;
  cuda::DeviceArray<cuda::PackedFinding> d_first_;
  cuda::HostArray<int> seen_;  // written by the device
  std::int64_t base_ = 0;
  std::optional<NonFinite> found_;
};

}  // namespace orrery
