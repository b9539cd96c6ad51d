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

  void connect(int rank) {
    if (rank == connect_fails_in) throw std::runtime_error("a bad cable");
    ++connected_;
  }
  void leave() { --connected_; }

  void share(int to, std::span<const std::byte> data) { put(shared_, to, data); }
  void hand_back(int from, std::span<const std::byte> data) { put(found_, from, data); }
  /// What was shared with a rank, which hands it on.
  std::vector<std::byte> take(int rank, const std::atomic<bool>& stopped) {
    if (rank == fails_in) throw std::runtime_error("a bad day");
    std::vector<std::byte> data = next(shared_, rank, stopped);
    if (rank + 1 < static_cast<int>(versions_.size())) share(rank + 1, data);
    return data;
  }
  std::vector<std::byte> found_by(int rank) { return next(found_, rank, false); }

  std::atomic<int> connect_fails_in = -1, fails_in = -1;  ///< a rank; -1: in none

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

/// The connected way of a HostedDivision, whose memory it uses.
class HostConnected final : public ConnectedDivision {
 public:
  HostConnected(HostedDivision& division, HostNccl& nccl, int rank) : division_{division}, nccl_{nccl}, rank_{rank} {}
  bool is_open() const { return open_; }

  std::vector<std::size_t> share_out(const ForceArgs& args, std::span<const Part> parts) override {
    shared_ = division_.share_out(args, parts);
    return shared_.sizes;
  }
  void evaluate(const ForceArgs& /*args*/, std::span<const Part> /*parts*/) override {
    if (nccl_.fails_in == 0) throw std::runtime_error("a bad day");
    nccl_.share(1, shared_.bytes);
    asked_ = 0;
  }
  /// As if it took a while.
  bool part_ended() override { return ++asked_ > 3; }
  void join(const ForceArgs& args, std::span<const Part> parts) override {
    for (const Part& part : parts.subspan(1)) {
      std::ranges::copy(nccl_.found_by(part.index), division_.place(args, part).begin());
    }
    division_.join(args, parts);
  }
  void evaluate_part(const ForceArgs& args, std::span<const std::size_t> sizes, std::span<const Part> parts,
                     const Part& own, const std::atomic<bool>& stopped) override {
    const std::vector<std::byte> shared = nccl_.take(rank_, stopped);
    division_.take_room(shared.size());
    std::ranges::copy(shared, division_.room(shared.size()).begin());
    nccl_.hand_back(rank_, division_.evaluate(args, sizes, parts, own));
  }
  void disconnect() noexcept override {
    if (std::exchange(open_, false)) nccl_.leave();
  }

 private:
  HostedDivision& division_;
  HostNccl& nccl_;
  int rank_;
  bool open_ = true;
  HostedDivision::Shared shared_;
  int asked_ = 0;
};

/// A division of targets whose device is the host: its kernel is one of the CPU. For all that ranks do without a GPU.
class HostDivision final : public HostedDivision {
 public:
  /// `nccl`: null if rank `rank` is not connected with the others.
  HostDivision(std::unique_ptr<ForceKernel> kernel, HostNccl* nccl, int rank) : kernel_{std::move(kernel)} {
    if (nccl) connected_.emplace(*this, *nccl, rank);
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
    connected_ = false;
    return {.ordinal = ordinal, .uuid = {static_cast<unsigned char>(ordinal)}, .architecture = 90};
  }
  int nccl_version() override { return nccl_ ? nccl_->version(rank_) : 0; }
  ConnectionId new_connection() override { return {.bytes = {'7'}}; }
  void connect(const ConnectionId& id, int rank, int /*ranks*/) override {
    if (id.bytes.front() != '7') throw std::logic_error("this is not what the leader made");
    nccl_->connect(rank);
    connected_ = true;
  }
  void disconnect() noexcept override { connected_ = false; }
  std::unique_ptr<HostedDivision> make(const KernelInfo& kernel, const Settings& settings) override {
    return std::make_unique<HostDivision>(kernel.make(settings, nullptr), connected_ ? nccl_ : nullptr, rank_);
  }

 private:
  int devices_;
  std::vector<std::atomic<int>>& opened_;
  HostNccl* nccl_;
  int rank_ = 0;
  bool connected_ = false;
};

}  // namespace orrery::test
