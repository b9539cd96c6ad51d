#pragma once

#include <functional>

#include "compute/kernels/kernel.h"

namespace orrery {

inline constexpr const char* thread_values[] = {"auto", "1", "2", "4", "8", "16", "32", "64", "128"};
inline constexpr Tunable threads_tunable{
    .name = "threads",
    .notes = "OpenMP threads; auto takes every hardware thread that this process may run on.",
    .values = thread_values,
    .initial = "auto"};

/// Hardware threads that this process may run on.
int usable_threads();

/// The threads that `settings` ask for, by threads_tunable.
int thread_count(const Settings& settings);

/// Calls rows(first, last) for chunks that cover [0, count), each of `chunk` rows (the last perhaps fewer), by OpenMP's
/// dynamic schedule on at most `threads` threads, each of which takes its chunks in ascending order. No exception may
/// leave a parallel region: one out of `rows` ends the program. Once `cancelled` is set, `rows` should return at once,
/// and few further chunks are handed out.
void for_each_chunk(int count, int chunk, int threads, const std::atomic<bool>* cancelled,
                    const std::function<void(int, int)>& rows);

}  // namespace orrery
