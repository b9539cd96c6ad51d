// Bodies that the devices of a divided kernel hold, each those of its part.
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "compute/cuda/profiler_range.h"
#include "compute/devices/divided_kernel.h"
#include "compute/devices/held_bodies.h"
#include "compute/devices/member_work.h"
#include "compute/devices/on_device.h"
#include "compute/devices/part_sizes.h"
#include "compute/kernels/parts/scratch.h"

namespace orrery {

bool DividedKernel::can_hold(int count) const {
  const MigrationFacet* const migration = members_.front().migration();
  return migration && team_.is_direct() && migration->can_hold(count, static_cast<int>(members_.size()));
}

void DividedKernel::for_all(cudaStream_t leading, const OnStream& work) {
  work(leader(), leading, 0);
  for_others([&](Member& member, std::size_t index) { work(member, member.stream.get(), index); });
}

void DividedKernel::for_all(const ForceArgs& args, const OnPart& work) {
  for_all(args.stream, [&](Member& member, cudaStream_t stream, std::size_t index) {
    ForceArgs own = args_for(args, stream);
    if (index == 0) {
      own.evaluated = args.evaluated;
      own.times_phases = args.times_phases;
      own.phase_marks = args.phase_marks;
    }
    work(member, own, index);
  });
}

/// The streams' devices need not be active.
void DividedKernel::meet(cudaStream_t leading) {
  for (Member& member : members_) {
    cudaStream_t const stream = &member == &leader() ? leading : member.stream.get();
    for (const Member& other : members_) {
      if (&other != &member) wait_on(stream, other.began);
    }
  }
}

/// Each device has those of an equal part at first.
void DividedKernel::take_residents(int count) {
  prepared_ = room_ = held_ = 0;
  times_.forget();
  parts_.forget_times();
  wait_for_all();
  const std::vector<Part> equal = PartSizes{static_cast<int>(members_.size())}.parts();
  for_all(nullptr, [&](Member& member, cudaStream_t, std::size_t index) {
    member.migration()->prepare_residence(count, static_cast<int>(index), equal);
  });
  connect_peers();
  room_ = count;
}

void DividedKernel::hold(const Vec4* d_positions, const Vec4* d_velocities, int count,
                         const cuda::PackedFinding* d_finding, CUstream_st* stream) {
  if (!can_hold(count)) throw std::logic_error("the devices cannot hold these bodies");
  take_residents(count);
  shared_.record(stream);
  int first = 0;
  for_all(stream, [&](Member& member, cudaStream_t own, std::size_t index) {
    const ResidentBodies bodies = member.migration()->held();
    if (index > 0) wait_on(own, shared_);
    copy_entries(d_positions + first, bodies.positions, bodies.count, own);
    copy_entries(d_velocities + first, bodies.velocities, bodies.count, own);
    copy_entries(d_finding, member.finding.data(), 1, own);
    number_bodies(bodies, first, own);
    first += bodies.count;
    member.began.record(own);
  });
  meet(stream);  // then the leader's bodies may change
  bodies_replaced();
  held_ = count;
}

void DividedKernel::require_residents() const {
  if (held_ == 0) throw std::logic_error("the devices hold no bodies");
}

void DividedKernel::kick_drift(const cuda::KickDrift& pass, const cuda::NonFiniteCheck& check, CUstream_st* stream) {
  require_residents();
  for_all(stream, [&](Member& member, cudaStream_t own, std::size_t) {
    cuda::NonFiniteCheck of_member = check;
    of_member.report.d_first = member.finding.data();
    kick_drift_held(member.device, member.migration()->held(), pass, of_member, own);
  });
}

/// All devices learn of the first finding, so that none moves its bodies on.
void DividedKernel::check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, CUstream_st* stream) {
  require_residents();
  for_all(stream, [&](Member& member, cudaStream_t own, std::size_t) {
    check_held(member.migration()->held(), {.d_first = member.finding.data(), .seen = report.seen}, pass, own);
    member.began.record(own);
  });
  meet(stream);
  for_all(stream, [&](Member& member, cudaStream_t own, std::size_t) {
    join_findings(findings(), {.d_first = member.finding.data()}, own);
  });
  join_findings({.of = {leader().finding.data()}, .devices = 1}, report, stream);
}

void DividedKernel::evaluate_residents(const ForceArgs& args) {
  try {
    evaluate_held(args);
  } catch (...) {
    held_ = 0;  // some may have moved
    wait_for_all();
    bodies_replaced();
    times_.forget();
    check_other_devices();
    throw;
  }
}

void DividedKernel::evaluate_held(const ForceArgs& args) {
  if (held_ != args.count) throw std::logic_error("the devices do not hold these bodies");
  check_other_devices();
  of_all_ = true;
  if (times_.begin() && learns_parts_) parts_.learn(times_.parts_ms());
  const std::vector<Part> parts = parts_.parts();
  migrate(args, parts);
  for_all(args, [&](Member& member, const ForceArgs& own, std::size_t index) {
    join_findings(findings(), {.d_first = member.finding.data()}, own.stream);
    begin_part(member, own, parts, index);
  });
  exchange(args, parts);
  for_all(args, [&](Member& member, const ForceArgs& own, std::size_t index) {
    evaluate_part(member, own, parts, index);
    if (index > 0) member.done.record(own.stream);
  });
  for (std::size_t i = 1; i < members_.size(); ++i) wait_on(args.stream, members_[i].done);
  leader().migration()->finish_residents(args);
  mark(0, PartTimes::ends, args.stream);
  parts_.evaluated(leader().division().keeps_parts(), times_.times_now());
  times_.end();
}

/// All streams wait for all, also if the bodies stay where they are.
void DividedKernel::migrate(const ForceArgs& args, std::span<const Part> parts) {
  const cuda::ProfilerRange range{"move bodies"};
  mark(0, PartTimes::begins, args.stream);
  mark(0, PartTimes::shared, args.stream);
  const int rounds = leader().migration()->begin_residents(args);
  for_all(args, [&](Member& member, const ForceArgs& own, std::size_t index) {
    if (index > 0) mark(index, PartTimes::begins, own.stream);
    member.migration()->divide(own, parts, rounds);
    if (rounds == 0) member.began.record(own.stream);
  });
  if (rounds == 0) meet(args.stream);
  for (int round = 0; round < rounds; ++round) {
    for_all(args, [&](Member& member, const ForceArgs& own, std::size_t) {
      member.migration()->round(round, own);
      member.began.record(own.stream);
    });
    meet(args.stream);
  }
}

void DividedKernel::collect(Vec4* d_positions, Vec4* d_velocities, CUstream_st* stream, Vec4* d_accelerations) {
  require_residents();
  shared_.record(stream);
  for_all(stream, [&](Member& member, cudaStream_t own, std::size_t index) {
    if (index > 0) wait_on(own, shared_);
    collect_bodies(member.migration()->held(), d_positions, d_velocities, d_accelerations, own);
  });
  wait_for_others(stream);
}

void DividedKernel::read_owners_of_held(CUstream_st* stream) {
  take_scratch(leader().device, owners_of_held_, static_cast<std::size_t>(held_), "the bodies' devices",
               "fewer bodies");
  shared_.record(stream);
  for_all(stream, [&](Member& member, cudaStream_t own, std::size_t index) {
    if (index > 0) wait_on(own, shared_);
    name_owner(member.migration()->held(), static_cast<int>(index), owners_of_held_.data(), own);
  });
  wait_for_others(stream);
  owners_.read(owners_of_held_.data(), held_, stream);
}

void DividedKernel::wait_for_others(cudaStream_t leading) {
  for_others([&](Member& member, std::size_t) {
    member.done.record(member.stream.get());
    wait_on(leading, member.done);
  });
}

OnAll<const cuda::PackedFinding> DividedKernel::findings() const {
  OnAll<const cuda::PackedFinding> all{.of = {}, .devices = static_cast<int>(members_.size())};
  for (std::size_t i = 0; i < members_.size(); ++i) all.of[i] = members_[i].finding.data();
  return all;
}

}  // namespace orrery
