#pragma once

#include <cstddef>
#include <vector>

#include "compute/cuda/event.h"
#include "compute/devices/device_team.h"
#include "compute/kernels/device_load.h"

namespace orrery {

/// Times what the devices of a team do in an evaluation. Once the GPUs have ended it, reads its times, and times
/// another one. Nothing waits for that.
class PartTimes {
 public:
  explicit PartTimes(const DeviceTeam& team);

  /// Before an evaluation. Whether an earlier one was timed that has ended now: parts_ms() and loads() are its.
  bool begin();

  // The order of one device's marks on its stream; the device must be active. The results of the others' parts are
  // marked by the leader.
  enum Mark {
    begins,        ///< the leader: before it shares; others: what they get is ready
    shared,        ///< the leader alone: what it shares is ready
    part_begins,   ///< all have got what they need
    part_ends,     ///< the device's own part
    results_copy,  ///< of another device's part: the leader begins to copy them
    results_came,  ///< the leader has them
    ends,          ///< the leader: after it has joined all parts
    mark_count
  };
  void mark(std::size_t index, Mark mark, cudaStream_t stream) const {
    if (times_now_) marks_[index][mark].record(stream);
  }
  /// After an evaluation.
  void end() { in_flight_ |= times_now_; }
  /// After one that failed.
  void forget() { in_flight_ = false; }

  /// The devices' own parts, by device.
  const std::vector<double>& parts_ms() const { return parts_ms_; }
  /// By device; empty until an evaluation was timed.
  const std::vector<DeviceLoad>& loads() const { return loads_; }

 private:
  bool all_ended() const;
  void read();
  double between(std::size_t index, Mark first, Mark last) const {
    return cuda::elapsed_ms(marks_[index][first], marks_[index][last]);
  }

  const DeviceTeam& team_;
  std::vector<std::vector<cuda::Event>> marks_;  // by device and Mark
  std::vector<double> parts_ms_;
  std::vector<DeviceLoad> loads_;
  int untimed_ = 2;  // of the first evaluations, which load code
  bool times_now_ = false, in_flight_ = false;
};

}  // namespace orrery
