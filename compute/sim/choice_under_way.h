#pragma once

#include <future>
#include <optional>
#include <thread>

#include "compute/sim/kernel_chooser.h"

namespace orrery {

/// A choice that is made on a thread of its own.
class ChoiceUnderWay {
 public:
  /// `chooser` must outlive this.
  ChoiceUnderWay(KernelChooser& chooser, const KernelDemand& demand, Bodies bodies, const Law& law);
  ChoiceUnderWay(const ChoiceUnderWay&) = delete;
  ChoiceUnderWay& operator=(const ChoiceUnderWay&) = delete;

  /// Does nothing the second time. A failure is one of the choice.
  void start();
  bool ended() const;
  /// Ends it at its next measurement, and waits for that.
  void abandon();
  /// To be called once, when it has ended. None where it was abandoned. Throws what the chooser did.
  std::optional<KernelChoice> take();

 private:
  KernelChooser& chooser_;
  const KernelDemand demand_;
  Bodies bodies_;
  const Law law_;
  bool started_ = false;
  std::promise<KernelChoice> promise_;
  std::future<KernelChoice> result_ = promise_.get_future();
  std::jthread thread_;  // last: it uses what is above
};

}  // namespace orrery
