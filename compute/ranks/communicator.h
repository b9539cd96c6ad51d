#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compute/kernels/joint_work.h"

namespace orrery {

/// One rank's connection to the others, which are processes, or threads in tests. Rank 0 leads. Any thread of a rank
/// may call at any time, but only one may receive from the same rank.
class Communicator : public RankExchange {
 public:
  /// Returns the index of this rank among the ranks of its host, in rank order, from 0.
  virtual int place_on_host() const = 0;

  /// Sends a message. Messages from one rank to another arrive in order. May block until `to` receives.
  virtual void send(int to, std::span<const std::byte> message) = 0;
  /// Blocks until the next message of rank `from` arrives, and replaces `message` by it.
  virtual void receive(int from, std::vector<std::byte>& message) = 0;
  /// Returns whether a message of rank `from` has arrived.
  virtual bool has_message(int from) = 0;

  /// Sends data from rank 0 to all others, each of which calls receive_broadcast() with the same number of bytes.
  virtual void broadcast(std::span<const std::byte> data) = 0;
  virtual void receive_broadcast(std::span<std::byte> data) = 0;

  /// Callbacks of an exchange in progress.
  struct Progress {
    std::function<void(int from)> arrived = [](int) {};  ///< called when the message of this rank has arrived
    std::function<void()> waiting = [] {};               ///< called every few ms while no message has arrived
  };
  /// RankExchange::exchange() with callbacks. receive() and has_message() do not see its messages. Only one thread of
  /// each rank may call it.
  virtual void exchange_noting(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming,
                               const Progress& progress) = 0;
  /// Returns whether a message of this rank is waiting for exchange_noting(). Thread-safe.
  virtual bool has_exchange_message(int from) = 0;
  /// Returns whether rank `to` has not yet received a message that exchange_noting() sends it. Thread-safe.
  virtual bool has_untaken_message(int to) = 0;
  void exchange(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming) final {
    exchange_noting(outgoing, incoming, {});
  }

  /// Sends a heartbeat. Never blocks.
  virtual void greet(int to) = 0;
  /// Returns whether a heartbeat of this rank has arrived since the last call.
  virtual bool was_greeted(int from) = 0;

  /// Call at most once, when another rank is lost. Afterwards, all calls that send, receive or look for messages throw
  /// std::runtime_error{why}, those already waiting included. The process cannot leave MPI in order: end it by
  /// std::_Exit().
  virtual void interrupt(const std::string& why) = 0;
};

}  // namespace orrery
