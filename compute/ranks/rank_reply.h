#pragma once

#include <exception>
#include <new>

#include "compute/core/error.h"
#include "compute/core/message.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/communicator.h"
#include "compute/ranks/orders.h"

namespace orrery {

/// A worker's replies to the orders of the leader.
class RankReply {
 public:
  /// `ranks` must outlive this.
  explicit RankReply(Communicator& ranks) : ranks_{ranks} {}

  /// Does the work, and replies with its outcome. `add` puts into message() what follows `done`.
  template <class Work, class Add>
  void after(const Work& work, const Add& add) {
    const auto report = [&](Outcome outcome, const char* why) {
      message_.clear();
      message_.put(outcome);
      message_.put_text(why);
    };
    try {
      work();
      message_.clear();
      message_.put(Outcome::done);
      add();
      ranks_.check_size(message_.bytes().size());
    } catch (const UsageError& error) {
      report(Outcome::refused, error.what());
    } catch (const Stopped& stopped) {
      report(Outcome::stopped, stopped.what());
    } catch (const std::bad_alloc&) {
      report(Outcome::failed, "not enough memory");
    } catch (const std::exception& error) {
      report(Outcome::failed, failure_text(error).c_str());
    }
    ranks_.send(0, message_.bytes());
  }
  template <class Work>
  void after(const Work& work) {
    after(work, [] {});
  }
  void say_that_part_ended() {
    message_.clear();
    message_.put(Outcome::part_ended);
    ranks_.send(0, message_.bytes());
  }
  MessageWriter& message() { return message_; }

 private:
  Communicator& ranks_;
  MessageWriter message_;
};

}  // namespace orrery
