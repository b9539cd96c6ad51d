#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compute/cuda/event.h"
#include "compute/devices/device_team.h"
#include "compute/devices/part_sizes.h"

namespace orrery {

/// Times the parts of an evaluation, one after the other that the GPUs have ended, and hands the times to PartSizes.
/// Nothing waits for them.
class PartTimes {
 public:
  explicit PartTimes(const DeviceTeam& team) {
    for (std::size_t i = 0; i < team.size(); ++i)
      spans_.push_back({cuda::Event{team.device(i)}, cuda::Event{team.device(i)}});
  }

  /// Before an evaluation: hands over the times of the latest timed one, if all its parts have ended.
  void begin(PartSizes& sizes) {
    times_now_ = false;
    if (untimed_ > 0) {
      --untimed_;
      return;
    }
    if (in_flight_) {
      for (const Span& span : spans_) {
        if (!span.end.reached()) return;
      }
      std::vector<double> ms;
      for (const Span& span : spans_) ms.push_back(cuda::elapsed_ms(span.begin, span.end));
      sizes.learn(ms);
      in_flight_ = false;
    }
    times_now_ = true;
  }
  /// Around a part, whose device must be active.
  void part_begins(std::size_t index, cudaStream_t stream) const {
    if (times_now_) spans_[index].begin.record(stream);
  }
  void part_ends(std::size_t index, cudaStream_t stream) const {
    if (times_now_) spans_[index].end.record(stream);
  }
  /// After an evaluation.
  void end() { in_flight_ |= times_now_; }
  /// After one that failed.
  void forget() { in_flight_ = false; }

 private:
  struct Span {
    cuda::Event begin, end;
  };

  std::vector<Span> spans_;  // by device
  int untimed_ = 2;          // of the first evaluations, which load code
  bool times_now_ = false, in_flight_ = false;
};

}  // namespace orrery
