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

/// Pauses for loops that wait for another rank. pause() yields at first, then sleeps for a fraction of the time waited,
/// so that a rank without work leaves its processor to others.
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

/// Ends all waiting for other ranks, irrevocably. Any thread may check it.
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
  std::string why_;  // written before set_, so that it is complete once set_ is seen
  std::atomic<bool> set_ = false;
};

/// Looks for a message from the leader while a worker evaluates. That message can only be Order::cancel.
class CancelWatch {
 public:
  explicit CancelWatch(Communicator& ranks)
      : ranks_{ranks}, thread_{start_thread([this](std::stop_token stop) { watch(stop); })} {}

  /// Watches while it lives. During this, other threads may use the communicator for exchanges only.
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
  /// Returns whether the latest span was cancelled.
  const std::atomic<bool>& cancelled() const { return cancelled_; }
  /// Call within a span. Returns when ended() is true; throws Stopped if cancelled before. Yields instead of sleeping,
  /// as the device would wait for a sleeping host.
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

/// Detects ranks that hang, on a separate thread in every rank. The leader and the workers exchange heartbeats. A rank
/// is lost if its process is silent, or if its part of the work takes far longer than the others' parts.
class RankWatch {
 public:
  /// Limits in ticks during which this process ran, so that a job that was suspended as a whole may continue.
  struct Limits {
    std::chrono::milliseconds tick{250};
    int silence = 24;  ///< longest silence of a living rank
    int doubt = 4;  ///< longest silence of a rank that is lost for being overdue; after a longer one, `silence` decides
    int overdue = 24;    ///< minimum time of an overdue part, to which is added ...
    int times = 10;      ///< ... this multiple of the slowest other part's time
    int early = 8;       ///< longest wait after a rank replied during an exchange
    int surrender = 12;  ///< wait after an interruption that did not end the leader
  };
  /// Prints the reason and ends this process. Called by the watching thread.
  using GiveUp = std::function<void(const std::string& why)>;

  /// `ranks` must outlive this. If a worker is lost, the leader is interrupted; if that does not end it, it gives up.
  /// If the leader is lost, the workers give up: rank 1 first, so that only one line is printed.
  RankWatch(Communicator& ranks, GiveUp give_up, const Limits& limits);
  RankWatch(Communicator& ranks, GiveUp give_up) : RankWatch{ranks, std::move(give_up), Limits{}} {}

  /// Begins the parts of one piece of work on ranks 0 and up, each of which ends with a message to rank 0. Parts that
  /// are not `long` end quickly and are no measure of others. Only the leader calls this.
  void begin_parts(const std::vector<bool>& long_parts);
  void end_part(int rank);
  /// Notes that the rank's work has ended and is a measure of other parts. Its part continues, as it waits for data of
  /// others.
  void note_work(int rank);
  /// Ends the leader's part, which then waits for an exchange message of each rank. A rank that sends a reply instead
  /// has left its part by an error, and the others would wait for it forever. Only the leader calls this.
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
  std::string why_;          // reason if a rank was lost; otherwise empty
  int since_loss_ = 0;       // ticks

  std::mutex mutex_;  // guards the parts
  std::condition_variable_any stopped_;
  std::vector<Part> parts_;  // by rank
  int part_ticks_ = 0;       // since the parts began
  int slowest_ended_ = -1;   // time of the slowest long part that has ended, in ticks; -1: none has
  bool in_exchange_ = false;
  int early_ = 0;        // ticks since a reply has come early
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace orrery
