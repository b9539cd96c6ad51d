#include "compute/devices/divided_kernel.h"

#include <cstddef>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/profiler_range.h"
#include "compute/devices/device_team.h"
#include "compute/devices/held_bodies.h"
#include "compute/devices/part_sizes.h"

namespace orrery {

DividedKernel::Member::Member(const cuda::Device& of, const KernelInfo& info, const Settings& settings)
    : device{of}, kernel{info.make(settings, &of)}, stream{of}, began{of}, done{of}, finding{of, 1} {
  if (!info.divides) by_targets = std::make_unique<TargetDivision>(*kernel, info.reads_low_words, device);
}

DividedKernel::DividedKernel(const DeviceTeam& team, const KernelInfo& kernel, const Settings& settings)
    : team_{team},
      shared_{*team.leader()},
      parts_{static_cast<int>(team.size())},
      times_{team},
      owners_{*team.leader()},
      // The work of a tree depends on where bodies are; a direct sum has the same work for all bodies.
      learns_parts_{kernel.is_tree} {
  members_.reserve(team.size());
  members_.emplace_back(team.device(0), kernel, settings);
  for (std::size_t i = 1; i < team.size(); ++i) {
    on_device(team.device(i), [&] { members_.emplace_back(team.device(i), kernel, settings); });
  }
  leader().device.activate();
}

/// Waits, so that no kernel's memory is freed while another device uses it.
DividedKernel::~DividedKernel() {
  wait_for_all();
}

void DividedKernel::wait_for_all() const noexcept {
  for (std::size_t i = members_.size(); i-- > 0;) {  // ends with the leader, which stays active
    ORRERY_CUDA_WARN(cudaSetDevice(members_[i].device.ordinal()));
    ORRERY_CUDA_WARN(cudaDeviceSynchronize());
  }
}

void DividedKernel::for_others(const std::function<void(Member& member, std::size_t index)>& work) {
  const ActiveAfterwards leads{leader().device};
  for (std::size_t i = 1; i < members_.size(); ++i) {
    on_device(members_[i].device, [&] { work(members_[i], i); });
  }
}

/// Prefers that the devices hold the bodies, which serves steps. An evaluation that hands them out allocates on demand.
void DividedKernel::prepare(int count) {
  if (count == prepared_ || count == room_) return;
  if (can_hold(count)) {
    try {
      return take_residents(count);
    } catch (const UsageError&) {
      // take_division() may need less memory.
    }
  }
  take_division(count);
}

void DividedKernel::take_division(int count) {
  prepared_ = room_ = held_ = 0;  // until every device is prepared
  times_.forget();
  parts_.forget_times();
  wait_for_all();
  owners_of_held_ = {};
  const auto devices = static_cast<int>(members_.size());
  leader().division().prepare_division(count, 0, devices);
  for_others([&](Member& member, std::size_t index) {
    member.division().prepare_division(count, static_cast<int>(index), devices);
  });
  connect_peers();
  prepared_ = count;
}

void DividedKernel::connect_peers() {
  if (!sends()) return;
  std::vector<PeerFacet*> all;
  for (const Member& member : members_) all.push_back(member.peer());
  for (PeerFacet* const each : all) each->connect(all);
}

void DividedKernel::bodies_replaced() {
  for (Member& member : members_) member.kernel->bodies_replaced();
  owners_.forget();
}

/// Without this check, the results of a device that failed would just be missing.
void DividedKernel::check_other_devices() {
  for_others([](Member& member, std::size_t) { (void)member.done.reached(); });
}

std::string DividedKernel::chosen(int count, const MassRange& masses) const {
  const std::string own = members_.front().kernel->chosen(count, masses);
  return own + (own.empty() ? "" : ", ") + team_.words();
}

std::optional<BodyOwners> DividedKernel::owners(int count) const {
  const Member& first = members_.front();
  BodyOwners owners;
  if (!why_no_owners_.empty()) return BodyOwners{.why_unknown = why_no_owners_};
  if (first.by_targets) {
    owners.of_body = parts_.owners(count);
  } else if (!first.kernel->tree()) {
    return BodyOwners{.why_unknown = "the devices divide the pairs, not the bodies"};
  } else if (std::optional<std::vector<int>> read = owners_.owners(count)) {
    owners.of_body = std::move(*read);
  } else {
    return std::nullopt;
  }
  for (const Member& member : members_) owners.names.push_back("device " + std::to_string(member.device.ordinal()));
  return owners;
}

/// Does not throw UsageError, as the batch's steps are already enqueued. If memory is short, the owners are unknown.
void DividedKernel::read_owners(int count, CUstream_st* stream) {
  try {
    why_no_owners_.clear();
    if (held_ == count) return read_owners_of_held(stream);
    if (prepared_ != count) return;
    if (const int* const owners = leader().division().find_owners(count, stream)) owners_.read(owners, count, stream);
  } catch (const UsageError& lack) {
    why_no_owners_ = lack.what();
  }
}

void DividedKernel::do_evaluate(const ForceArgs& args) {
  if (args.count != prepared_) take_division(args.count);
  try {
    evaluate_parts(args);
  } catch (...) {
    bodies_replaced();  // some devices may have kept data that others have not
    prepared_ = 0;      // the next evaluation waits for all devices and rebuilds their layouts
    times_.forget();
    check_other_devices();  // the leader may have met another device's failure
    throw;
  }
}

void DividedKernel::mark(std::size_t index, PartTimes::Mark what, cudaStream_t stream) {
  if (of_all_) times_.mark(index, what, stream);
}

void DividedKernel::evaluate_parts(const ForceArgs& args) {
  check_other_devices();
  of_all_ = !args.targets;  // times of few targets tell nothing about the work of all bodies
  const bool knows_times = of_all_ && times_.begin();
  if (knows_times && learns_parts_ && !leader().division().works_alone()) parts_.learn(times_.parts_ms());
  const std::vector<Part> parts = parts_.parts();
  hand_out(args, parts);
  begin_part(leader(), args, parts, 0);
  for_others([&](Member& member, std::size_t index) {
    begin_part(member, args_for(args, member.stream.get()), parts, index);
  });
  if (leader().division().exchanges()) exchange(args, parts);
  for_others([&](Member& member, std::size_t index) {
    evaluate_part(member, args_for(args, member.stream.get()), parts, index);
    member.done.record(member.stream.get());
  });
  evaluate_part(leader(), args, parts, 0);
  gather_results(args, parts);
  parts_.evaluated(leader().division().keeps_parts(), of_all_ && times_.times_now());
  if (of_all_) times_.end();
}

void DividedKernel::hand_out(const ForceArgs& args, std::span<const Part> parts) {
  const cuda::ProfilerRange range{"hand out"};
  DivisionFacet& division = leader().division();
  mark(0, PartTimes::begins, args.stream);
  const Blocks for_all = division.share_out(args, parts);
  std::vector<Blocks> for_one(members_.size());
  for (std::size_t i = 1; i < members_.size(); ++i) for_one[i] = division.share_of(args, parts[i]);
  shared_.record(args.stream);
  mark(0, PartTimes::shared, args.stream);
  std::vector<Broadcast::End> ends{{.blocks = for_all, .stream = args.stream}};
  for_others([&](Member& member, std::size_t index) {
    cudaStream_t const stream = member.stream.get();
    wait_on(stream, shared_);
    mark(index, PartTimes::begins, stream);
    Blocks shared = for_all;
    shared.insert(shared.end(), for_one[index].begin(), for_one[index].end());
    Blocks places = member.division().receive(args_for(args, stream), parts, shared);
    const auto own = std::span{places}.subspan(for_all.size());
    copy_blocks(for_one[index], leader().device, own, member.device, stream);
    places.resize(for_all.size());
    ends.push_back({.blocks = std::move(places), .stream = stream});
  });
  team_.broadcast().send(ends);
}

void DividedKernel::begin_part(Member& member, const ForceArgs& args, std::span<const Part> parts, std::size_t index) {
  const cuda::ProfilerRange range{"begin a part"};
  mark(index, PartTimes::part_begins, args.stream);
  member.division().begin_part(args, parts[index]);
  member.began.record(args.stream);
  if (leader().division().exchanges()) mark(index, PartTimes::offered, args.stream);
}

void DividedKernel::exchange(const ForceArgs& args, std::span<const Part> parts) {
  const cuda::ProfilerRange range{"exchange cells"};
  meet(args.stream);
  for_all(args.stream, [&](Member& member, cudaStream_t stream, std::size_t index) {
    mark(index, PartTimes::all_offered, stream);
    if (!sends()) return take_offers(member, args_for(args, stream), parts, index);
    member.peer()->send(stream);
    member.began.record(stream);
  });
  if (sends()) meet(args.stream);
}

void DividedKernel::take_offers(Member& member, const ForceArgs& args, std::span<const Part> parts, std::size_t index) {
  for (std::size_t after = 1; after < members_.size(); ++after) {
    const std::size_t i = (index + after) % members_.size();  // each device begins with another neighbour
    const Member& other = members_[i];
    copy_blocks(other.division().offer(args, parts[i]), other.device, member.division().places_of_offer(args, parts[i]),
                member.device, args.stream);
  }
}

void DividedKernel::evaluate_part(Member& member, const ForceArgs& args, std::span<const Part> parts,
                                  std::size_t index) {
  const cuda::ProfilerRange range{"evaluate a part"};
  if (leader().division().exchanges()) mark(index, PartTimes::all_came, args.stream);
  member.division().evaluate_part(args, parts[index]);
  mark(index, PartTimes::part_ends, args.stream);
}

void DividedKernel::gather_results(const ForceArgs& args, std::span<const Part> parts) {
  const cuda::ProfilerRange range{"gather results"};
  DivisionFacet& division = leader().division();
  for (std::size_t i = 1; i < members_.size(); ++i) {
    const Member& member = members_[i];
    const Blocks results = member.division().results(args_for(args, member.stream.get()), parts[i]);
    const Blocks places = division.places(args, parts[i]);
    wait_on(args.stream, member.done);
    mark(i, PartTimes::results_copy, args.stream);
    copy_blocks(results, member.device, places, leader().device, args.stream);
    mark(i, PartTimes::results_came, args.stream);
  }
  division.join(args, parts);
  mark(0, PartTimes::ends, args.stream);
}

/// The other devices' memory is unchanged until the leader's next evaluation, which follows on its stream.
void DividedKernel::pick_cells(const CellRequest& request, CUstream_st* stream) {
  if (prepared_ == 0) return leader().kernel->tree()->pick_cells({}, stream);  // without a tree, no cells are shown
  for (std::size_t i = 1; i < members_.size(); ++i) {
    const auto index = static_cast<int>(i);
    copy_blocks(members_[i].division().cells(index), members_[i].device, leader().division().places_of_cells(index),
                leader().device, stream);
  }
  leader().kernel->tree()->pick_cells(request, stream);
}

// Bodies that the devices of a divided kernel hold, each the bodies of its part:

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

/// Prepares each device for an equal part.
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
  meet(stream);  // after this, the leader's bodies may change
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

/// Tells all devices the first finding, so that none of them moves its bodies further.
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
    held_ = 0;  // some devices may have moved bodies
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

/// Makes all streams wait for each other, even if no bodies move.
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
