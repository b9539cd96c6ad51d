#include "compute/ranks/thread_ranks.h"

#include <algorithm>
#include <stdexcept>

#include "compute/ranks/interruption.h"

namespace orrery {

class ThreadRanks::Rank final : public Communicator {
 public:
  Rank(ThreadRanks& ranks, int rank) : ranks_{ranks}, rank_{rank} {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ranks_.ranks_.size()); }

  void send(int to, std::span<const std::byte> message) override {
    const std::lock_guard lock{ranks_.mutex_};
    interruption_.check();
    ranks_.mailbox(rank_, to).emplace_back(message.begin(), message.end());
    ranks_.arrived_.notify_all();
  }
  void receive(int from, std::vector<std::byte>& message) override {
    std::unique_lock lock{ranks_.mutex_};
    Mailbox& mailbox = ranks_.mailbox(from, rank_);
    ranks_.arrived_.wait(lock, [&] { return !mailbox.empty() || interruption_; });
    interruption_.check();
    message = std::move(mailbox.front());
    mailbox.pop_front();
  }
  bool has_message(int from) override {
    const std::lock_guard lock{ranks_.mutex_};
    interruption_.check();
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

  void greet(int to) override {
    const std::lock_guard lock{ranks_.mutex_};
    ranks_.greetings_[ranks_.pair(rank_, to)] = true;
  }
  bool was_greeted(int from) override {
    const std::lock_guard lock{ranks_.mutex_};
    const std::size_t pair = ranks_.pair(from, rank_);
    const bool was = ranks_.greetings_[pair];
    ranks_.greetings_[pair] = false;
    return was;
  }
  void interrupt(const std::string& why) override {
    const std::lock_guard lock{ranks_.mutex_};
    interruption_.set(why);
    ranks_.arrived_.notify_all();
  }

 private:
  ThreadRanks& ranks_;
  int rank_;
  Interruption interruption_;
};

ThreadRanks::ThreadRanks(int size) : mailboxes_(static_cast<std::size_t>(size * size)), greetings_(mailboxes_.size()) {
  for (int rank = 0; rank < size; ++rank) ranks_.push_back(std::make_unique<Rank>(*this, rank));
}

ThreadRanks::~ThreadRanks() = default;

}  // namespace orrery
