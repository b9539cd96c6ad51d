#pragma once

#include "compute/kernels/parts/threads.h"

namespace orrery {

/// threads_tunable of kernels whose order of additions, and so the last bits of their forces, depends on the number of
/// threads.
inline constexpr Tunable deciding_threads_tunable = [] {
  Tunable tunable = threads_tunable;
  tunable.notes =
      "Threads; auto takes every hardware thread that this process may run on. Another number changes the order of "
      "the additions, and with it the last digits.";
  tunable.decides_digits = true;
  return tunable;
}();

/// `values` of the kernel's settings with the number of threads that `auto` takes here, if its bits depend on that: a
/// run that continues on another machine then has the same bits.
inline Settings::Values with_decided_threads(const KernelInfo& kernel, Settings::Values values) {
  const Tunable* const threads = kernel.tunable(deciding_threads_tunable.name);
  if (threads && threads->decides_digits) {
    values.insert_or_assign(threads->name, std::to_string(thread_count(Settings{kernel, values})));
  }
  return values;
}

}  // namespace orrery
