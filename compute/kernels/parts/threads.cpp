#include "compute/kernels/parts/threads.h"

namespace orrery {

int thread_count(const Settings& settings) {
  return settings.integer("threads", usable_threads());
}

}  // namespace orrery
