#pragma once

#include <future>
#include <optional>
#include <thread>

#include "compute/sim/kernel_chooser.h"

namespace orrery {

/// A choice that is made on a thread of its own, for a copy of the bodies, with the caller's CUDA device.
class ChoiceUnderWay {
 public:
  /// `chooser` must outlive this. Throws std::runtime_error where no thread can be started.
  ChoiceUnderWay(KernelChooser& chooser, const KernelDemand& demand, Bodies bodies, const Law& law);
  ChoiceUnderWay(const ChoiceUnderWay&) = delete;
  ChoiceUnderWay& operator=(const ChoiceUnderWay&) = delete;

  bool ended() const;
  /// Ends it at its next measurement, and waits for that.
  void abandon();
  /// To be called once, when it has ended. None where it was abandoned. Throws what the chooser did.
  std::optional<KernelChoice> take();

 private:
  Bodies bodies_;
  std::future<KernelChoice> result_;
  std::jthread thread_;  // last: it uses what is above
};

}  // namespace orrery
