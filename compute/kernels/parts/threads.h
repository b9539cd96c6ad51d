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

/// The number of threads that `settings` choose by threads_tunable.
int thread_count(const Settings& settings);

}  // namespace orrery
