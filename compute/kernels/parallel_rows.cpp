#include "compute/kernels/parallel_rows.h"

#include <omp.h>

#include <algorithm>

namespace orrery {

int usable_threads() {
  return omp_get_num_procs();
}

int thread_count(const Settings& settings) {
  return settings.integer("threads", usable_threads());
}

void for_each_chunk(int count, int chunk, int threads, const std::atomic<bool>* cancelled,
                    const std::function<void(int, int)>& rows) {
  // A worksharing loop cannot be left early, and to hand out ten million chunks takes long even if each is skipped. So
  // one loop covers so many chunks at most; where there are more, a row takes so long that waiting for the last is
  // nothing.
  constexpr int chunks_a_loop = 1 << 15;
  const int chunks = count / chunk + (count % chunk != 0);
  const auto run = [&](int c) noexcept {
    const int first = c * chunk;
    rows(first, first + std::min(chunk, count - first));
  };
  for (int begin = 0; begin < chunks && !(cancelled && *cancelled); begin += chunks_a_loop) {
    const int end = begin + std::min(chunks_a_loop, chunks - begin);
#pragma omp parallel for schedule(monotonic : dynamic) num_threads(std::min(threads, end - begin))
    for (int c = begin; c < end; ++c) run(c);
  }
}

}  // namespace orrery
