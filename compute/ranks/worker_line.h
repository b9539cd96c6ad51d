#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "compute/core/message.h"
#include "compute/ranks/communicator.h"
#include "compute/ranks/rank_watch.h"

namespace orrery {

/// The leader's end of the messages to and from the workers. Any thread may use it; one exchange runs at a time.
class WorkerLine {
 public:
  /// `ranks` and `watch` must outlive this.
  WorkerLine(Communicator& ranks, RankWatch& watch);
  WorkerLine(const WorkerLine&) = delete;
  WorkerLine& operator=(const WorkerLine&) = delete;
  /// Ends the workers, unless end() has.
  ~WorkerLine();

  int ranks() const { return ranks_.size(); }
  /// Ends the workers. Call at most once, and nothing after it. Throws if a rank is lost: see
  /// Communicator::interrupt().
  void end();

  struct Exchange {
    /// Writes the order for a worker. All orders are written before the first is sent, so this may throw.
    std::function<void(int rank, MessageWriter& order)> order;
    /// Does the leader's own part while the workers do theirs.
    std::function<void()> own_part;
    /// Returns whether the own part has ended, for parts that continue after own_part() returns. Polled until it has,
    /// or any part has failed.
    std::function<bool()> own_ended = [] { return true; };
    /// Returns whether the own part's work has ended and it only waits for data of others: see RankWatch::note_work().
    /// Polled too.
    std::function<bool()> own_work_ended = [] { return true; };
    /// Reads a worker's reply if its outcome is `done`.
    std::function<void(int rank, MessageReader& reply)> take = [](int, MessageReader&) {};
    /// Returns whether a rank's part may take long, see RankWatch.
    std::function<bool(int rank)> is_long = [](int) { return true; };
    /// Whether the parts between two exchanges with others() may take long.
    bool is_long_between = true;
    const std::atomic<bool>* cancelled = nullptr;  ///< once set, the workers stop as well. May be null
    /// Called after a failure, before anything else uses the line. Does the leader's cleanup and writes an order
    /// without a reply for all workers. Null: no cleanup and no order.
    std::function<void(MessageWriter& order)> after_failure{};
  };
  /// Blocks until every worker has replied and the own part has ended. Throws the own part's error, or the first
  /// worker's as "rank 2: ...", also if a rank is lost. Errors of ranks that stopped because another failed come last
  /// (Stopped), as do errors of `own_ended`: the cause may be in another rank.
  void exchange(const Exchange& exchange);
  /// Sends data to all workers. Call only in an own part.
  void broadcast(std::span<const std::byte> data) { ranks_.broadcast(data); }
  /// Returns exchanges with all ranks, in which a rank that does not join is noticed. Use only in an own part.
  RankExchange& others() { return others_; }
  /// Sends an order without a reply to all workers. Does nothing if a rank is lost.
  void tell(const MessageWriter& order) noexcept;

 private:
  using Failures = std::map<int, std::exception_ptr>;  // by rank; the first is thrown

  class Others final : public RankExchange {
   public:
    explicit Others(WorkerLine& line) : line_{line} {}
    int rank() const override { return 0; }
    int size() const override { return line_.ranks(); }
    void exchange(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming) override;
    void check_size(std::size_t bytes) const override { line_.ranks_.check_size(bytes); }
    /// Also returns true if a worker has replied, as it joins no further exchange.
    bool has_empty_message() override;

   private:
    WorkerLine& line_;
  };

  void exchange_locked(const Exchange& exchange);
  void send_orders(const Exchange& exchange);
  void begin_own_part(const Exchange& exchange, Failures& failures);
  bool own_part_goes_on(const Exchange& exchange, Failures& failures);
  bool take_reply(int rank, const Exchange& exchange, Failures& failures);
  void clean_up(const Exchange& exchange) noexcept;
  void send_to_all(const MessageWriter& order);
  void cancel_once();
  void cancel_if_wanted();

  Communicator& ranks_;
  RankWatch& watch_;
  Others others_{*this};
  bool ended_ = false;
  std::mutex mutex_;                              // held during an exchange
  const std::atomic<bool>* cancelled_ = nullptr;  // see the current exchange
  bool is_long_between_ = true;                   // see the current exchange
  bool cancel_sent_ = false;                      // in the current exchange
  bool work_noted_ = false;            // whether the end of the leader's work was noted in the current exchange
  std::vector<MessageWriter> orders_;  // by rank
  std::vector<std::byte> reply_;
};

}  // namespace orrery
