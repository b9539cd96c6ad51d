#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <span>
#include <vector>

#include "compute/core/message.h"

namespace orrery {

/// The ranks among which the bodies of an evaluation are spread, as one of them sees them.
class RankExchange {
 public:
  virtual ~RankExchange() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;  ///< number of ranks
  /// Every rank calls this: outgoing[r] goes to each other rank r, and incoming[r] becomes what r sent to this rank.
  /// Both have size() entries; those of this rank are not used. Messages may be empty.
  virtual void exchange(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming) = 0;
  /// Throws std::runtime_error if no message may have so many bytes.
  virtual void check_size(std::size_t /*bytes*/) const {}
  /// Returns whether the message of another rank for the next exchange is there, and is empty.
  virtual bool has_empty_message() = 0;
};

/// Work of several ranks that exchange messages. A rank that fails or is cancelled takes part in all exchanges that
/// follow, with empty messages: so no rank waits for it, and the others stop as well.
class JointWork {
 public:
  /// Both must outlive this; `cancelled` may be null.
  JointWork(RankExchange& ranks, const std::atomic<bool>* cancelled)
      : ranks_{ranks}, cancelled_{cancelled}, outgoing_(static_cast<std::size_t>(ranks.size())) {}

  int rank() const { return ranks_.rank(); }
  int size() const { return ranks_.size(); }
  const std::atomic<bool>* cancelled() const { return cancelled_; }
  /// Returns whether nothing failed, here or elsewhere, as far as this rank knows, and nothing was cancelled.
  bool goes_on() const { return !failure_ && !stopped_ && !(cancelled_ && *cancelled_); }

  /// Does the work if goes_on(). What it throws is kept for finish().
  template <class Work>
  void attempt(const Work& work) {
    if (!goes_on()) return;
    try {
      work();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  template <class Use>
  void for_each_other(const Use& use) const {
    for (int rank = 0; rank < size(); ++rank) {
      if (rank != this->rank()) use(rank);
    }
  }

  /// The message for a rank in the next exchange. While goes_on(), none may stay empty.
  MessageWriter& to(int rank) { return outgoing_[static_cast<std::size_t>(rank)]; }
  template <class T>
  void put_for_all(const T& value) {
    for_each_other([&](int rank) { to(rank).put(value); });
  }
  template <class T>
  void put_all_for_all(const std::vector<T>& values) {
    for_each_other([&](int rank) { to(rank).put_all(values); });
  }
  /// Takes the memory to receive messages of up to so many bytes, one of each rank: then exchange() needs no more.
  void reserve(std::size_t bytes) {
    incoming_.resize(outgoing_.size());
    for_each_other([&](int rank) { incoming_[static_cast<std::size_t>(rank)].reserve(bytes); });
  }
  /// Every rank calls this. Returns whether all ranks sent what they had to: the same in every rank, which may
  /// therefore decide by it whether it goes on to further exchanges.
  bool exchange();
  /// Between two exchanges: whether another rank has said, by an empty message, that it failed or was cancelled.
  bool others_stop() const { return ranks_.has_empty_message(); }
  /// Returns what a rank sent in the latest exchange.
  MessageReader from(int rank) const { return MessageReader{incoming_[static_cast<std::size_t>(rank)]}; }

  /// Combines a value with those of all other ranks, in any order. Every rank calls this. Returns what exchange() does;
  /// nothing else can fail.
  template <class T, class Combine>
  bool reduce(T& value, const Combine& combine) {
    attempt([&] { put_for_all(value); });
    if (!exchange()) return false;
    for_each_other([&](int rank) { combine(value, from(rank).get<T>()); });
    return true;
  }

  /// Returns how long this rank has waited for others in exchanges.
  std::chrono::steady_clock::duration waited() const { return waited_; }
  /// Throws what failed here. Returns whether all was done: otherwise it was cancelled, or another rank failed.
  bool finish() const {
    if (failure_) std::rethrow_exception(failure_);
    return goes_on();
  }

 private:
  RankExchange& ranks_;
  const std::atomic<bool>* cancelled_;
  std::exception_ptr failure_;
  bool stopped_ = false;  // a rank sent nothing: it failed or was cancelled
  std::vector<MessageWriter> outgoing_;
  std::vector<std::vector<std::byte>> incoming_;
  std::chrono::steady_clock::duration waited_{};
};

}  // namespace orrery
