#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "compute/ranks/communicator.h"
#include "compute/ranks/message.h"

namespace orrery {

/// The leader's end of the messages to and from the workers. Any thread may use it; one exchange runs at a time.
class WorkerLine {
 public:
  /// `ranks` must outlive this.
  explicit WorkerLine(Communicator& ranks);
  WorkerLine(const WorkerLine&) = delete;
  WorkerLine& operator=(const WorkerLine&) = delete;
  /// Ends the workers.
  ~WorkerLine();

  int ranks() const { return ranks_.size(); }

  struct Exchange {
    /// Writes the order for a worker. All are written before the first is sent, so that this may throw.
    std::function<void(int rank, MessageWriter& order)> order;
    /// The leader's own part, while the workers do theirs.
    std::function<void()> own_part;
    /// Reads a worker's reply if its outcome is `done`.
    std::function<void(int rank, MessageReader& reply)> take = [](int, MessageReader&) {};
    const std::atomic<bool>* cancelled = nullptr;  ///< once it is set, the workers stop as well. May be null
  };
  /// Returns when every worker has replied. Throws what the own part threw, or the first worker's error as "rank 2:
  /// ...".
  void exchange(const Exchange& exchange);
  /// Call only in an own part.
  void broadcast(std::span<const std::byte> data) { ranks_.broadcast(data); }
  /// An order without a reply.
  void tell(const MessageWriter& order);

 private:
  void send_to_all(const MessageWriter& order);
  void cancel_once(bool& cancelled);
  void wait_for_reply(int rank, const std::atomic<bool>* stop, bool& cancelled);

  Communicator& ranks_;
  std::mutex mutex_;                   // held during an exchange
  std::vector<MessageWriter> orders_;  // by rank
  std::vector<std::byte> reply_;
};

}  // namespace orrery
