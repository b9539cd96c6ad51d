#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "compute/cuda/device.h"
#include "compute/devices/device_team.h"
#include "compute/devices/part_sizes.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Measures the times of a team's devices in an evaluation. When the GPUs have ended it, reads its times and measures
/// another one. Nothing waits for this.
class PartTimes {
 public:
  explicit PartTimes(const DeviceTeam& team);

  /// Call before an evaluation. Returns whether an earlier timed evaluation has ended: parts_ms() and loads() are then
  /// of that one.
  bool begin();

  using Mark = PartMark;
  using enum PartMark;
  /// Records the mark on a stream of its device, which must be active.
  void mark(std::size_t index, Mark mark, cudaStream_t stream) {
    if (!times_now_) return;
    exchanges_ |= mark == offered;
    gathers_ |= mark == results_copy;
    event(index, mark).record(stream);
  }
  /// Returns whether the current evaluation is timed.
  bool times_now() const { return times_now_; }
  /// Call after an evaluation.
  void end() { in_flight_ |= times_now_; }
  /// Discards pending times. Call after a failed evaluation, or when the bodies were replaced.
  void forget() { in_flight_ = false; }

  /// Returns the time of each device's own part in ms, without waiting and copies.
  const std::vector<double>& parts_ms() const { return parts_ms_; }
  /// Returns one entry per device; empty before the first timed evaluation.
  const std::vector<DeviceLoad>& loads() const { return loads_; }

 private:
  bool all_ended() const;
  double part_ms(std::size_t index) const;
  void read();
  /// Fills in the spans of all devices.
  void read_spans();
  /// Returns the times from the device's begin up to the end of its part.
  MarkTimes times_of(std::size_t index) const;
  cuda::Event& event(std::size_t index, Mark mark) { return marks_[index][static_cast<std::size_t>(mark)]; }
  const cuda::Event& event(std::size_t index, Mark mark) const { return marks_[index][static_cast<std::size_t>(mark)]; }
  double between(std::size_t index, Mark first, Mark last) const {
    return cuda::elapsed_ms(event(index, first), event(index, last));
  }

  const DeviceTeam& team_;
  std::vector<std::vector<cuda::Event>> marks_;  // by device and Mark
  std::vector<double> parts_ms_;
  std::vector<DeviceLoad> loads_;
  int untimed_ = 2;  // first evaluations, not timed because they load code
  bool times_now_ = false, in_flight_ = false;
  bool exchanges_ = false, gathers_ = false;  // what the timed evaluation does
};

}  // namespace orrery
