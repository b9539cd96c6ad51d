#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compute/kernels/rank_device.h"

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

}  // namespace orrery::test
