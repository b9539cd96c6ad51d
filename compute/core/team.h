#pragma once

#include <atomic>
#include <functional>

namespace orrery {

/// Hardware threads that this process may run on, >= 1.
int usable_threads();
/// From now on usable_threads() returns at most this many, >= 1: other processes use the rest. Call before kernels are
/// made.
void limit_threads(int most);

/// Calls work(slot) on at most `threads` threads at once: slot 0 on the caller, each other slot up to threads - 1 on a
/// thread that is kept for the caller's next call. A helper that has not started when slot 0 returns is skipped: no one
/// waits for a thread without a processor. So `work` must take shares until none is left, and may be called twice for a
/// slot. Idle threads sleep after about 50 us. All treat subnormals as the caller does. An exception out of `work` ends
/// the program.
void run_team(int threads, const std::function<void(int slot)>& work);

/// Calls rows(first, last) for chunks that cover [0, count), each of `chunk` rows (the last perhaps fewer), on a team
/// of at most `threads` threads, each of which takes the next chunk when it is free. Once `cancelled` (may be null) is
/// set no further chunks are handed out, and `rows` should return at once.
void for_each_chunk(int count, int chunk, int threads, const std::atomic<bool>* cancelled,
                    const std::function<void(int first, int last)>& rows);

}  // namespace orrery
