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
/// Those that give it the constants of that law, for every law.
std::vector<std::string> law_constants(const Law& law);

/// The shown bodies for a thread that checks a kernel with them: the window's thread copies them when that one asks.
class ShownBodies {
 public:
  static constexpr int most = 1 << 20;  ///< all pairs of more take too long

  struct Copy {
    std::optional<Snapshot> snapshot;  ///< none: see remark
    Law law;
    std::string remark;  ///< which bodies are not in the copy, and why, one line; empty: all are
  };

  /// On the other thread: waits for the copy. Of more than `most` bodies, it has every second one, or every third, and
  /// so on. None if `cancelled`, called every few ms, returns true. Throws std::runtime_error if they cannot be copied.
  std::optional<Copy> ask(const std::function<bool()>& cancelled);
  /// On the window's thread, between two frames. Not while `auto` measures kernels, which a copy would end, nor while
  /// steps run on a GPU, for which it would wait. A step that takes long on the processor is cancelled.
  void answer(Simulation& simulation);
  /// Whether a thread waits for the copy: it comes soonest if no new steps are started.
  bool asked() const {
    const std::lock_guard lock{mutex_};
    return asked_.has_value();
  }

 private:
  std::optional<Copy> wait_for_copy(const std::function<bool()>& cancelled);

  mutable std::mutex mutex_;  // of all below
  std::condition_variable answered_;
  std::optional<std::chrono::steady_clock::time_point> asked_;  // none: nobody waits
  std::string error_;
  std::optional<Copy> copy_;
};

}  // namespace orrery
