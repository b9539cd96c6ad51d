#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace orrery {

/// One rank's connection to the others, which are processes, or threads in tests. Rank 0 leads. A rank may call from
/// any of its threads, but from one at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Messages from one rank to another arrive in their order. May wait until `to` receives.
  virtual void send(int to, std::span<const std::byte> message) = 0;
  /// Waits for the next message from a rank and replaces `message` by it.
  virtual void receive(int from, std::vector<std::byte>& message) = 0;
  /// Whether a message from this rank has arrived.
  virtual bool has_message(int from) = 0;

  /// Sends data from rank 0 to all others, each of which calls receive_broadcast() with as many bytes.
  virtual void broadcast(std::span<const std::byte> data) = 0;
  virtual void receive_broadcast(std::span<std::byte> data) = 0;
};

}  // namespace orrery
