#pragma once

#include "compute/integrators/update.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/ranks/protocol.h"
#include "tests/compute/ranks/rank_team.h"
#include "tests/test.h"

namespace orrery::test {

/// NCCL as it is between devices: each rank waits for data of the one before it, and then hands them on.
class HostNccl {
 public:
  explicit HostNccl(std::vector<int> versions)
      : versions_{std::move(versions)},
        shared_(versions_.size()),
        shared_alone_(versions_.size()),
        found_(versions_.size()) {}

  int version(int rank) const { return versions_[static_cast<std::size_t>(rank)]; }
  int connected() const { return connected_; }  ///< number of ranks
  int handed_on() const { return handed_on_; }  ///< number of messages

  /// Connects a rank. Pretends that a rank waits no longer than necessary for ranks that fail.
  void connect(int rank) {
    if (rank == connect_fails_in) throw std::runtime_error("a bad cable");
    if (rank == gives_up_in || (others_give_up && connect_fails_in >= 0)) throw Stopped{"nobody came within 20 s"};
    const std::lock_guard lock{mutex_};
    for (Boxes* boxes : {&shared_, &shared_alone_, &found_}) std::ranges::fill(*boxes, Boxes::value_type{});
    ++connected_;
  }
  void leave() { --connected_; }

  void share(int to, std::span<const std::byte> data) { put(shared_, to, data); }
  void share_alone(int to, std::span<const std::byte> data) { put(shared_alone_, to, data); }
  void hand_back(int from, std::span<const std::byte> data) {
    if (from == hand_back_fails_in) throw std::runtime_error("a broken cable");
    put(found_, from, data);
  }
  void fail_in(int rank) { fail_once(fails_in, rank); }
  /// `in`: a rank, in which it fails once.
  static void fail_once(std::atomic<int>& in, int rank) {
    if (int failing = rank; in.compare_exchange_strong(failing, -1)) throw std::runtime_error("a bad day");
  }
  /// Data shared with all, which a rank hands on; take_alone(): data shared with it alone.
  std::vector<std::byte> take(int rank, const CollectiveWork& work) {
    std::vector<std::byte> data = next(shared_, rank, work);
    if (rank + 1 < static_cast<int>(versions_.size())) share(rank + 1, data);
    return data;
  }
  std::vector<std::byte> take_alone(int rank, const CollectiveWork& work) { return next(shared_alone_, rank, work); }
  bool has_found(int rank) {
    const std::lock_guard lock{mutex_};
    return !found_[static_cast<std::size_t>(rank)].empty();
  }
  std::vector<std::byte> found_by(int rank) {
    const std::lock_guard lock{mutex_};
    return first_of(found_[static_cast<std::size_t>(rank)]);
  }

  /// A rank; -1: in none. An evaluation fails once.
  std::atomic<int> connect_fails_in = -1, gives_up_in = -1, fails_in = -1, hand_back_fails_in = -1;
  /// Likewise, also if the ranks are not connected: of bodies that are held, between two exchanges, and in a pass.
  std::atomic<int> fails_between_in = -1, pass_fails_in = -1;
  std::atomic<bool> others_give_up = false;  ///< than the one that fails to connect

 private:
  using Boxes = std::vector<std::deque<std::vector<std::byte>>>;  // by rank

  void put(Boxes& boxes, int rank, std::span<const std::byte> data) {
    const std::lock_guard lock{mutex_};
    boxes[static_cast<std::size_t>(rank)].emplace_back(data.begin(), data.end());
    ++handed_on_;
    came_.notify_all();
  }
  static std::vector<std::byte> first_of(Boxes::value_type& box) {
    std::vector<std::byte> data = std::move(box.front());
    box.pop_front();
    return data;
  }
  std::vector<std::byte> next(Boxes& boxes, int rank, const CollectiveWork& work) {
    auto& box = boxes[static_cast<std::size_t>(rank)];
    std::unique_lock lock{mutex_};
    while (!came_.wait_for(lock, std::chrono::milliseconds{1}, [&] { return !box.empty(); })) {
      if (!work.ok()) throw Stopped{};
    }
    return first_of(box);
  }

  const std::vector<int> versions_;  // by rank
  std::atomic<int> connected_ = 0, handed_on_ = 0;
  std::mutex mutex_;  // guards the boxes
  std::condition_variable came_;
  Boxes shared_, shared_alone_, found_;
};

/// A rank's end of a connection, which its kernels share.
class HostConnection {
 public:
  HostConnection(HostNccl& nccl, int rank) : nccl_{nccl}, rank_{rank} { nccl_.connect(rank); }
  HostConnection(const HostConnection&) = delete;
  HostConnection& operator=(const HostConnection&) = delete;
  ~HostConnection() { abort(); }

  HostNccl& nccl() const { return nccl_; }
  int rank() const { return rank_; }
  bool is_open() const { return open_; }
  void abort() {
    if (open_.exchange(false)) nccl_.leave();
  }

 private:
  HostNccl& nccl_;
  int rank_;
  std::atomic<bool> open_ = true;
};

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

/// The connected way of a RankKernel, whose memory it uses.
class HostConnected final : public ConnectedRankKernel {
 public:
  HostConnected(RankKernel& kernel, std::shared_ptr<HostConnection> connection)
      : kernel_{kernel}, connection_{std::move(connection)} {}
  bool is_open() const { return connection_->is_open(); }

  std::vector<WorkerInput> prepare_inputs(const ForceArgs& args, std::span<const Part> parts) override {
    std::vector<WorkerInput> inputs = kernel_.prepare_inputs(args, parts);
    places_.clear();
    for (const Part& part : parts.subspan(1)) places_.push_back(kernel_.place(args, part));
    return inputs;
  }
  void evaluate(const ForceArgs& args, std::span<const Part> parts, CollectiveWork& work) override {
    asked_ = 0;
    if (kernel_.works_alone()) return;
    work.attempt([&] {
      if (!kernel_.common_input().empty()) nccl_.share(1, kernel_.common_input());
      for (const Part& part : parts.subspan(1)) {
        const std::span<const std::byte> alone = kernel_.individual_input(part.index);
        if (!alone.empty()) nccl_.share_alone(part.index, alone);
      }
      nccl_.fail_in(0);
    });
    kernel_.end_part(args, parts, work);
  }
  /// Pretends to take a while.
  bool part_ended() override { return ++asked_ > 3; }
  /// The leader receives then, and another rank sends.
  bool ended() override {
    if (rank_ > 0) {
      nccl_.hand_back(rank_, found_);
      return true;
    }
    if (!part_ended()) return false;
    for (int rank = 1; rank <= static_cast<int>(places_.size()); ++rank) {
      if (!nccl_.has_found(rank)) return false;
    }
    for (int rank = 1; std::span<std::byte> place : places_) std::ranges::copy(nccl_.found_by(rank++), place.begin());
    return true;
  }
  void join(const ForceArgs& args, std::span<const Part> parts) override { kernel_.join(args, parts); }
  void evaluate_part(const ForceArgs& args, const WorkerInput& input, std::span<const Part> parts, const Part& own,
                     CollectiveWork& work) override {
    work.attempt([&] {
      nccl_.fail_in(rank_);
      std::vector<std::byte> shared;
      if (bytes_of(input).common > 0) shared = nccl_.take(rank_, work);
      if (bytes_of(input).individual > 0) {
        const std::vector<std::byte> alone = nccl_.take_alone(rank_, work);
        shared.insert(shared.end(), alone.begin(), alone.end());
      }
      kernel_.reserve_input(shared.size());
      std::ranges::copy(shared, kernel_.input_buffer(shared.size()).begin());
    });
    found_ = kernel_.evaluate(args, input, parts, own, work);
  }
  void disconnect() noexcept override { connection_->abort(); }

 private:
  RankKernel& kernel_;
  const std::shared_ptr<HostConnection> connection_;
  HostNccl& nccl_{connection_->nccl()};
  const int rank_{connection_->rank()};

  std::vector<std::span<std::byte>> places_;  // of the results of others
  std::span<const std::byte> found_;          // of another rank than the leader
  int asked_ = 0;
};

/// A division whose device is the host: its kernel is one of the CPU. For all that ranks do without a GPU. Each rank
/// evaluates a part of the targets. It gets all bodies; or a part of them, which it offers to the others.
class HostRankKernel final : public RankKernel {
 public:
  /// `holds`: the ranks can hold the bodies. `connection`: null if there is none. `faults`: see HostResidents.
  HostRankKernel(std::unique_ptr<ForceKernel> kernel, bool exchanges, bool holds,
                 std::shared_ptr<HostConnection> connection, HostNccl* faults)
      : kernel_{std::move(kernel)}, exchanges_{exchanges} {
    if (holds) held_.emplace(*kernel_, connection, faults);
    if (connection) connected_.emplace(*this, std::move(connection));
  }
  /// With fewer bodies, the leader of kernels that exchange works alone.
  static constexpr int worth_an_exchange = 4;

  ForceKernel& kernel() override { return *kernel_; }
  ConnectedRankKernel* connected() override { return connected_ && connected_->is_open() ? &*connected_ : nullptr; }
  void prepare(int count, int index, int ranks) override {
    kernel_->prepare(count);
    index_ = index;
    returned_.resize(static_cast<std::size_t>(ranks));
    individual_.resize(returned_.size());
  }
  void bodies_replaced() override { kernel_->bodies_replaced(); }

  std::vector<WorkerInput> prepare_inputs(const ForceArgs& args, std::span<const Part> parts) override {
    list_targets(args.targets, args.count);
    owners_.clear();
    for (const Part& part : parts) owners_.resize(static_cast<std::size_t>(part.last(args.count)), part.index);
    const std::span<const Vec4> bodies{args.bodies, static_cast<std::size_t>(args.count)};
    const std::span<const int> listed = args.targets ? std::span<const int>{targets_} : std::span<const int>{};
    std::vector<WorkerInput> inputs(parts.size());
    for (const Part& part : parts) {
      const auto rank = static_cast<std::size_t>(part.index);
      WorkerInput& input = inputs[rank];
      input.exchanges = exchanges_;
      (exchanges_ ? input.individual : input.common) =
          join_blocks(exchanges_ ? range_of(bodies, part) : bodies, listed, exchanges_ ? individual_[rank] : common_);
    }
    begin_part(exchanges_ ? range_of(bodies, parts.front()) : bodies, args.count, parts.front());
    return inputs;
  }
  std::span<const std::byte> common_input() const override { return common_; }
  std::span<const std::byte> individual_input(int rank) const override {
    return individual_[static_cast<std::size_t>(rank)];
  }
  std::span<std::byte> place(const ForceArgs& args, const Part& part) override {
    std::vector<Vec4>& place = returned_[static_cast<std::size_t>(part.index)];
    place.resize(targets_of(args, part).size());
    return std::as_writable_bytes(std::span{place});
  }
  void end_part(const ForceArgs& args, std::span<const Part> parts, CollectiveWork& work) override {
    exchange(parts, parts.front(), work);
    work.attempt([&] { evaluate_part(args, parts.front()); });
    require_end(work);
  }
  void join(const ForceArgs& args, std::span<const Part> parts) override {
    if (works_alone()) return kernel_->evaluate(args);
    for (const Part& part : parts.subspan(1)) {
      const std::vector<Vec4>& found = returned_[static_cast<std::size_t>(part.index)];
      const std::span<const int> targets = targets_of(args, part);
      for (std::size_t k = 0; k < targets.size(); ++k) {
        args.epilogue.finish(targets[k], args.bodies[targets[k]].w, Vec3{found[k].x, found[k].y, found[k].z});
      }
    }
  }

  void reserve_input(std::size_t bytes) override { room_.resize(std::max(room_.size(), bytes)); }
  std::span<std::byte> input_buffer(std::size_t bytes) override {
    if (bytes > room_.size()) throw std::logic_error("nobody has asked for so much room");
    return std::span{room_}.first(bytes);
  }
  std::span<const std::byte> evaluate(const ForceArgs& args, const WorkerInput& input, std::span<const Part> parts,
                                      const Part& own, CollectiveWork& work) override {
    work.attempt([&] {
      const std::vector<std::size_t>& sizes = exchanges_ ? input.individual : input.common;
      std::vector<Vec4> bodies(sizes[0] / sizeof(Vec4));
      std::vector<int> listed(sizes[1] / sizeof(int));
      if (!bodies.empty()) std::memcpy(bodies.data(), room_.data(), sizes[0]);
      if (!listed.empty()) std::memcpy(listed.data(), room_.data() + sizes[0], sizes[1]);
      list_targets({.indices = args.targets ? listed.data() : nullptr, .count = args.targets.count}, args.count);
      begin_part(bodies, args.count, own);
    });
    exchange(parts, own, work);
    work.attempt([&] {
      accelerations_.resize(bodies_.size());
      ForceArgs here = args;
      here.epilogue = {.accelerations = accelerations_.data()};
      evaluate_part(here, own);
      found_.clear();
      for (const int target : targets_of(args, own)) found_.push_back(accelerations_[static_cast<std::size_t>(target)]);
    });
    require_end(work);
    return std::as_bytes(std::span{found_});
  }

  /// Pretends that later ranks are slower.
  double part_ms() const override { return index_ + 1; }
  bool works_alone() const override { return exchanges_ && static_cast<int>(bodies_.size()) < worth_an_exchange; }
  bool keeps_parts() const override { return false; }
  void read_owners(int count, const int* d_owners, CUstream_st* /*stream*/) override {
    read_ = d_owners ? std::vector<int>(d_owners, d_owners + count) : owners_;
  }
  std::optional<std::vector<int>> owners(int count) const override {
    if (read_.size() != static_cast<std::size_t>(count)) return std::nullopt;
    return read_;
  }
  MessageWriter cells(int index) override {
    MessageWriter message;
    message.put(index);
    return message;
  }
  RankResidents* residents() override { return held_ ? &*held_ : nullptr; }
  void place_cells(int index, MessageReader& cells, CUstream_st* /*stream*/) override {
    if (cells.get<int>() != index) throw std::logic_error("these are cells of another rank");
  }

 private:
  template <class T>
  static std::span<const T> range_of(std::span<const T> all, const Part& part) {
    return all.subspan(part.first(all.size()), part.last(all.size()) - part.first(all.size()));
  }
  /// Returns their sizes.
  static std::vector<std::size_t> join_blocks(std::span<const Vec4> bodies, std::span<const int> targets,
                                              std::vector<std::byte>& joined) {
    std::vector<std::size_t> sizes;
    joined.clear();
    for (const std::span<const std::byte> block : {std::as_bytes(bodies), std::as_bytes(targets)}) {
      joined.insert(joined.end(), block.begin(), block.end());
      sizes.push_back(block.size());
    }
    return sizes;
  }
  void list_targets(const Targets& targets, int count) {
    targets_.resize(static_cast<std::size_t>(targets ? targets.count : count));
    for (std::size_t k = 0; k < targets_.size(); ++k) targets_[k] = targets.body(static_cast<int>(k));
  }
  std::span<const int> targets_of(const ForceArgs& args, const Part& part) const {
    const auto first = static_cast<std::size_t>(part.first(args.target_count()));
    return std::span{targets_}.subspan(first, static_cast<std::size_t>(part.last(args.target_count())) - first);
  }
  /// `bodies`: all of them, or those of the part. The others are not known.
  void begin_part(std::span<const Vec4> bodies, int count, const Part& part) {
    constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
    bodies_.assign(static_cast<std::size_t>(count), {unknown, unknown, unknown, unknown});
    std::ranges::copy(bodies, bodies_.begin() + (exchanges_ ? part.first(count) : 0));
  }
  /// Exchanges the bodies that the ranks got.
  void exchange(std::span<const Part> parts, const Part& own, CollectiveWork& work) {
    if (!exchanges_) return;
    work.attempt([&] {
      const std::span<const Vec4> offer = range_of(std::span<const Vec4>{bodies_}, own);
      work.put_all_for_all(std::vector<Vec4>(offer.begin(), offer.end()));
    });
    if (!work.exchange()) return;
    work.for_each_other([&](int rank) {
      std::vector<Vec4> taken;
      MessageReader message = work.from(rank);
      message.get_all(taken);
      std::ranges::copy(taken, bodies_.begin() + parts[static_cast<std::size_t>(rank)].first(bodies_.size()));
    });
  }
  void evaluate_part(ForceArgs args, const Part& part) {
    const std::span<const int> own = targets_of(args, part);
    if (own.empty()) return;
    args.bodies = bodies_.data();
    args.targets = {.indices = own.data(), .count = static_cast<int>(own.size())};
    kernel_->evaluate(args);
  }

  std::unique_ptr<ForceKernel> kernel_;
  const bool exchanges_;
  int index_ = 0;
  std::vector<std::byte> common_, room_;
  std::vector<std::vector<std::byte>> individual_;  // by rank
  std::vector<int> targets_, owners_, read_;
  std::vector<Vec4> bodies_, accelerations_, found_;
  std::vector<std::vector<Vec4>> returned_;  // by rank
  std::optional<HostResidents> held_;
  std::optional<HostConnected> connected_;
};

/// The kernel whose ranks can hold bodies.
inline constexpr const char* holding_kernel = "device-holding";

/// Simulates a host with `devices` devices, all alike. `opened`: device opened at each place. `nccl`: null if no rank
/// has it. All ranks are on one host.
class HostDevice final : public RankDevice {
 public:
  HostDevice(int devices, std::vector<std::atomic<int>>& opened, HostNccl* nccl)
      : devices_{devices}, opened_{opened}, nccl_{nccl} {}

  RankDeviceFacts open(const RankDeviceSelection& which, int place) override {
    const int ordinal = device_at(which, place, devices_);
    if (ordinal >= devices_) throw std::runtime_error("there is no such device");
    opened_[static_cast<std::size_t>(place)] = ordinal;
    rank_ = place;
    connection_.reset();
    return {.ordinal = ordinal, .uuid = {static_cast<unsigned char>(ordinal)}, .architecture = 90};
  }
  int nccl_version() override { return nccl_ ? nccl_->version(rank_) : 0; }
  ConnectionId new_connection() override { return {.bytes = {'7'}}; }
  void connect(const ConnectionId& id, int rank, int /*ranks*/) override {
    if (id.bytes.front() != '7') throw std::logic_error("this is not what the leader made");
    connection_ = std::make_shared<HostConnection>(*nccl_, rank);
  }
  void disconnect() noexcept override {
    if (connection_) connection_->abort();
    connection_.reset();
  }
  bool connected() const override { return connection_ && connection_->is_open(); }
  std::unique_ptr<RankKernel> make(const KernelInfo& kernel, const Settings& settings) override {
    return std::make_unique<HostRankKernel>(kernel.make(settings, nullptr), kernel.is_tree,
                                            std::string_view{kernel.id} == holding_kernel, connection_, nccl_);
  }

 private:
  int devices_;
  std::vector<std::atomic<int>>& opened_;
  HostNccl* nccl_;
  int rank_ = 0;
  std::shared_ptr<HostConnection> connection_;  // null: there is none
};

/// A kernel of the CPU that ranks take for one of CUDA.
inline KernelInfo on_host_devices(KernelInfo kernel) {
  kernel.backend = Backend::cuda;
  return kernel;
}

inline KernelInfo serial_on_host_devices() {
  KernelInfo kernel = on_host_devices(*find_kernel("cpu-serial"));
  kernel.id = "device-serial";
  return kernel;
}

/// Returns a kernel of which each rank gets a part of the bodies; all ranks offer theirs to each other.
inline KernelInfo exchanging_on_host_devices() {
  KernelInfo kernel = serial_on_host_devices();
  kernel.divides = kernel.is_tree = true;
  return kernel;
}

/// The same, of which the ranks can hold the bodies.
inline KernelInfo holding_on_host_devices() {
  KernelInfo kernel = exchanging_on_host_devices();
  kernel.id = holding_kernel;
  return kernel;
}

/// Ranks, each with a host device for itself.
class DeviceRanks {
 public:
  /// `nccl`: see HostDevice.
  DeviceRanks(int size, int devices, const KernelInfo& workers = serial_on_host_devices(), HostNccl* nccl = nullptr,
              std::size_t most_bytes = SIZE_MAX)
      : opened_(static_cast<std::size_t>(size)),
        known_{known_with(workers)},
        team_{size, *known_, [this, devices, nccl] { return std::make_unique<HostDevice>(devices, opened_, nccl); },
              most_bytes} {
    std::ranges::fill(opened_, -1);
  }

  RankLeader& leader() { return team_.leader(); }
  std::unique_ptr<ForceKernel> make(const KernelInfo& kernel = serial_on_host_devices()) {
    return team_.leader().make(kernel, Settings{kernel}, {});
  }
  std::vector<int> opened() const { return {opened_.begin(), opened_.end()}; }

 private:
  static std::unique_ptr<KernelCatalog> known_with(const KernelInfo& kernel) {
    auto known = std::make_unique<KernelCatalog>();
    known->put(kernel);
    return known;
  }

  std::vector<std::atomic<int>> opened_;  // by rank
  std::unique_ptr<KernelCatalog> known_;
  RankTeam team_;
};

inline constexpr int new_nccl = 22803, old_nccl = 21903;

inline HostNccl nccl_of(int ranks) {
  return HostNccl{std::vector<int>(static_cast<std::size_t>(ranks), new_nccl)};
}

}  // namespace orrery::test
