// Connections between ranks, and the watchdog against ranks that hang.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <stop_token>
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

/// Watchdog against ranks that hang, with a thread in every rank. The leader and the workers exchange heartbeats. A
/// rank is lost if it sends no heartbeat, or if its part of the work takes far longer than the other parts.
class RankWatch {
 public:
  /// Time limits, in ticks of the watching thread. While a whole job is suspended, there are no ticks, so no rank is
  /// lost.
  struct Limits {
    std::chrono::milliseconds tick{250};
    int silence = 24;    ///< a rank is lost if it sends no heartbeat for longer
    int doubt = 4;       ///< a rank without a heartbeat for longer is not lost by `overdue`, only by `silence`
    int overdue = 24;    ///< a part is overdue if it takes longer than this ...
    int times = 10;      ///< ... plus this multiple of the time of the slowest other part
    int early = 8;       ///< a rank that has replied during an exchange is lost if nothing changes for longer
    int surrender = 12;  ///< the process ends if an interruption has not ended the leader after this wait
  };
  /// Prints the reason and ends this process. Called by the watching thread.
  using GiveUp = std::function<void(const std::string& why)>;

  /// Starts to watch. `ranks` must outlive this object. If a worker is lost, interrupts the leader, and calls `give_up`
  /// if the leader does not end. If the leader is lost, the workers call `give_up`: rank 1 first, so that only one line
  /// is printed.
  RankWatch(Communicator& ranks, GiveUp give_up, const Limits& limits);
  RankWatch(Communicator& ranks, GiveUp give_up) : RankWatch{ranks, std::move(give_up), Limits{}} {}

  /// Records that all ranks begin their parts of one piece of work. Each part ends with a message to rank 0.
  /// `long_parts`, one entry per rank: whether the time of its part sets a limit for the others. Only the leader calls
  /// this.
  void begin_parts(const std::vector<bool>& long_parts);
  /// Records that a rank's part has ended.
  void end_part(int rank);
  /// Records that a rank only waits for data of other ranks. Its time so far sets a limit for them; its own part
  /// continues.
  void note_work(int rank);
  /// Ends the leader's part, which now waits for an exchange message of each rank. A rank that replies instead has
  /// failed. It counts as lost, because the others would wait for it forever. Only the leader calls this.
  void begin_exchange();

 private:
  enum class Part { ended, short_part, long_part };

  void watch(const std::stop_token& stop);
  void tick();
  void look_for_silence();
  void look_for_overdue_parts();
  void look_for_early_replies();
  void end_part_locked(int rank);
  void lose(int rank, const std::string& cause);
  std::string seconds(int ticks) const;

  Communicator& ranks_;
  GiveUp give_up_;
  Limits limits_;
  std::vector<int> peers_;
  std::vector<int> silent_;  // ticks since the last heartbeat, by rank
  int surrender_ = 0;        // ticks between the loss and the call of give_up_
  std::string why_;          // reason if a rank was lost; otherwise empty
  int since_loss_ = 0;       // ticks since the loss

  std::mutex mutex_;  // guards the parts
  std::condition_variable_any stopped_;
  std::vector<Part> parts_;  // one entry per rank
  int part_ticks_ = 0;       // ticks since the parts began
  int slowest_ended_ = -1;   // time of the slowest long part that has ended, in ticks; -1: none has
  bool in_exchange_ = false;
  int early_ = 0;        // ticks since a rank replied during an exchange
  std::jthread thread_;  // last: the thread uses the members above
};

}  // namespace orrery
