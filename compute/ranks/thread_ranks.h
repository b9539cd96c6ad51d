#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "compute/ranks/communicator.h"

namespace orrery {

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
  std::vector<bool> greetings_;                // by sender and receiver
  std::vector<std::unique_ptr<Communicator>> ranks_;
};

}  // namespace orrery
