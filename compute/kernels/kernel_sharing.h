// Ranks that share the evaluations of kernels: messages between them, and kernels that they evaluate together.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute/core/message.h"
#include "compute/kernels/kernel.h"

namespace orrery {

struct RankDeviceSelection;

/// Exchange of messages between the ranks that evaluate together, as one of them sees it.
class RankExchange {
 public:
  virtual ~RankExchange() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;  ///< number of ranks
  /// Exchanges messages; every rank calls this. Sends outgoing[r] to each other rank r, and sets incoming[r] to the
  /// message from r. Both have size() entries; the entry of this rank is not used. Messages may be empty.
  virtual void exchange(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming) = 0;
  /// Throws std::runtime_error if `bytes` is too large for a message.
  virtual void check_size(std::size_t /*bytes*/) const {}
  /// Returns whether another rank has already sent an empty message for the next exchange.
  virtual bool has_empty_message() = 0;
};

/// Work of several ranks that exchange messages. A rank that fails or is cancelled still takes part in all later
/// exchanges, with empty messages. So no rank waits forever, and the others stop, too.
class CollectiveWork {
 public:
  /// `ranks` and `cancelled` must outlive this object; `cancelled` may be null.
  CollectiveWork(RankExchange& ranks, const std::atomic<bool>* cancelled)
      : ranks_{ranks}, cancelled_{cancelled}, outgoing_(static_cast<std::size_t>(ranks.size())) {}

  int rank() const { return ranks_.rank(); }
  int size() const { return ranks_.size(); }
  const std::atomic<bool>* cancelled() const { return cancelled_; }
  /// Returns whether the work continues: as far as this rank knows, no rank has failed or was cancelled.
  bool ok() const { return !failure_ && !stopped_ && !(cancelled_ && *cancelled_); }

  /// Calls `work` if ok(). Keeps an exception that it throws for finish().
  template <class Work>
  void attempt(const Work& work) {
    if (!ok()) return;
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

  /// Returns the message for a rank in the next exchange. While ok(), no message may remain empty.
  MessageWriter& to(int rank) { return outgoing_[static_cast<std::size_t>(rank)]; }
  template <class T>
  void put_for_all(const T& value) {
    for_each_other([&](int rank) { to(rank).put(value); });
  }
  template <class T>
  void put_all_for_all(const std::vector<T>& values) {
    for_each_other([&](int rank) { to(rank).put_all(values); });
  }
  /// Allocates memory to receive one message of up to `bytes` bytes from each rank, so that exchange() needs no more.
  void reserve(std::size_t bytes) {
    incoming_.resize(outgoing_.size());
    for_each_other([&](int rank) { incoming_[static_cast<std::size_t>(rank)].reserve(bytes); });
  }
  /// Exchanges the messages. Every rank calls this. Returns whether all ranks sent their messages: all ranks get the
  /// same answer, so they can decide by it whether to make further exchanges.
  bool exchange();
  /// Returns whether another rank has already reported, by an empty message, that it failed or was cancelled. Call
  /// between two exchanges.
  bool others_stop() const { return ranks_.has_empty_message(); }
  /// Returns the message of a rank in the latest exchange.
  MessageReader from(int rank) const { return MessageReader{incoming_[static_cast<std::size_t>(rank)]}; }

  /// Combines a value with the values of all other ranks, in any order. Every rank calls this. Returns whether
  /// exchange() succeeded.
  template <class T, class Combine>
  bool reduce(T& value, const Combine& combine) {
    attempt([&] { put_for_all(value); });
    if (!exchange()) return false;
    for_each_other([&](int rank) { combine(value, from(rank).get<T>()); });
    return true;
  }

  /// Returns the total time that this rank has waited for others in exchanges.
  std::chrono::steady_clock::duration waited() const { return waited_; }
  /// Throws the error of this rank. Returns whether all work was done; false: a rank was cancelled, or
  /// another rank failed.
  bool finish() const {
    if (failure_) std::rethrow_exception(failure_);
    return ok();
  }

 private:
  RankExchange& ranks_;
  const std::atomic<bool>* cancelled_;
  std::exception_ptr failure_;
  bool stopped_ = false;  // a rank sent an empty message: it failed or was cancelled
  std::vector<MessageWriter> outgoing_;
  std::vector<std::vector<std::byte>> incoming_;
  std::chrono::steady_clock::duration waited_{};
};

/// Returns whether several CUDA devices of one process can divide the evaluations of a kernel.
bool devices_can_divide(const KernelInfo& kernel);
/// Returns why `ranks` ranks cannot share the evaluations of a kernel, one line; empty if they can.
std::string why_not_shared(const KernelInfo& kernel, int ranks);

/// Group of processes, the ranks, that share each evaluation of a kernel. This process is one of them.
class KernelSharing {
 public:
  virtual ~KernelSharing() = default;
  /// Returns the number of ranks, at least 2.
  virtual int ranks() const = 0;
  /// Opens a CUDA device in each rank, unless the latest call opened the same ones. Returns the ordinal of this rank's
  /// device. Throws as check_devices(), and as RankDevice::open() in any of the ranks.
  virtual int open_devices(const RankDeviceSelection& which) = 0;
  /// Returns a kernel whose evaluations all ranks share, each a part; a CUDA kernel runs on these devices. Call only if
  /// why_not_shared() returns no reason. This object must outlive the kernel. Throws as KernelInfo::make() and
  /// open_devices().
  virtual std::unique_ptr<ForceKernel> make(const KernelInfo& kernel, const Settings& settings,
                                            const RankDeviceSelection& devices) = 0;
  /// Returns the transport of data between the CUDA devices of the ranks: "NCCL 2.28.3", "MPI (rank 2 has no NCCL)", or
  /// "MPI (NCCL 2.28.3 was lost)" until make() connects the devices again. Empty until make() was called for a CUDA
  /// kernel.
  virtual std::string transport() const = 0;
};

}  // namespace orrery
