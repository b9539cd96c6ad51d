#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compute/ranks/communicator.h"

namespace orrery {

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
