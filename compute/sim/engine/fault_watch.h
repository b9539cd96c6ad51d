#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "compute/cuda/device_array.h"
#include "compute/cuda/host_array.h"
#include "compute/integrators/update_cuda.h"
#include "compute/sim/engine/results.h"

namespace orrery {

/// What passes on a stream told of bodies that are not finite, and how their numbers stand for steps. A step s has the
/// passes 4 s (its drift) and 4 s + 1 (the look at the state after it); what the drift of step s + 1 finds in that
/// state counts as pass 4 s + 2. Here s counts from a base, so that it fits.
class FaultWatch {
 public:
  FaultWatch(const cuda::Device& device, cudaStream_t stream)
      : stream_{stream}, d_first_{device, 1}, seen_{device, 1, /*pinned=*/true} {
    clear();
  }

  /// Forgets what was found. Call only while nothing is enqueued.
  void clear() {
    seen() = 0;
    fault_.reset();
    ORRERY_CUDA_CHECK(cudaMemsetAsync(d_first_.data(), 0xff, sizeof(unsigned long long), stream_));
  }

  /// Whether passes up to that of `step` have numbers.
  bool reaches(std::int64_t step) const { return step - base_ < std::numeric_limits<std::uint32_t>::max() / 4; }
  /// Counts from `step` on. Call only while nothing is enqueued.
  void count_from(std::int64_t step) {
    if (!found()) base_ = step;
  }

  cuda::FaultReport report() const { return {d_first_.data(), &seen()}; }
  /// The look at the state after `step`.
  std::uint32_t pass_after(std::int64_t step) const { return number(step) + 1; }
  /// The drift in `step`: what it finds counts as that step's where the step has changed the bodies before.
  cuda::FaultCheck check_in(std::int64_t step, bool changed_before) const {
    return {report(), changed_before ? number(step) : number(step - 1) + 2, number(step)};
  }

  /// The fault, as soon as a pass has told of it. Waits for the stream when it sees it for the first time.
  const std::optional<Fault>& found() {
    if (!fault_ && *static_cast<volatile int*>(&seen()) != 0) {
      unsigned long long first = cuda::FaultReport::none;
      ORRERY_CUDA_CHECK(cudaMemcpyAsync(&first, d_first_.data(), sizeof first, cudaMemcpyDeviceToHost, stream_));
      ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream_));
      fault_ = Fault{.step = base_ + static_cast<std::int64_t>(first >> 34),
                     .body = static_cast<int>(first & std::numeric_limits<std::uint32_t>::max())};
    }
    return fault_;
  }

 private:
  std::uint32_t number(std::int64_t step) const { return static_cast<std::uint32_t>(step - base_) * 4; }
  int& seen() const { return seen_.first(1).front(); }

  cudaStream_t stream_;
  cuda::DeviceArray<unsigned long long> d_first_;
  cuda::HostArray<int> seen_;  // written by the device
  std::int64_t base_ = 0;
  std::optional<Fault> fault_;
};

}  // namespace orrery
