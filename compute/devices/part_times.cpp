#include "compute/devices/part_times.h"

#include <algorithm>

namespace orrery {

PartTimes::PartTimes(const DeviceTeam& team) : team_{team} {
  for (std::size_t i = 0; i < team.size(); ++i) {
    std::vector<cuda::Event>& marks = marks_.emplace_back();
    for (int mark = 0; mark < static_cast<int>(Mark::count); ++mark) {
      const bool by_leader = mark >= static_cast<int>(results_copy);
      marks.emplace_back(by_leader ? *team.leader() : team.device(i));
    }
  }
}

bool PartTimes::begin() {
  times_now_ = false;
  if (untimed_ > 0) {
    --untimed_;
    return false;
  }
  const bool reads = in_flight_;
  if (reads) {
    if (!all_ended()) return false;
    read();
    in_flight_ = false;
  }
  times_now_ = true;
  exchanges_ = gathers_ = false;
  return reads;
}

/// The leader's last mark follows all others.
bool PartTimes::all_ended() const {
  return event(0, ends).reached();
}

double PartTimes::part_ms(std::size_t index) const {
  if (!exchanges_) return between(index, part_begins, part_ends);
  return between(index, part_begins, offered) + between(index, all_came, part_ends);
}

void PartTimes::read() {
  const double whole_ms = between(0, begins, ends);
  parts_ms_.clear();
  loads_.clear();
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    parts_ms_.push_back(part_ms(i));
    loads_.push_back({.device = team_.device(i).ordinal(), .work_ms = parts_ms_.back()});
  }
  DeviceLoad& leader = loads_.front();
  leader.work_ms += between(0, begins, shared);
  leader.copy_ms = between(0, shared, part_begins);
  for (std::size_t i = 1; i < marks_.size(); ++i) {
    const double back_ms = gathers_ ? between(i, results_copy, results_came) : 0;
    leader.copy_ms += back_ms;
    loads_[i].copy_ms = between(i, begins, part_begins) + back_ms;
  }
  const std::size_t last = marks_.size() - 1;
  if (gathers_) leader.work_ms += cuda::elapsed_ms(event(last, results_came), event(0, ends));
  if (exchanges_) {
    for (std::size_t i = 0; i < marks_.size(); ++i) loads_[i].copy_ms += between(i, all_offered, all_came);
  }
  for (DeviceLoad& load : loads_) load.wait_ms = std::max(whole_ms - load.work_ms - load.copy_ms, 0.0);
  read_spans();
}

MarkTimes PartTimes::times_of(std::size_t index) const {
  MarkTimes times;
  const auto note = [&](Mark mark) { times[mark] = between(index, begins, mark); };
  if (index == 0) note(shared);
  note(part_begins);
  if (exchanges_) {
    for (const Mark mark : {offered, all_offered, all_came}) note(mark);
  }
  note(part_ends);
  return times;
}

void PartTimes::read_spans() {
  const MarkTimes leader = times_of(0);
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const MarkTimes own = i == 0 ? leader : times_of(i);
    loads_[i].spans = spans_of(own, i == 0, exchanges_, i == 0 ? 0 : begin_after(leader, own, exchanges_));
    if (i == 0 || !gathers_) continue;
    const auto by_leader = [&](Mark mark) { return cuda::elapsed_ms(event(0, begins), event(i, mark)); };
    loads_.front().spans.push_back({"results", true, by_leader(results_copy), by_leader(results_came)});
  }
}

}  // namespace orrery
