#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compute/integrators/update.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/rank_device.h"
#include "tests/compute/ranks/host_nccl.h"

namespace orrery::test {

/// Bodies that a rank whose device is the host holds: an equal part of them, in their order. To evaluate them, all
/// ranks tell each other their positions, by messages also where they are connected.
class HostResidents final : public RankResidents {
 public:
  static constexpr int worth_holding = 50;  ///< bodies
  static constexpr int rounds = 3;

  /// `faults`: null if there are none.
  HostResidents(ForceKernel& kernel, std::shared_ptr<HostConnection> connection, HostNccl* faults)
      : kernel_{kernel}, connection_{std::move(connection)}, faults_{faults} {}

  bool can_hold(int count, int /*ranks*/) const override { return count >= worth_holding; }
  void prepare(int count, int rank, int ranks) override {
    kernel_.prepare(count);
    rank_ = rank;
    const Part own{.index = rank, .begin = static_cast<double>(rank) / ranks, .end = (rank + 1.0) / ranks};
    first_ = own.first(count);
    last_ = rank + 1 == ranks ? count : own.last(count);
    positions_.assign(size(), {});
    velocities_.assign(size(), {});
    accelerations_.assign(size(), {});
    finding_ = {};
  }

  void hold(const ScatterSource& from, bool connected, CollectiveWork& work, CUstream_st* /*stream*/) override {
    begin_together(connected, work);
    if (from.d_finding) finding_ = *from.d_finding;
    work.attempt([&] { work.put_for_all(Range{first_, last_}); });
    if (work.exchange()) work.attempt([&] { send_parts(from, work); });
    if (work.exchange() && !is_leader(work)) {
      MessageReader message = work.from(0);
      message.get_values(std::span{positions_});
      message.get_values(std::span{velocities_});
    }
    require_end(work);
  }
  void kick_drift(const PassOrder& pass, int* seen, CUstream_st* /*stream*/) override {
    if (faults_) HostNccl::fail_once(faults_->pass_fails_in, rank_);
    const StateArrays arrays{positions_.data(), velocities_.data(), accelerations_.data()};
    const int count = last_ - first_;
    (void)orrery::kick_drift(arrays, count, pass.motion.owed_kick_dt, pass.motion.drag, 0);
    if (finding_.is_before(pass.frozen_below)) return;
    note(orrery::kick_drift(arrays, count, pass.motion.kick_dt, pass.motion.drag, pass.motion.drift_dt), pass.after,
         seen);
  }
  void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, bool connected, CollectiveWork& work,
                    CUstream_st* /*stream*/) override {
    begin_together(connected, work);
    const StateArrays arrays{positions_.data(), velocities_.data(), accelerations_.data()};
    note(orrery::kick_drift(arrays, last_ - first_, 0, 0, 0), pass, report.seen);
    share_findings(work);
    if (report.d_first) *report.d_first = finding_;
    if (report.seen && finding_.bits != cuda::PackedFinding{}.bits) *report.seen = 1;
    require_end(work);
  }
  int begin(const ForceArgs& /*args*/) override { return rounds; }
  void evaluate(const ForceArgs& args, const ResidentEvaluation& how, std::span<const Part> parts,
                CollectiveWork& work) override {
    begin_together(how.connected, work);
    work.attempt([&] {
      if (how.rounds != rounds) throw std::logic_error("the leader has begun otherwise");
      if (parts.size() != static_cast<std::size_t>(work.size())) throw std::logic_error("not a part of each rank");
    });
    share_findings(work);
    fail_between(work);
    std::vector<Vec4> all(static_cast<std::size_t>(args.count)), found(all.size());
    work.attempt([&] {
      work.put_for_all(first_);
      work.put_all_for_all(positions_);
    });
    if (work.exchange()) work.attempt([&] { evaluate_own(args, all, found, work); });
    work.attempt([&] { work.put_for_all(true); });
    work.exchange();
    require_end(work);
  }
  void collect(const GatherSelection& wanted, const GatherBuffers& places, bool connected, CollectiveWork& work,
               CUstream_st* /*stream*/) override {
    begin_together(connected, work);
    work.attempt([&] {
      work.for_each_other([&](int rank) {
        work.to(rank).put(first_);
        for (const auto* array : {&positions_, &velocities_, &accelerations_}) work.to(rank).put_all(*array);
        work.to(rank).put(wanted);
      });
      place(places, first_, 0, positions_, velocities_, accelerations_);
    });
    if (work.exchange() && is_leader(work)) {
      work.for_each_other([&](int rank) {
        MessageReader message = work.from(rank);
        const int first = message.get<int>();
        std::vector<Vec4> arrays[3];
        for (auto& array : arrays) message.get_all(array);
        const auto known = message.get<GatherSelection>();
        if (known.owners != wanted.owners || known.positions != wanted.positions)
          throw std::logic_error("not asked for");
        place(places, first, rank, arrays[0], arrays[1], arrays[2]);
      });
    }
    require_end(work);
  }
  int* owner_buffer(int count) override {
    owners_.resize(static_cast<std::size_t>(count));
    return owners_.data();
  }
  /// Pretends to take a while.
  bool part_ended() const override { return ++asked_ > 2; }
  bool ended() const override { return ++asked_ > 5; }

 private:
  /// Range of body indices.
  struct Range {
    int first, last;
  };

  static bool is_leader(const CollectiveWork& work) { return work.rank() == 0; }
  std::size_t size() const { return static_cast<std::size_t>(last_ - first_); }
  void begin_together(bool connected, CollectiveWork& work) {
    asked_ = 0;
    work.attempt([&] {
      if (connected != (connection_ && connection_->is_open())) throw std::logic_error("the connection is another one");
      if (faults_) faults_->fail_in(rank_);
    });
  }
  void fail_between(CollectiveWork& work) {
    work.attempt([&] {
      if (faults_) HostNccl::fail_once(faults_->fails_between_in, rank_);
    });
  }
  void send_parts(const ScatterSource& from, CollectiveWork& work) {
    work.for_each_other([&](int rank) {
      const auto [first, last] = work.from(rank).get<Range>();
      const auto count = static_cast<std::size_t>(last - first);
      if (!is_leader(work)) return work.to(rank).put(true);
      work.to(rank).put_values(std::span{from.d_positions + first, count});
      work.to(rank).put_values(std::span{from.d_velocities + first, count});
    });
    if (!is_leader(work)) return;
    std::copy_n(from.d_positions, size(), positions_.begin());
    std::copy_n(from.d_velocities, size(), velocities_.begin());
  }
  void evaluate_own(const ForceArgs& args, std::vector<Vec4>& all, std::vector<Vec4>& found, CollectiveWork& work) {
    std::ranges::copy(positions_, all.begin() + first_);
    work.for_each_other([&](int rank) {
      MessageReader message = work.from(rank);
      const int first = message.get<int>();
      std::vector<Vec4> others;
      message.get_all(others);
      std::ranges::copy(others, all.begin() + first);
    });
    std::vector<int> own(size());
    std::iota(own.begin(), own.end(), first_);
    kernel_.evaluate({.bodies = all.data(),
                      .count = args.count,
                      .targets = {.indices = own.data(), .count = last_ - first_},
                      .masses = args.masses,
                      .law = args.law,
                      .epilogue = {.accelerations = found.data()}});
    std::copy_n(found.begin() + first_, size(), accelerations_.begin());
  }
  static void place(const GatherBuffers& places, int first, int rank, std::span<const Vec4> positions,
                    std::span<const Vec4> velocities, std::span<const Vec4> accelerations) {
    if (places.d_positions) std::ranges::copy(positions, places.d_positions + first);
    if (places.d_velocities) std::ranges::copy(velocities, places.d_velocities + first);
    if (places.d_accelerations) std::ranges::copy(accelerations, places.d_accelerations + first);
    if (places.d_owners) std::fill_n(places.d_owners + first, positions.size(), rank);
  }
  void note(int not_finite, std::uint32_t pass, int* seen) {
    if (not_finite < 0) return;
    finding_.bits = std::min(finding_.bits, cuda::PackedFinding{pass, first_ + not_finite}.bits);
    if (seen) *seen = 1;
  }
  void share_findings(CollectiveWork& work) {
    work.reduce(finding_.bits, [](auto& least, auto other) { least = std::min(least, other); });
  }

  ForceKernel& kernel_;
  const std::shared_ptr<HostConnection> connection_;  // null: there is none
  HostNccl* const faults_;
  int rank_ = 0;
  int first_ = 0, last_ = 0;
  std::vector<Vec4> positions_, velocities_, accelerations_;
  std::vector<int> owners_;
  cuda::PackedFinding finding_;
  mutable int asked_ = 0;
};

}  // namespace orrery::test
