#pragma once

#include "compute/ranks/communicator.h"
#include "tests/test.h"

namespace orrery::test {

/// Ranks that are threads of one process, for tests: ThreadSanitizer sees both ends of a message.
class ThreadRanks {
 public:
  /// Messages have at most `most_bytes` bytes.
  explicit ThreadRanks(int size, std::size_t most_bytes = SIZE_MAX);
  ~ThreadRanks();
  /// Returns the communicator for the thread that is this rank. Valid while this object lives.
  Communicator& at(int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }

 private:
  class Rank;
  using Mailbox = std::deque<std::vector<std::byte>>;

  std::size_t pair(int from, int to) const {
    return static_cast<std::size_t>(from) * ranks_.size() + static_cast<std::size_t>(to);
  }

  const std::size_t most_bytes_;
  std::mutex mutex_;  // guards the mailboxes and heartbeats
  std::condition_variable arrived_;
  std::vector<Mailbox> messages_, exchanged_;  // by sender and receiver
  std::vector<bool> heartbeats_;               // by sender and receiver
  std::vector<std::unique_ptr<Communicator>> ranks_;
};

class ThreadRanks::Rank final : public Communicator {
 public:
  Rank(ThreadRanks& ranks, int rank) : ranks_{ranks}, rank_{rank} {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ranks_.ranks_.size()); }
  int place_on_host() const override { return rank_; }

  void check_size(std::size_t bytes) const override {
    if (bytes > ranks_.most_bytes_) throw std::runtime_error("too many bodies for one message");
  }
  void send(int to, std::span<const std::byte> message) override {
    check_size(message.size());
    post(ranks_.messages_, to, message);
  }
  void receive(int from, std::vector<std::byte>& message) override { take(ranks_.messages_, from, message); }
  bool has_message(int from) override { return has_message_in(ranks_.messages_, from); }

  void broadcast(std::span<const std::byte> data) override {
    for (int to = 1; to < size(); ++to) post(ranks_.messages_, to, data);
  }
  void receive_broadcast(std::span<std::byte> data) override {
    std::vector<std::byte> message;
    receive(0, message);
    if (message.size() != data.size()) throw std::logic_error("a broadcast has another size than its receiver expects");
    std::ranges::copy(message, data.begin());
  }

  void exchange_with_progress(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming,
                              const Progress& progress) override {
    const auto index = [](int rank) { return static_cast<std::size_t>(rank); };
    std::vector<int> others;
    for (int rank = 0; rank < size(); ++rank) {
      if (rank != rank_) others.push_back(rank);
    }
    for (const int to : others) check_size(outgoing[index(to)].bytes().size());
    for (const int to : others) post(ranks_.exchanged_, to, outgoing[index(to)].bytes());
    incoming.resize(outgoing.size());
    incoming[index(rank_)].clear();
    while (!others.empty()) {
      const int from = wait_for_any(others, progress.waiting);
      take(ranks_.exchanged_, from, incoming[index(from)]);
      progress.arrived(from);
      std::erase(others, from);
    }
  }

  bool has_empty_message() override {
    const std::lock_guard lock{ranks_.mutex_};
    interruption_.check();
    for (int from = 0; from < size(); ++from) {
      const Mailbox& mailbox = ranks_.exchanged_[ranks_.pair(from, rank_)];
      if (from != rank_ && !mailbox.empty() && mailbox.front().empty()) return true;
    }
    return false;
  }
  bool has_exchange_message(int from) override { return has_message_in(ranks_.exchanged_, from); }
  bool has_unreceived_message(int /*to*/) override { return false; }  // messages are delivered at once

  void send_heartbeat(int to) override {
    const std::lock_guard lock{ranks_.mutex_};
    ranks_.heartbeats_[ranks_.pair(rank_, to)] = true;
  }
  bool has_heartbeat(int from) override {
    const std::lock_guard lock{ranks_.mutex_};
    const std::size_t pair = ranks_.pair(from, rank_);
    const bool was = ranks_.heartbeats_[pair];
    ranks_.heartbeats_[pair] = false;
    return was;
  }
  void interrupt(const std::string& why) override {
    const std::lock_guard lock{ranks_.mutex_};
    interruption_.set(why);
    ranks_.arrived_.notify_all();
  }

 private:
  void post(std::vector<Mailbox>& mailboxes, int to, std::span<const std::byte> message) {
    const std::lock_guard lock{ranks_.mutex_};
    interruption_.check();
    mailboxes[ranks_.pair(rank_, to)].emplace_back(message.begin(), message.end());
    ranks_.arrived_.notify_all();
  }
  bool has_message_in(const std::vector<Mailbox>& mailboxes, int from) {
    const std::lock_guard lock{ranks_.mutex_};
    interruption_.check();
    return !mailboxes[ranks_.pair(from, rank_)].empty();
  }
  void take(std::vector<Mailbox>& mailboxes, int from, std::vector<std::byte>& message) {
    std::unique_lock lock{ranks_.mutex_};
    Mailbox& mailbox = mailboxes[ranks_.pair(from, rank_)];
    ranks_.arrived_.wait(lock, [&] { return !mailbox.empty() || interruption_; });
    interruption_.check();
    message = std::move(mailbox.front());
    mailbox.pop_front();
  }

  /// Blocks until one of these ranks' exchange messages has arrived. Returns its rank.
  int wait_for_any(const std::vector<int>& others, const std::function<void()>& waiting) {
    constexpr std::chrono::milliseconds period{5};
    std::unique_lock lock{ranks_.mutex_};
    auto found = others.end();
    const auto met = [&] {
      found =
          std::ranges::find_if(others, [&](int from) { return !ranks_.exchanged_[ranks_.pair(from, rank_)].empty(); });
      return found != others.end() || interruption_;
    };
    while (!ranks_.arrived_.wait_for(lock, period, met)) {
      lock.unlock();
      waiting();
      lock.lock();
    }
    interruption_.check();
    return *found;
  }

  ThreadRanks& ranks_;
  int rank_;
  Interruption interruption_;
};

inline ThreadRanks::ThreadRanks(int size, std::size_t most_bytes)
    : most_bytes_{most_bytes},
      messages_(static_cast<std::size_t>(size * size)),
      exchanged_(messages_.size()),
      heartbeats_(messages_.size()) {
  for (int rank = 0; rank < size; ++rank) ranks_.push_back(std::make_unique<Rank>(*this, rank));
}

inline ThreadRanks::~ThreadRanks() = default;

}  // namespace orrery::test
