#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "compute/cuda/stream.h"
#include "compute/devices/device_team.h"
#include "compute/devices/part_sizes.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Times what the devices of a team do in an evaluation. Once the GPUs have ended it, reads its times, and times
/// another one. Nothing waits for that.
class PartTimes {
 public:
  explicit PartTimes(const DeviceTeam& team);

  /// Before an evaluation. Whether an earlier one was timed that has ended now: parts_ms() and loads() are its.
  bool begin();

  using Mark = PartMark;
  using enum PartMark;
  /// On the stream of the mark's device, which must be active.
  void mark(std::size_t index, Mark mark, cudaStream_t stream) {
    if (!times_now_) return;
    exchanges_ |= mark == offered;
    gathers_ |= mark == results_copy;
    event(index, mark).record(stream);
  }
  /// Whether the present evaluation is timed.
  bool times_now() const { return times_now_; }
  /// After an evaluation.
  void end() { in_flight_ |= times_now_; }
  /// After one that failed, or for other bodies.
  void forget() { in_flight_ = false; }

  /// The devices' own parts, by device, without waiting and copies.
  const std::vector<double>& parts_ms() const { return parts_ms_; }
  /// By device; empty until an evaluation was timed.
  const std::vector<DeviceLoad>& loads() const { return loads_; }

 private:
  bool all_ended() const;
  double part_ms(std::size_t index) const;
  void read();
  /// The spans of all devices.
  void read_spans();
  /// Until the end of a device's part, since it began.
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
  int untimed_ = 2;  // of the first evaluations, which load code
  bool times_now_ = false, in_flight_ = false;
  bool exchanges_ = false, gathers_ = false;  // the evaluation that was timed
};

}  // namespace orrery
