#pragma once

#include <omp.h>

#include <algorithm>

#include "compute/kernels/kernel.h"

namespace orrery {

inline constexpr const char* thread_values[] = {"auto", "1", "2", "4", "8", "16", "32", "64", "128"};
inline constexpr Tunable threads_tunable{
    .name = "threads",
    .notes = "OpenMP threads; auto takes every hardware thread that this process may run on.",
    .values = thread_values,
    .initial = "auto"};

/// The threads that `settings` ask for, by threads_tunable.
inline int thread_count(const Settings& settings) { return settings.integer("threads", omp_get_num_procs()); }

/// Calls rows(first, last) for chunks that cover [0, count), each of `chunk` rows (the last perhaps fewer), by OpenMP's
/// dynamic schedule. `rows` must not throw: no exception may leave a parallel region. Once `stopped()` is true `rows`
/// should return at once, and few further chunks are handed out.
template <class Rows, class Stopped>
void for_each_chunk(int count, int chunk, int threads, Rows rows, Stopped stopped) {
  static_assert(noexcept(rows(0, 0)));
  // A worksharing loop cannot be left early, and ten million chunks take long to hand out even if each is skipped. So
  // one loop covers so many chunks at most; a million-body row takes so long that its end costs nothing.
  constexpr int chunks_a_loop = 1 << 15;
  const int chunks = count / chunk + (count % chunk != 0);
  for (int begin = 0; begin < chunks && !stopped(); begin += chunks_a_loop) {
    const int end = begin + std::min(chunks_a_loop, chunks - begin);
#pragma omp parallel for schedule(dynamic) num_threads(std::min(threads, end - begin))
    for (int c = begin; c < end; ++c) {
      const int first = c * chunk;
      rows(first, first + std::min(chunk, count - first));
    }
  }
}

}  // namespace orrery
