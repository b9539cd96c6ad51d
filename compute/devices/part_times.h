#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "compute/cuda/stream.h"
#include "compute/devices/device_team.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// The order of one device's marks in an evaluation, on its stream. The results of the others' parts are marked by the
/// leader.
enum class PartMark {
  begins,        ///< the leader: before it shares; others: what they get is ready
  shared,        ///< the leader alone: what it shares is ready
  part_begins,   ///< they have got what they need to begin
  offered,       ///< of devices that exchange something: what this one offers is ready
  all_offered,   ///< likewise: what the others offer is ready
  all_came,      ///< likewise: it is here
  part_ends,     ///< the device's own part
  results_copy,  ///< of another device's part, if the leader gets results: it begins to copy them
  results_came,  ///< the leader has them
  ends,          ///< the leader: after it has joined all parts
  count
};

/// A time in ms for each mark; those of marks that the evaluation does not have mean nothing.
struct MarkTimes {
  std::array<double, static_cast<std::size_t>(PartMark::count)> ms{};

  double& operator[](PartMark mark) { return ms[static_cast<std::size_t>(mark)]; }
  double operator[](PartMark mark) const { return ms[static_cast<std::size_t>(mark)]; }
};

/// When a device begins, since the leader began. Both devices' times count from their own begin. Devices that exchange
/// something meet at `all_offered`; others begin when the leader has shared.
double begin_after(const MarkTimes& leader, const MarkTimes& device, bool exchanges);

/// What a device did up to the end of its part. `times` count from its own begin, `begin_ms` is that, see
/// begin_after().
std::vector<DeviceSpan> spans_of(const MarkTimes& times, bool leads, bool exchanges, double begin_ms);

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
