#pragma once

#include <future>
#include <optional>
#include <thread>

#include "compute/sim/kernel_chooser.h"

namespace orrery {

/// A choice that is made on its own thread.
class ChoiceInFlight {
 public:
  /// `chooser` must outlive this.
  ChoiceInFlight(KernelChooser& chooser, const KernelDemand& demand, Bodies bodies, const Law& law);
  ChoiceInFlight(const ChoiceInFlight&) = delete;
  ChoiceInFlight& operator=(const ChoiceInFlight&) = delete;

  /// Does nothing the second time, or after cancel(). result() reports a thread that could not start.
  void start();
  bool ended() const;
  /// Returns at once. The choice ends soon after if it was started, and never starts if it was not.
  void cancel();
  /// Call when it has ended. None if it was cancelled. Throws what the chooser threw.
  std::optional<KernelChoice> result() const;

 private:
  KernelChooser& chooser_;
  const KernelDemand demand_;
  Bodies bodies_;
  const Law law_;
  bool started_ = false;
  std::promise<KernelChoice> promise_;
  std::shared_future<KernelChoice> result_ = promise_.get_future().share();
  std::jthread thread_;  // last: it uses what is above
};

}  // namespace orrery
