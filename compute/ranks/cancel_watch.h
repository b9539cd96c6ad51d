#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "compute/core/threads.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/communicator.h"

namespace orrery {

/// While a worker evaluates, looks for a message from the leader, which can only be Order::cancel.
class CancelWatch {
 public:
  explicit CancelWatch(Communicator& ranks)
      : ranks_{ranks}, thread_{start_thread([this](std::stop_token stop) { watch(stop); })} {}

  /// Watches as long as it lives. Until then, other threads may use the communicator for exchanges only.
  class Span {
   public:
    explicit Span(CancelWatch& watch) : watch_{watch} {
      watch_.cancelled_ = false;
      watch_.set(true);
    }
    ~Span() { watch_.set(false); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    CancelWatch& watch_;
  };
  /// In the latest span.
  const std::atomic<bool>& cancelled() const { return cancelled_; }
  /// Within a span: returns once ended() is true, and throws Stopped if it is cancelled before. The device would wait
  /// for a host that sleeps.
  template <class Ended>
  void wait_until(const Ended& ended) const {
    while (!ended()) {
      if (cancelled_) throw Stopped{};
      std::this_thread::yield();
    }
  }

 private:
  static constexpr std::chrono::milliseconds period{10};

  void set(bool watching) {
    const std::lock_guard lock{mutex_};
    watching_ = watching;
    changed_.notify_all();
  }
  void watch(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    while (changed_.wait(lock, stop, [this] { return watching_ && !cancelled_; })) {
      if (changed_.wait_for(lock, stop, period, [this] { return !watching_; })) continue;
      if (watching_ && ranks_.has_message(0)) cancelled_ = true;
    }
  }

  Communicator& ranks_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool watching_ = false;
  std::atomic<bool> cancelled_ = false;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace orrery
