#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compute/core/threads.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/communicator.h"

namespace orrery {

/// For loops that wait for another rank: pause() yields at first, and then sleeps for a part of what it has waited, so
/// that a rank that has nothing to do leaves its processor to others.
class Patience {
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

/// Ends all waiting for other ranks, once and for good. Any thread may check it.
class Interruption {
 public:
  /// Call at most once.
  void set(std::string why) {
    why_ = std::move(why);
    set_ = true;
  }
  explicit operator bool() const { return set_; }
  void check() const {
    if (set_) throw std::runtime_error(why_);
  }

 private:
  std::string why_;  // before set_: complete once that is seen
  std::atomic<bool> set_ = false;
};

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

/// Notices ranks that hang, on a thread of its own in every rank. The leader and the workers greet each other. A rank
/// is lost if its process is silent, or if its part of the work takes far longer than those of the others.
class RankWatch {
 public:
  /// Times are numbers of ticks in which this process ran: a job that is suspended as a whole may go on.
  struct Limits {
    std::chrono::milliseconds tick{250};
    int silence = 24;    ///< of a rank that is lost then
    int doubt = 4;       ///< of a rank that seems overdue: then its silence decides
    int overdue = 24;    ///< a part that takes so long and in addition ...
    int times = 10;      ///< ... so many times as long as the slowest other part
    int early = 8;       ///< a reply of a rank for which the leader waits in an exchange
    int surrender = 12;  ///< after an interruption that did not end the leader
  };
  /// Prints why and ends this process. Called by the watching thread.
  using GiveUp = std::function<void(const std::string& why)>;

  /// `ranks` must outlive this. If a worker is lost, the leader is interrupted, and gives up if that did not end it. If
  /// the leader is lost, the workers give up: rank 1 first, so that one line is printed.
  RankWatch(Communicator& ranks, GiveUp give_up, const Limits& limits);
  RankWatch(Communicator& ranks, GiveUp give_up) : RankWatch{ranks, std::move(give_up), Limits{}} {}

  /// Ranks 0 and up begin their parts of one piece of work, each of which ends with a message to rank 0. Parts that are
  /// not `long` end at once and are no measure of others. Only the leader calls this.
  void begin_parts(const std::vector<bool>& long_parts);
  void end_part(int rank);
  /// Its work has ended, and is a measure of the other parts; but its part goes on, since it waits for data of others.
  void note_work(int rank);
  /// Likewise: the leader ends its part, and waits for a message of each rank that is no reply. A rank that replies has
  /// left its part by an error, and the others would wait for it for ever.
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
  std::vector<int> silent_;  // ticks since the last greeting, by rank
  int surrender_ = 0;        // ticks from the loss to giving up
  std::string why_;          // a rank was lost; otherwise empty
  int since_loss_ = 0;       // ticks

  std::mutex mutex_;  // guards the parts
  std::condition_variable_any stopped_;
  std::vector<Part> parts_;  // by rank
  int part_ticks_ = 0;       // since the parts began
  int slowest_ended_ = -1;   // ticks of the slowest long part that has ended; -1: none has
  bool in_exchange_ = false;
  int early_ = 0;        // ticks since a reply has come early
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace orrery
