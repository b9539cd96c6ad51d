#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "compute/core/threads.h"
#include "compute/kernels/kernel_sharing.h"

namespace orrery {

/// One rank's connection to the other ranks: MPI processes, or threads in tests. Rank 0 is the leader; the others are
/// workers. Thread-safe, but only one thread of a rank may receive from the same rank at a time.
class Communicator : public RankExchange {
 public:
  /// Returns the index of this rank among the ranks of its host, in rank order, from 0.
  virtual int place_on_host() const = 0;

  /// Sends a message. May block until rank `to` receives it. Messages from one rank to another arrive in order.
  virtual void send(int to, std::span<const std::byte> message) = 0;
  /// Blocks until the next message of rank `from` arrives, and stores it in `message`.
  virtual void receive(int from, std::vector<std::byte>& message) = 0;
  /// Returns whether a message of rank `from` can be received without blocking.
  virtual bool has_message(int from) = 0;

  /// Sends data from rank 0 to all workers. Each worker must call receive_broadcast() with the same number of bytes.
  virtual void broadcast(std::span<const std::byte> data) = 0;
  virtual void receive_broadcast(std::span<std::byte> data) = 0;

  /// Callbacks of an exchange in progress.
  struct Progress {
    std::function<void(int from)> arrived = [](int) {};  ///< called when the message of rank `from` has arrived
    std::function<void()> waiting = [] {};               ///< called every few ms while no message has arrived
  };
  /// Exchanges messages as RankExchange::exchange(), and calls the callbacks. receive() and has_message() ignore these
  /// messages. Only one thread of each rank may call it.
  virtual void exchange_with_progress(std::span<const MessageWriter> outgoing,
                                      std::vector<std::vector<std::byte>>& incoming, const Progress& progress) = 0;
  /// Returns whether a message of rank `from` is waiting for exchange_with_progress(). Thread-safe.
  virtual bool has_exchange_message(int from) = 0;
  /// Returns whether rank `to` has not yet received this rank's message of the current exchange. Thread-safe.
  virtual bool has_unreceived_message(int to) = 0;
  void exchange(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming) final {
    exchange_with_progress(outgoing, incoming, {});
  }

  /// Sends a heartbeat. Never blocks.
  virtual void send_heartbeat(int to) = 0;
  /// Returns whether a heartbeat of rank `from` has arrived since the last call.
  virtual bool has_heartbeat(int from) = 0;

  /// Gives up all communication because a rank is lost. Call at most once. From then on, all calls that send, receive
  /// or look for messages throw std::runtime_error{why}, including calls that are blocked now. End the process by
  /// std::_Exit(), because MPI_Finalize() would block.
  virtual void interrupt(const std::string& why) = 0;
};

/// Pauses for loops that poll for another rank. pause() first yields, for about 50 us, then sleeps for a sixteenth of
/// the time waited so far, at most 2 ms. An idle rank thus leaves its processor to others.
class Backoff {
 public:
  void pause() {
    const auto waited = Clock::now() - begin_;
    if (waited < awake_time) return std::this_thread::yield();
    std::this_thread::sleep_for(std::min<Clock::duration>(waited / 16, longest));
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds longest{2};

  Clock::time_point begin_ = Clock::now();
};

/// Flag that ends all waiting for other ranks, with a reason. It cannot be reset. Any thread may read it.
class Interruption {
 public:
  /// Sets the flag. Call at most once.
  void set(std::string why) {
    why_ = std::move(why);
    set_ = true;
  }
  explicit operator bool() const { return set_; }
  /// Throws std::runtime_error with the reason if set.
  void check() const {
    if (set_) throw std::runtime_error(why_);
  }

 private:
  std::string why_;  // written before set_, so that it is complete once set_ is seen
  std::atomic<bool> set_ = false;
};

// Functions with which this process starts as one of several ranks.

/// Returns the MPI library of this build, such as "Open MPI 4.1.4"; empty in a build without MPI.
std::string mpi_library();

/// Returns the number of processes that Open MPI's mpirun started together, including this one; 1 without mpirun.
int launched_ranks();
/// Returns this process's rank among the processes of mpirun; 0 without mpirun.
int launched_rank();

/// Initializes MPI and connects to the other processes, which must do the same; the destructor finalizes MPI. Limits
/// usable_threads() to this rank's share of its host's processors. Child processes start as single ranks. Call at most
/// once, and only if launched_ranks() > 1. Throws std::runtime_error in a build without MPI.
std::unique_ptr<Communicator> join_mpi_ranks();

/// Checks that all ranks run the same program. Collective: call it on every rank, before anything else. `program` names
/// the program and its build. Throws std::runtime_error on rank 0, with both names, if another rank's differs.
void check_same_program(Communicator& ranks, std::string_view program);
/// Checks that all ranks were started with the same arguments, which only rank 0 carries out. Collective: call it on
/// every rank, after check_same_program(). Throws std::runtime_error on rank 0 if they differ.
void check_same_arguments(Communicator& ranks, const std::vector<std::string>& arguments);

}  // namespace orrery
