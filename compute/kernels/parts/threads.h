#pragma once

#include "compute/core/threads.h"
#include "compute/kernels/dispatch.h"
#include "compute/kernels/kernel.h"

namespace orrery {

inline constexpr Values<1, 2, 4, 8, 16, 32, 64, 128> thread_values;
inline constexpr auto threads_or_auto = thread_values.names_after("auto");

inline constexpr Tunable threads_tunable{
    .name = "threads",
    .notes = "Threads; auto takes every hardware thread that this process may run on.",
    .values = threads_or_auto,
    .initial = "auto",
    .largest = usable_threads,
    .numbers = Range<double>{1, 1024},
    .whole = true};

/// Returns the number of threads that `settings` choose by threads_tunable.
inline int thread_count(const Settings& settings) {
  return settings.integer("threads", usable_threads());
}

/// threads_tunable for kernels whose order of additions, and so the last bits of their forces, depends on the number of
/// threads.
inline constexpr Tunable deciding_threads_tunable = [] {
  Tunable tunable = threads_tunable;
  tunable.notes =
      "Threads; auto takes every hardware thread that this process may run on. Another number changes the order of "
      "the additions, and with it the last digits.";
  tunable.decides_digits = true;
  return tunable;
}();

/// Returns `values` of the kernel's settings with the number of threads that `auto` takes here, if its bits depend on
/// that: a run that continues on another machine then has the same bits.
inline Settings::Values with_decided_threads(const KernelInfo& kernel, Settings::Values values) {
  const Tunable* const threads = kernel.tunable(deciding_threads_tunable.name);
  if (threads && threads->decides_digits) {
    values.insert_or_assign(threads->name, std::to_string(thread_count(Settings{kernel, values})));
  }
  return values;
}

}  // namespace orrery
