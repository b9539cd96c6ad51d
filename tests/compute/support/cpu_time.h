#pragma once

#include <ctime>

namespace orrery::test {

/// The computing time of all threads of this process until now, in seconds of one processor. Other programs take time
/// from it, never add to it.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace orrery::test
