#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/devices/device_team.h"
#include "compute/devices/load_balance.h"
#include "compute/devices/resident_bodies.h"
#include "compute/devices/target_partition.h"
#include "compute/kernels/division.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/shared_facets.h"

namespace orrery {
namespace {

/// Measures the times of a team's devices by CUDA events. Times one evaluation, reads the events when the devices have
/// reached them, then times another evaluation. Neither host nor devices wait for that.
class PartTimes {
 public:
  explicit PartTimes(const DeviceTeam& team) : team_{team} {
    for (std::size_t i = 0; i < team.size(); ++i) {
      std::vector<cuda::Event>& marks = marks_.emplace_back();
      for (int mark = 0; mark < static_cast<int>(Mark::count); ++mark) {
        const bool by_leader = mark >= static_cast<int>(results_copy);
        marks.emplace_back(by_leader ? *team.leader() : team.device(i));
      }
    }
  }

  /// Call before an evaluation. Returns whether an earlier timed evaluation has ended; parts_ms() and loads() then have
  /// the times of that one.
  bool begin() {
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

  using Mark = PartMark;
  using enum PartMark;
  /// Records an event for `mark` on a stream of the device. The device must be active.
  void mark(std::size_t index, Mark mark, cudaStream_t stream) {
    if (!times_now_) return;
    exchanges_ |= mark == offered;
    gathers_ |= mark == results_copy;
    event(index, mark).record(stream);
  }
  /// Returns whether the current evaluation is timed.
  bool times_now() const { return times_now_; }
  /// Ends an evaluation whose work is enqueued. Call after each evaluation.
  void end() { in_flight_ |= times_now_; }
  /// Discards times that are not read yet. Call after a failed evaluation, or after the bodies were replaced.
  void forget() { in_flight_ = false; }

  /// Returns the time in ms that each device spent on its part, without waiting and copies.
  const std::vector<double>& parts_ms() const { return parts_ms_; }
  /// Returns the times of all devices; empty until the first timed evaluation has ended.
  const std::vector<DeviceLoad>& loads() const { return loads_; }

 private:
  /// Returns whether all events were reached. The leader's last one follows all others.
  bool all_ended() const { return event(0, ends).reached(); }
  double part_ms(std::size_t index) const {
    if (!exchanges_) return between(index, part_begins, part_ends);
    return between(index, part_begins, offered) + between(index, all_came, part_ends);
  }
  void read() {
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

  /// Fills in the spans of all devices.
  void read_spans() {
    const MarkTimes leader = times_of(0);
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      const MarkTimes own = i == 0 ? leader : times_of(i);
      loads_[i].spans = spans_of(own, i == 0, exchanges_, i == 0 ? 0 : begin_after(leader, own, exchanges_));
      if (i == 0 || !gathers_) continue;
      const auto by_leader = [&](Mark mark) { return cuda::elapsed_ms(event(0, begins), event(i, mark)); };
      loads_.front().spans.push_back({"results", true, by_leader(results_copy), by_leader(results_came)});
    }
  }

  /// Returns the times of a device's marks until its part ends, in ms since its `begins`.
  MarkTimes times_of(std::size_t index) const {
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

  cuda::Event& event(std::size_t index, Mark mark) { return marks_[index][static_cast<std::size_t>(mark)]; }
  const cuda::Event& event(std::size_t index, Mark mark) const { return marks_[index][static_cast<std::size_t>(mark)]; }
  double between(std::size_t index, Mark first, Mark last) const {
    return cuda::elapsed_ms(event(index, first), event(index, last));
  }

  const DeviceTeam& team_;
  std::vector<std::vector<cuda::Event>> marks_;  // one event per device and mark
  std::vector<double> parts_ms_;
  std::vector<DeviceLoad> loads_;
  int untimed_ = 2;  // number of evaluations that are not timed yet, since they load code
  bool times_now_ = false, in_flight_ = false;
  bool exchanges_ = false, gathers_ = false;  // properties of the timed evaluation
};

/// Kernel whose evaluations the devices of a team share, see multi_device_kernel(). Streams wait for each other; the
/// host does not wait.
class MultiDeviceKernel final : public ForceKernel, public OwnersFacet, public ResidentFacet, private TreeFacet {
 public:
  MultiDeviceKernel(const DeviceTeam& team, const KernelInfo& kernel, const Settings& settings)
      : team_{team},
        inputs_ready_{*team.leader()},
        parts_{static_cast<int>(team.size())},
        times_{team},
        owners_{*team.leader()},
        // In a tree, the work per body depends on its position; in direct summation it does not.
        learns_parts_{kernel.is_tree} {
    members_.reserve(team.size());
    members_.emplace_back(team.device(0), kernel, settings);
    for (std::size_t i = 1; i < team.size(); ++i) {
      on_device(team.device(i), [&] { members_.emplace_back(team.device(i), kernel, settings); });
    }
    leader().device.activate();
  }

  /// Blocks until all devices have finished, so that no memory is freed while another device uses it.
  ~MultiDeviceKernel() override { wait_for_all(); }

  /// Allocates memory for resident bodies if it can, because steps use them. Evaluations of copied bodies allocate on
  /// demand.
  void prepare(int count) override {
    if (count == prepared_ || count == room_) return;
    if (can_hold(count)) {
      try {
        return allocate_residents(count);
      } catch (const UsageError&) {
        // copied bodies may need less memory
      }
    }
    allocate_inputs(count);
  }

  void bodies_replaced() override {
    for (Member& member : members_) member.kernel->bodies_replaced();
    owners_.forget();
  }
  /// Throws the errors of other devices. Without this, the results of a failed device would be missing unnoticed.
  void check_other_devices() override {
    for_others([](Member& member, std::size_t) { (void)member.done.reached(); });
  }
  TreeFacet* tree() override { return leader().kernel->tree() ? this : nullptr; }
  std::string chosen(int count, const MassRange& masses) const override {
    const std::string own = members_.front().kernel->chosen(count, masses);
    return own + (own.empty() ? "" : ", ") + team_.words();
  }
  std::vector<DeviceLoad> device_loads() const override { return times_.loads(); }
  std::optional<BodyOwners> owners(int count) const override {
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

  /// Must not throw UsageError, since the steps of the batch are already enqueued. If memory is short, owners() reports
  /// that the owners are unknown.
  void read_owners(int count, CUstream_st* stream) override {
    try {
      why_no_owners_.clear();
      if (held_ == count) return read_owners_of_residents(stream);
      if (prepared_ != count) return;
      if (const int* const owners = leader().partition().find_owners(count, stream))
        owners_.read(owners, count, stream);
    } catch (const UsageError& lack) {
      why_no_owners_ = lack.what();
    }
  }

  MainLaunch main_launch(const Law& law, int count, const MassRange& masses) const override {
    return members_.front().kernel->main_launch(law, count, masses);
  }

  // Bodies that the devices hold (ResidentFacet):
  bool can_hold(int count) const override {
    const MigrationFacet* const migration = members_.front().migration();
    return migration && team_.is_direct() && migration->can_hold(count, static_cast<int>(members_.size()));
  }
  bool has_room(int count) const override { return room_ == count && can_hold(count); }
  void hold(const Vec4* d_positions, const Vec4* d_velocities, int count, const cuda::PackedFinding* d_finding,
            CUstream_st* stream) override {
    if (!can_hold(count)) throw std::logic_error("these bodies cannot be resident on the devices");
    allocate_residents(count);
    inputs_ready_.record(stream);
    int first = 0;
    for_all(stream, [&](Member& member, cudaStream_t own, std::size_t index) {
      const ResidentBodies bodies = member.migration()->residents();
      if (index > 0) wait_on(own, inputs_ready_);
      copy_entries(d_positions + first, bodies.positions, bodies.count, own);
      copy_entries(d_velocities + first, bodies.velocities, bodies.count, own);
      copy_entries(d_finding, member.finding.data(), 1, own);
      set_ids(bodies, first, own);
      first += bodies.count;
      member.began.record(own);
    });
    barrier(stream);  // afterwards, the caller may change its own copy
    bodies_replaced();
    held_ = count;
  }

  void kick_drift(const cuda::KickDrift& pass, const cuda::NonFiniteCheck& check, CUstream_st* stream) override {
    require_residents();
    for_all(stream, [&](Member& member, cudaStream_t own, std::size_t) {
      cuda::NonFiniteCheck of_member = check;
      of_member.report.d_first = member.finding.data();
      kick_drift_residents(member.device, member.migration()->residents(), pass, of_member, own);
    });
  }

  /// Reduces the findings of all devices to the earliest one, on every device, so that every device freezes its bodies.
  void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, CUstream_st* stream) override {
    require_residents();
    for_all(stream, [&](Member& member, cudaStream_t own, std::size_t) {
      check_residents(member.migration()->residents(), {.d_first = member.finding.data(), .seen = report.seen}, pass,
                      own);
      member.began.record(own);
    });
    barrier(stream);
    for_all(stream, [&](Member& member, cudaStream_t own, std::size_t) {
      reduce_findings(findings(), {.d_first = member.finding.data()}, own);
    });
    reduce_findings({.of = {leader().finding.data()}, .devices = 1}, report, stream);
  }

  void evaluate_residents(const ForceArgs& args) override {
    try {
      evaluate_all_residents(args);
    } catch (...) {
      held_ = 0;  // some bodies may have migrated already
      wait_for_all();
      bodies_replaced();
      times_.forget();
      check_other_devices();
      throw;
    }
  }

  void collect(Vec4* d_positions, Vec4* d_velocities, CUstream_st* stream, Vec4* d_accelerations) override {
    require_residents();
    inputs_ready_.record(stream);
    for_all(stream, [&](Member& member, cudaStream_t own, std::size_t index) {
      if (index > 0) wait_on(own, inputs_ready_);
      gather_bodies(member.migration()->residents(), d_positions, d_velocities, d_accelerations, own);
    });
    wait_for_others(stream);
  }

 protected:
  void do_evaluate(const ForceArgs& args) override {
    if (args.count != prepared_) allocate_inputs(args.count);
    try {
      evaluate_parts(args);
    } catch (...) {
      bodies_replaced();  // the devices may have cached different data
      prepared_ = 0;      // the next evaluation waits for all devices and allocates again
      times_.forget();
      check_other_devices();  // the cause may be in another device
      throw;
    }
  }

 private:
  /// One device, and the kernel that runs on it.
  struct Member {
    Member(const cuda::Device& of, const KernelInfo& info, const Settings& settings);

    const cuda::Device& device;
    std::unique_ptr<ForceKernel> kernel;
    std::unique_ptr<TargetPartition> by_targets;  // null: the kernel implements PartitionFacet
    PartitionFacet& partition() const { return by_targets ? *by_targets : *kernel->partition(); }
    /// Returns null if the device cannot hold bodies with this kernel.
    MigrationFacet* migration() const { return dynamic_cast<MigrationFacet*>(&partition()); }
    /// Returns null if the kernel does not write to the memory of other devices.
    PeerFacet* peer() const { return dynamic_cast<PeerFacet*>(&partition()); }
    cuda::Stream stream;                             // unused by the leader
    cuda::OrderEvent began;                          // recorded after begin_part(), or after a round of the migration
    cuda::OrderEvent done;                           // recorded after the device's part
    cuda::DeviceArray<cuda::PackedFinding> finding;  // earliest non-finite body
  };
  using Blocks = PartitionFacet::Blocks;

  Member& leader() { return members_.front(); }
  /// Calls `work` for every device except the leader, with that device active. Afterwards, the leader is active. Errors
  /// name the device.
  void for_others(const std::function<void(Member& member, std::size_t index)>& work) {
    const ActiveAfterwards leads{leader().device};
    for (std::size_t i = 1; i < members_.size(); ++i) {
      on_device(members_[i].device, [&] { work(members_[i], i); });
    }
  }
  void evaluate_parts(const ForceArgs& args) {
    check_other_devices();
    of_all_ = !args.targets;  // the times of listed targets are no measure for all bodies
    const bool knows_times = of_all_ && times_.begin();
    if (knows_times && learns_parts_ && !leader().partition().works_alone()) parts_.learn(times_.parts_ms());
    const std::vector<Part> parts = parts_.parts();
    distribute_inputs(args, parts);
    begin_part(leader(), args, parts, 0);
    for_others([&](Member& member, std::size_t index) {
      begin_part(member, args_for(args, member.stream.get()), parts, index);
    });
    if (leader().partition().exchanges()) exchange(args, parts);
    for_others([&](Member& member, std::size_t index) {
      evaluate_part(member, args_for(args, member.stream.get()), parts, index);
      member.done.record(member.stream.get());
    });
    evaluate_part(leader(), args, parts, 0);
    gather_results(args, parts);
    parts_.evaluated(leader().partition().keeps_parts(), of_all_ && times_.times_now());
    if (of_all_) times_.end();
  }

  /// Sends the inputs that the leader has prepared to the other devices.
  void distribute_inputs(const ForceArgs& args, std::span<const Part> parts) {
    const ProfilerRange range{"hand out"};
    PartitionFacet& division = leader().partition();
    mark(0, PartTimes::begins, args.stream);
    const Blocks for_all = division.prepare_inputs(args, parts);
    std::vector<Blocks> for_one(members_.size());
    for (std::size_t i = 1; i < members_.size(); ++i) for_one[i] = division.input_of(args, parts[i]);
    inputs_ready_.record(args.stream);
    mark(0, PartTimes::shared, args.stream);
    std::vector<Broadcast::End> ends{{.blocks = for_all, .stream = args.stream}};
    for_others([&](Member& member, std::size_t index) {
      cudaStream_t const stream = member.stream.get();
      wait_on(stream, inputs_ready_);
      mark(index, PartTimes::begins, stream);
      Blocks shared = for_all;
      shared.insert(shared.end(), for_one[index].begin(), for_one[index].end());
      Blocks places = member.partition().receive(args_for(args, stream), parts, shared);
      const auto own = std::span{places}.subspan(for_all.size());
      copy_blocks(for_one[index], leader().device, own, member.device, stream);
      places.resize(for_all.size());
      ends.push_back({.blocks = std::move(places), .stream = stream});
    });
    team_.broadcast().send(ends);
  }

  void begin_part(Member& member, const ForceArgs& args, std::span<const Part> parts, std::size_t index) {
    const ProfilerRange range{"begin a part"};
    mark(index, PartTimes::part_begins, args.stream);
    member.partition().begin_part(args, parts[index]);
    member.began.record(args.stream);
    if (leader().partition().exchanges()) mark(index, PartTimes::offered, args.stream);
  }

  /// Returns whether the devices write into each other's memory, by PeerFacet, instead of copying what others offer.
  bool writes_to_peers() const { return team_.is_direct() && members_.front().peer() != nullptr; }
  /// Connects the kernels for such writes. Call when all devices are prepared.
  void connect_peers() {
    if (!writes_to_peers()) return;
    std::vector<PeerFacet*> all;
    for (const Member& member : members_) all.push_back(member.peer());
    for (PeerFacet* const each : all) each->connect(all);
  }
  /// Exchanges the locally essential trees between the devices. Call after begin_part() of all parts.
  void exchange(const ForceArgs& args, std::span<const Part> parts) {
    const ProfilerRange range{"exchange cells"};
    barrier(args.stream);
    for_all(args.stream, [&](Member& member, cudaStream_t stream, std::size_t index) {
      mark(index, PartTimes::all_offered, stream);
      if (!writes_to_peers()) return copy_offers(member, args_for(args, stream), parts, index);
      member.peer()->send(stream);
      member.began.record(stream);
    });
    if (writes_to_peers()) barrier(args.stream);
  }

  /// Copies to this device what the other devices offer.
  void copy_offers(Member& member, const ForceArgs& args, std::span<const Part> parts, std::size_t index) {
    for (std::size_t after = 1; after < members_.size(); ++after) {
      const std::size_t i =
          (index + after) % members_.size();  // starts with the next device: the copies then use different links
      const Member& other = members_[i];
      copy_blocks(other.partition().offer(args, parts[i]), other.device,
                  member.partition().places_of_offer(args, parts[i]), member.device, args.stream);
    }
  }

  void evaluate_part(Member& member, const ForceArgs& args, std::span<const Part> parts, std::size_t index) {
    const ProfilerRange range{"evaluate a part"};
    if (leader().partition().exchanges()) mark(index, PartTimes::all_came, args.stream);
    member.partition().evaluate_part(args, parts[index]);
    mark(index, PartTimes::part_ends, args.stream);
  }

  /// Copies the results to the leader, which finishes the evaluation.
  void gather_results(const ForceArgs& args, std::span<const Part> parts) {
    const ProfilerRange range{"gather results"};
    PartitionFacet& division = leader().partition();
    for (std::size_t i = 1; i < members_.size(); ++i) {
      const Member& member = members_[i];
      const Blocks results = member.partition().results(args_for(args, member.stream.get()), parts[i]);
      const Blocks places = division.places(args, parts[i]);
      wait_on(args.stream, member.done);
      mark(i, PartTimes::results_copy, args.stream);
      copy_blocks(results, member.device, places, leader().device, args.stream);
      mark(i, PartTimes::results_came, args.stream);
    }
    division.join(args, parts);
    mark(0, PartTimes::ends, args.stream);
  }

  /// Makes every stream wait for the latest `began` of all other devices. `leading`: the leader's stream. No device
  /// need be active.
  void barrier(cudaStream_t leading) {
    for (Member& member : members_) {
      cudaStream_t const stream = &member == &leader() ? leading : member.stream.get();
      for (const Member& other : members_) {
        if (&other != &member) wait_on(stream, other.began);
      }
    }
  }

  using OnStream = std::function<void(Member& member, cudaStream_t stream, std::size_t index)>;
  using OnPart = std::function<void(Member& member, const ForceArgs& args, std::size_t index)>;
  /// Both call `work` for every device, the leader first, with its stream or its arguments. That device is then active.
  void for_all(cudaStream_t leading, const OnStream& work) {
    work(leader(), leading, 0);
    for_others([&](Member& member, std::size_t index) { work(member, member.stream.get(), index); });
  }
  void for_all(const ForceArgs& args, const OnPart& work) {
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

  // These two allocate memory on all devices for `count` bodies, and free the memory of the other. allocate_residents()
  // is for bodies that stay on the devices, at first in equal parts; allocate_inputs() is for copies of all bodies.
  void allocate_residents(int count) {
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

  void allocate_inputs(int count) {
    prepared_ = room_ = held_ = 0;  // set once every device is prepared
    times_.forget();
    parts_.forget_times();
    wait_for_all();
    owners_of_residents_ = {};
    const auto devices = static_cast<int>(members_.size());
    leader().partition().prepare_partition(count, 0, devices);
    for_others([&](Member& member, std::size_t index) {
      member.partition().prepare_partition(count, static_cast<int>(index), devices);
    });
    connect_peers();
    prepared_ = count;
  }

  void require_residents() const {
    if (held_ == 0) throw std::logic_error("the devices hold no bodies");
  }
  void read_owners_of_residents(CUstream_st* stream) {
    take_scratch(leader().device, owners_of_residents_, static_cast<std::size_t>(held_),
                 "the device indices of the bodies", "fewer bodies");
    inputs_ready_.record(stream);
    for_all(stream, [&](Member& member, cudaStream_t own, std::size_t index) {
      if (index > 0) wait_on(own, inputs_ready_);
      set_owner(member.migration()->residents(), static_cast<int>(index), owners_of_residents_.data(), own);
    });
    wait_for_others(stream);
    owners_.read(owners_of_residents_.data(), held_, stream);
  }

  void evaluate_all_residents(const ForceArgs& args) {
    if (held_ != args.count) throw std::logic_error("the devices do not hold these bodies");
    check_other_devices();
    of_all_ = true;
    if (times_.begin() && learns_parts_) parts_.learn(times_.parts_ms());
    const std::vector<Part> parts = parts_.parts();
    migrate(args, parts);
    for_all(args, [&](Member& member, const ForceArgs& own, std::size_t index) {
      reduce_findings(findings(), {.d_first = member.finding.data()}, own.stream);
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
    parts_.evaluated(leader().partition().keeps_parts(), times_.times_now());
    times_.end();
  }

  /// Moves bodies to the devices of their parts. All streams wait for each other, even if no body moves.
  void migrate(const ForceArgs& args, std::span<const Part> parts) {
    const ProfilerRange range{"move bodies"};
    mark(0, PartTimes::begins, args.stream);
    mark(0, PartTimes::shared, args.stream);
    const int rounds = leader().migration()->begin_residents(args);
    for_all(args, [&](Member& member, const ForceArgs& own, std::size_t index) {
      if (index > 0) mark(index, PartTimes::begins, own.stream);
      member.migration()->divide(own, parts, rounds);
      if (rounds == 0) member.began.record(own.stream);
    });
    if (rounds == 0) barrier(args.stream);
    for (int round = 0; round < rounds; ++round) {
      for_all(args, [&](Member& member, const ForceArgs& own, std::size_t) {
        member.migration()->round(round, own);
        member.began.record(own.stream);
      });
      barrier(args.stream);
    }
  }

  /// Makes the leader's stream wait for the work enqueued on the other streams so far.
  void wait_for_others(cudaStream_t leading) {
    for_others([&](Member& member, std::size_t) {
      member.done.record(member.stream.get());
      wait_on(leading, member.done);
    });
  }
  OnAll<const cuda::PackedFinding> findings() const {
    OnAll<const cuda::PackedFinding> all{.of = {}, .devices = static_cast<int>(members_.size())};
    for (std::size_t i = 0; i < members_.size(); ++i) all.of[i] = members_[i].finding.data();
    return all;
  }
  void mark(std::size_t index, PartTimes::Mark what, cudaStream_t stream) {
    if (of_all_) times_.mark(index, what, stream);
  }
  void wait_for_all() const noexcept {
    for (std::size_t i = members_.size(); i-- > 0;) {  // ends with the leader, which stays active
      ORRERY_CUDA_WARN(cudaSetDevice(members_[i].device.ordinal()));
      ORRERY_CUDA_WARN(cudaDeviceSynchronize());
    }
  }

  // TreeFacet: the leader's tree, completed by the cells of other devices.
  std::optional<TreeReport> report() const override { return members_.front().kernel->tree()->report(); }
  void prepare_cells(const CellRequest& request, int count) override {
    leader().kernel->tree()->prepare_cells(request, count);
  }
  /// Copies the other devices' cells first. They stay valid until the leader's next evaluation, on the same stream.
  void pick_cells(const CellRequest& request, CUstream_st* stream) override {
    if (prepared_ == 0) return leader().kernel->tree()->pick_cells({}, stream);  // there is no tree: shows no cells
    for (std::size_t i = 1; i < members_.size(); ++i) {
      const auto index = static_cast<int>(i);
      copy_blocks(members_[i].partition().cells(index), members_[i].device, leader().partition().places_of_cells(index),
                  leader().device, stream);
    }
    leader().kernel->tree()->pick_cells(request, stream);
  }

  std::optional<PickedCells> cells() const override { return members_.front().kernel->tree()->cells(); }

  const DeviceTeam& team_;
  std::vector<Member> members_;    // one entry per device
  cuda::OrderEvent inputs_ready_;  // on the leader's stream, the data for other devices are ready
  bool of_all_ = true;             // whether the current evaluation has all bodies as targets
  LearnedParts parts_;
  PartTimes times_;
  OwnersReader owners_;  // only for trees: the device that has each body in its domain
  cuda::DeviceArray<int> owners_of_residents_;
  std::string why_no_owners_;  // failure of the latest read_owners(); empty: it succeeded
  bool learns_parts_;          // whether measured times change the sizes of parts; otherwise they stay equal
  int prepared_ = 0;           // number of bodies for which allocate_inputs() has memory; 0: none
  int room_ = 0;               // number of bodies for which allocate_residents() has memory; 0: none
  int held_ = 0;               // number of bodies that the devices hold; 0: none
};

MultiDeviceKernel::Member::Member(const cuda::Device& of, const KernelInfo& info, const Settings& settings)
    : device{of}, kernel{info.make(settings, &of)}, stream{of}, began{of}, done{of}, finding{of, 1} {
  if (!info.divides) by_targets = std::make_unique<TargetPartition>(*kernel, info.reads_low_words, device);
}

}  // namespace

std::unique_ptr<ForceKernel> multi_device_kernel(const DeviceTeam& team, const KernelInfo& kernel,
                                                 const Settings& settings) {
  return std::make_unique<MultiDeviceKernel>(team, kernel, settings);
}

}  // namespace orrery
