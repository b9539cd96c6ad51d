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
