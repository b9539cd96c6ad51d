#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compute/kernels/rank_device.h"

namespace orrery::test {

/// What NCCL is between devices: each rank waits for data of the one before it, and then hands them on.
class HostNccl {
 public:
  explicit HostNccl(std::vector<int> versions)
      : versions_{std::move(versions)}, shared_(versions_.size()), found_(versions_.size()) {}

  int version(int rank) const { return versions_[static_cast<std::size_t>(rank)]; }
  int connected() const { return connected_; }  ///< number of ranks
  int handed_on() const { return handed_on_; }  ///< number of messages

  /// As if a rank waited for those that fail no longer than it has to.
  void connect(int rank) {
    if (rank == connect_fails_in) throw std::runtime_error("a bad cable");
    if (rank == gives_up_in || (others_give_up && connect_fails_in >= 0)) throw Stopped{"nobody came within 20 s"};
    const std::lock_guard lock{mutex_};
    for (Boxes* boxes : {&shared_, &found_}) std::ranges::fill(*boxes, Boxes::value_type{});
    ++connected_;
  }
  void leave() { --connected_; }

  void share(int to, std::span<const std::byte> data) { put(shared_, to, data); }
  void hand_back(int from, std::span<const std::byte> data) {
    if (from == hand_back_fails_in) throw std::runtime_error("a broken cable");
    put(found_, from, data);
  }
  /// What was shared with a rank, which hands it on.
  std::vector<std::byte> take(int rank, const std::atomic<bool>& stopped) {
    if (int failing = rank; fails_in.compare_exchange_strong(failing, -1)) throw std::runtime_error("a bad day");
    std::vector<std::byte> data = next(shared_, rank, stopped);
    if (rank + 1 < static_cast<int>(versions_.size())) share(rank + 1, data);
    return data;
  }
  bool has_found(int rank) {
    const std::lock_guard lock{mutex_};
    return !found_[static_cast<std::size_t>(rank)].empty();
  }
  std::vector<std::byte> found_by(int rank) { return next(found_, rank, false); }

  /// A rank; -1: in none. An evaluation fails once.
  std::atomic<int> connect_fails_in = -1, gives_up_in = -1, fails_in = -1, hand_back_fails_in = -1;
  std::atomic<bool> others_give_up = false;  ///< than the one that fails to connect

 private:
  using Boxes = std::vector<std::deque<std::vector<std::byte>>>;  // by rank

  void put(Boxes& boxes, int rank, std::span<const std::byte> data) {
    const std::lock_guard lock{mutex_};
    boxes[static_cast<std::size_t>(rank)].emplace_back(data.begin(), data.end());
    ++handed_on_;
    came_.notify_all();
  }
  std::vector<std::byte> next(Boxes& boxes, int rank, const std::atomic<bool>& stopped) {
    auto& box = boxes[static_cast<std::size_t>(rank)];
    std::unique_lock lock{mutex_};
    while (!came_.wait_for(lock, std::chrono::milliseconds{1}, [&] { return !box.empty(); })) {
      if (stopped) throw Stopped{};
    }
    std::vector<std::byte> data = std::move(box.front());
    box.pop_front();
    return data;
  }

  const std::vector<int> versions_;  // by rank
  std::atomic<int> connected_ = 0, handed_on_ = 0;
  std::mutex mutex_;  // guards the boxes
  std::condition_variable came_;
  Boxes shared_, found_;
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

/// The connected way of a HostedDivision, whose memory it uses.
class HostConnected final : public ConnectedDivision {
 public:
  HostConnected(HostedDivision& division, std::shared_ptr<HostConnection> connection)
      : division_{division}, connection_{std::move(connection)} {}
  bool is_open() const { return connection_->is_open(); }

  std::vector<std::size_t> share_out(const ForceArgs& args, std::span<const Part> parts) override {
    shared_ = division_.share_out(args, parts);
    places_.clear();
    for (const Part& part : parts.subspan(1)) places_.push_back(division_.place(args, part));
    return shared_.sizes;
  }
  void evaluate(const ForceArgs& /*args*/, std::span<const Part> /*parts*/) override {
    if (int leader = 0; nccl_.fails_in.compare_exchange_strong(leader, -1)) throw std::runtime_error("a bad day");
    nccl_.share(1, shared_.bytes);
    asked_ = 0;
  }
  /// As if it took a while.
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
  void join(const ForceArgs& args, std::span<const Part> parts) override { division_.join(args, parts); }
  void evaluate_part(const ForceArgs& args, std::span<const std::size_t> sizes, std::span<const Part> parts,
                     const Part& own, const std::atomic<bool>& stopped) override {
    const std::vector<std::byte> shared = nccl_.take(rank_, stopped);
    division_.take_room(shared.size());
    std::ranges::copy(shared, division_.room(shared.size()).begin());
    found_ = division_.evaluate(args, sizes, parts, own);
  }
  void disconnect() noexcept override { connection_->abort(); }

 private:
  HostedDivision& division_;
  const std::shared_ptr<HostConnection> connection_;
  HostNccl& nccl_{connection_->nccl()};
  const int rank_{connection_->rank()};
  HostedDivision::Shared shared_;
  std::vector<std::span<std::byte>> places_;  // of the results of others
  std::span<const std::byte> found_;          // of another rank than the leader
  int asked_ = 0;
};

/// A division of targets whose device is the host: its kernel is one of the CPU. For all that ranks do without a GPU.
class HostDivision final : public HostedDivision {
 public:
  /// `connection`: null if there is none.
  HostDivision(std::unique_ptr<ForceKernel> kernel, std::shared_ptr<HostConnection> connection)
      : kernel_{std::move(kernel)} {
    if (connection) connected_.emplace(*this, std::move(connection));
  }

  ForceKernel& kernel() override { return *kernel_; }
  ConnectedDivision* connected() override { return connected_ && connected_->is_open() ? &*connected_ : nullptr; }
  void prepare(int count, int /*index*/, int ranks) override {
    kernel_->prepare(count);
    returned_.resize(static_cast<std::size_t>(ranks));
  }

  Shared share_out(const ForceArgs& args, std::span<const Part> parts) override {
    const auto bodies = std::as_bytes(std::span{args.bodies, static_cast<std::size_t>(args.count)});
    std::span<const std::byte> targets;
    if (args.targets) {
      targets = std::as_bytes(std::span{args.targets.indices, static_cast<std::size_t>(args.targets.count)});
    }
    shared_.assign(bodies.begin(), bodies.end());
    shared_.insert(shared_.end(), targets.begin(), targets.end());
    list_targets(args.targets, args.count);
    evaluate_part(args, parts.front());
    return {.sizes = {bodies.size(), targets.size()}, .bytes = shared_};
  }
  std::span<std::byte> place(const ForceArgs& args, const Part& part) override {
    std::vector<Vec4>& place = returned_[static_cast<std::size_t>(part.index)];
    place.resize(targets_of(args, part).size());
    return std::as_writable_bytes(std::span{place});
  }
  void wait() override {}
  void join(const ForceArgs& args, std::span<const Part> parts) override {
    for (const Part& part : parts.subspan(1)) {
      const std::vector<Vec4>& found = returned_[static_cast<std::size_t>(part.index)];
      const std::span<const int> targets = targets_of(args, part);
      for (std::size_t k = 0; k < targets.size(); ++k) {
        args.epilogue.finish(targets[k], args.bodies[targets[k]].w, Vec3{found[k].x, found[k].y, found[k].z});
      }
    }
  }

  void take_room(std::size_t bytes) override { shared_.resize(std::max(shared_.size(), bytes)); }
  std::span<std::byte> room(std::size_t bytes) override {
    if (bytes > shared_.size()) throw std::logic_error("nobody has asked for so much room");
    return std::span{shared_}.first(bytes);
  }
  std::span<const std::byte> evaluate(const ForceArgs& args, std::span<const std::size_t> sizes,
                                      std::span<const Part> /*parts*/, const Part& own) override {
    bodies_.resize(static_cast<std::size_t>(args.count));
    std::vector<int> listed(sizes[1] / sizeof(int));
    std::memcpy(bodies_.data(), shared_.data(), sizes[0]);
    if (!listed.empty()) std::memcpy(listed.data(), shared_.data() + sizes[0], sizes[1]);
    list_targets({.indices = args.targets ? listed.data() : nullptr, .count = args.targets.count}, args.count);
    accelerations_.resize(bodies_.size());
    ForceArgs here = args;
    here.bodies = bodies_.data();
    here.epilogue = {.accelerations = accelerations_.data()};
    evaluate_part(here, own);
    found_.clear();
    for (const int target : targets_of(args, own)) found_.push_back(accelerations_[static_cast<std::size_t>(target)]);
    return std::as_bytes(std::span{found_});
  }

 private:
  void list_targets(const Targets& targets, int count) {
    targets_.resize(static_cast<std::size_t>(targets ? targets.count : count));
    for (std::size_t k = 0; k < targets_.size(); ++k) targets_[k] = targets.body(static_cast<int>(k));
  }
  std::span<const int> targets_of(const ForceArgs& args, const Part& part) const {
    const auto first = static_cast<std::size_t>(part.first(args.target_count()));
    return std::span{targets_}.subspan(first, static_cast<std::size_t>(part.last(args.target_count())) - first);
  }
  void evaluate_part(ForceArgs args, const Part& part) {
    const std::span<const int> own = targets_of(args, part);
    if (own.empty()) return;
    args.targets = {.indices = own.data(), .count = static_cast<int>(own.size())};
    kernel_->evaluate(args);
  }

  std::unique_ptr<ForceKernel> kernel_;
  std::vector<std::byte> shared_;
  std::vector<int> targets_;
  std::vector<Vec4> bodies_, accelerations_, found_;
  std::vector<std::vector<Vec4>> returned_;  // by rank
  std::optional<HostConnected> connected_;
};

/// As if the host had so many devices, all alike. `opened`: which was opened at each place. `nccl`: null if no rank has
/// it. The ranks of one host are all ranks.
class HostDevice final : public RankDevice {
 public:
  HostDevice(int devices, std::vector<std::atomic<int>>& opened, HostNccl* nccl)
      : devices_{devices}, opened_{opened}, nccl_{nccl} {}

  RankDeviceFacts open(const DevicesOfRanks& which, int place) override {
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
  std::unique_ptr<HostedDivision> make(const KernelInfo& kernel, const Settings& settings) override {
    return std::make_unique<HostDivision>(kernel.make(settings, nullptr), connection_);
  }

 private:
  int devices_;
  std::vector<std::atomic<int>>& opened_;
  HostNccl* nccl_;
  int rank_ = 0;
  std::shared_ptr<HostConnection> connection_;  // null: there is none
};

}  // namespace orrery::test
