#pragma once

#include <cstddef>

namespace orrery {

/// Bytes of each array that no cache of this processor holds: twice the last cache, from 64 to 256 MiB. 0 if less
/// than eight times as much memory is free.
std::size_t uncached_array_bytes();

/// Bytes per second that this many threads read from two arrays and write to a third of this size (McCalpin's triad,
/// STREAM 1995). A processor that reads a line before it writes to it moves a third more. The best of four passes, some
/// 0.2 s with the time to get the memory. 0 for no bytes. Throws std::bad_alloc.
double measure_memory_rate(int threads, std::size_t array_bytes = uncached_array_bytes());

}  // namespace orrery
