#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compute/sim/simulation.h"

namespace orrery {

/// The options that give another process the law of the shown run.
std::vector<std::string> law_arguments(const Law& law);

/// The shown bodies for a thread that checks a kernel with them: the window's thread copies them when that one asks.
class ShownBodies {
 public:
  static constexpr int most = 1 << 20;  ///< more take longer to copy than a frame

  struct Copy {
    Snapshot snapshot;
    Law law;
  };

  /// On the other thread: waits for the copy. None if there are more than `most` bodies, if one is not finite, or if
  /// `cancelled`, called every few ms, returns true. Throws std::runtime_error if they cannot be copied.
  std::optional<Copy> ask(const std::function<bool()>& cancelled);
  /// On the window's thread, between two frames. Not while `auto` measures kernels, which a copy would end; while steps
  /// run, only if that takes long, since a copy waits for them.
  void answer(Simulation& simulation);
  /// Whether a thread waits for the copy: it comes soonest if no new steps are started.
  bool asked() const {
    const std::lock_guard lock{mutex_};
    return asked_.has_value();
  }

 private:
  mutable std::mutex mutex_;  // of all below
  std::condition_variable answered_;
  std::optional<std::chrono::steady_clock::time_point> asked_;  // none: nobody waits
  std::string error_;
  std::optional<Copy> copy_;
};

}  // namespace orrery
