#pragma once

#include <atomic>
#include <chrono>

namespace orrery {

/// How long a waiting thread spins before it sleeps: about as long as a wake-up takes. Longer spinning would take a
/// processor from threads that have work.
inline constexpr std::chrono::microseconds awake_time{50};

/// Waits until `value` is not `old`, then returns it. Whoever changes it must notify.
template <class T>
T wait_for_change(const std::atomic<T>& value, T old) {
  using Clock = std::chrono::steady_clock;
  for (const auto end = Clock::now() + awake_time; Clock::now() < end;) {
    if (const T now = value.load(); now != old) return now;
  }
  value.wait(old);
  return value.load();
}

}  // namespace orrery
