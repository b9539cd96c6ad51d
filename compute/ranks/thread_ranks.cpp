#include "compute/ranks/thread_ranks.h"

#include <algorithm>
#include <stdexcept>

namespace orrery {

class ThreadRanks::Rank final : public Communicator {
 public:
  Rank(ThreadRanks& ranks, int rank) : ranks_{ranks}, rank_{rank} {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ranks_.ranks_.size()); }

  void send(int to, std::span<const std::byte> message) override {
    const std::lock_guard lock{ranks_.mutex_};
    ranks_.mailbox(rank_, to).emplace_back(message.begin(), message.end());
    ranks_.arrived_.notify_all();
  }
  void receive(int from, std::vector<std::byte>& message) override {
    std::unique_lock lock{ranks_.mutex_};
    Mailbox& mailbox = ranks_.mailbox(from, rank_);
    ranks_.arrived_.wait(lock, [&] { return !mailbox.empty(); });
    message = std::move(mailbox.front());
    mailbox.pop_front();
  }
  bool has_message(int from) override {
    const std::lock_guard lock{ranks_.mutex_};
    return !ranks_.mailbox(from, rank_).empty();
  }

  void broadcast(std::span<const std::byte> data) override {
    for (int to = 1; to < size(); ++to) send(to, data);
  }
  void receive_broadcast(std::span<std::byte> data) override {
    std::vector<std::byte> message;
    receive(0, message);
    if (message.size() != data.size()) throw std::logic_error("a broadcast has another size than its receiver expects");
    std::ranges::copy(message, data.begin());
  }

 private:
  ThreadRanks& ranks_;
  int rank_;
};

ThreadRanks::ThreadRanks(int size) : mailboxes_(static_cast<std::size_t>(size * size)) {
  for (int rank = 0; rank < size; ++rank) ranks_.push_back(std::make_unique<Rank>(*this, rank));
}

ThreadRanks::~ThreadRanks() = default;

ThreadRanks::Mailbox& ThreadRanks::mailbox(int from, int to) {
  return mailboxes_[static_cast<std::size_t>(from) * ranks_.size() + static_cast<std::size_t>(to)];
}

}  // namespace orrery
