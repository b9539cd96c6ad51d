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
  /// Place of this rank among those of its host, in the order of the ranks, from 0 on.
  virtual int place_on_host() const = 0;

  /// Messages from one rank to another arrive in their order. May wait until `to` receives.
  virtual void send(int to, std::span<const std::byte> message) = 0;
  /// Waits for the next message from a rank and replaces `message` by it.
  virtual void receive(int from, std::vector<std::byte>& message) = 0;
  /// Whether a message from this rank has arrived.
  virtual bool has_message(int from) = 0;

  /// Sends data from rank 0 to all others, each of which calls receive_broadcast() with as many bytes.
  virtual void broadcast(std::span<const std::byte> data) = 0;
  virtual void receive_broadcast(std::span<std::byte> data) = 0;

  /// What an exchange calls meanwhile.
  struct Progress {
    std::function<void(int from)> arrived = [](int) {};  ///< when the message of this rank is there
    std::function<void()> waiting = [] {};               ///< every few ms while none is there
  };
  /// RankExchange::exchange() that calls these. Neither receive() nor has_message() sees its messages. Only one thread
  /// of each rank may call it.
  virtual void exchange_noting(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming,
                               const Progress& progress) = 0;
  /// Whether a message of this rank waits to be received by exchange_noting(). Any thread may ask.
  virtual bool has_exchange_message(int from) = 0;
  /// Whether this rank has not yet taken a message that exchange_noting() sends it. Any thread may ask.
  virtual bool has_untaken_message(int to) = 0;
  void exchange(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming) final {
    exchange_noting(outgoing, incoming, {});
  }

  /// Sends a sign of life. Never waits.
  virtual void greet(int to) = 0;
  /// Whether a sign of life of this rank has arrived since the last call.
  virtual bool was_greeted(int from) = 0;

  /// Another rank is lost: from now on, what sends, receives or looks for messages throws std::runtime_error{why}, and
  /// so do calls that wait now. Call at most once. The process then cannot leave MPI in order: end it by std::_Exit().
  virtual void interrupt(const std::string& why) = 0;
};

}  // namespace orrery
