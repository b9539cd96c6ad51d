#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "compute/core/threads.h"

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

}  // namespace orrery
