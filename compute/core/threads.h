// Threads, futures, teams of threads, and how a thread treats subnormal numbers.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace orrery {

/// Starts a thread that runs `work`, a function of a std::stop_token. If the system permits no more threads, throws
/// std::runtime_error with one line that names what may help.
template <class Work>
std::jthread start_thread(Work&& work) {
  try {
    return std::jthread{std::forward<Work>(work)};
  } catch (const std::system_error& error) {
    throw std::runtime_error(
        "no thread can be started: this user or container may run no more processes and threads "
        "(see ulimit -u): " +
        error.code().message());
  }
}

/// Starts a thread that stores in `promise` what `work` returns or throws. If the thread cannot start, stores that
/// exception. `promise` must outlive the thread.
template <class Result, class Work>
std::jthread start_promised(std::promise<Result>& promise, Work work) {
  try {
    return start_thread([&promise, work = std::move(work)](const std::stop_token& stop) {
      try {
        promise.set_value(work(stop));
      } catch (...) {
        promise.set_exception(std::current_exception());
      }
    });
  } catch (...) {
    promise.set_exception(std::current_exception());
    return {};
  }
}

/// Returns whether the result is available, so that get() does not block. The future must be valid.
template <class Future>
bool is_ready(const Future& future) {
  return future.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
}

/// Runs `work`, a call that may never return, on a separate thread, and returns or throws its result. Returns nothing
/// if that takes longer than `limit`: the thread then stays until `work` ends, and calls too_late(result). Both
/// functions must own what they use. Throws as start_thread().
template <class Result>
std::optional<Result> result_within(std::chrono::milliseconds limit, std::function<Result()> work,
                                    std::function<void(Result&)> too_late) {
  struct Attempt {
    std::promise<Result> promise;
    std::atomic<bool> settled = false;  // set by the thread that has a result, or by the caller who gives up
  };
  const auto attempt = std::make_shared<Attempt>();
  std::future<Result> future = attempt->promise.get_future();
  start_thread([attempt, work = std::move(work), too_late = std::move(too_late)](const std::stop_token&) {
    try {
      Result result = work();
      if (attempt->settled.exchange(true)) return too_late(result);
      attempt->promise.set_value(std::move(result));
    } catch (...) {
      attempt->promise.set_exception(std::current_exception());
    }
  }).detach();
  const bool came = future.wait_for(limit) == std::future_status::ready;
  if (!came && !attempt->settled.exchange(true)) return std::nullopt;
  return future.get();
}

/// Time that a waiting thread spins before it sleeps: about as long as a wake-up takes. Longer spinning would take a
/// processor from threads that have work.
inline constexpr std::chrono::microseconds awake_time{50};

/// Blocks until `value` is not `old`, then returns it. The thread that changes it must notify.
template <class T>
T wait_for_change(const std::atomic<T>& value, T old) {
  using Clock = std::chrono::steady_clock;
  for (const auto end = Clock::now() + awake_time; Clock::now() < end;) {
    if (const T now = value.load(); now != old) return now;
  }
  value.wait(old);
  return value.load();
}

/// Returns the number of hardware threads that this process may run on, >= 1.
int usable_threads();

/// Limits usable_threads() to `most` >= 1, because other processes use the rest. Call before kernels are made.
void limit_threads(int most);

/// Calls work(slot) on at most `threads` threads simultaneously. The caller runs slot 0. Helpers, which are kept for
/// the caller's next call, run slots 1 to threads - 1. A helper that has not started when slot 0 returns is skipped, so
/// that nobody waits for a thread without a processor. So `work` must take shares until none is left, and may be called
/// twice for a slot. Idle helpers sleep after about 50 us. All treat subnormals as the caller does. An exception from
/// `work` ends the program.
void run_team(int threads, const std::function<void(int slot)>& work);

/// Calls rows(first, last) for chunks that cover [0, count), each of `chunk` rows (the last perhaps fewer). A team of
/// at most `threads` threads runs them; each thread takes the next chunk when it is free. Once `cancelled` (may be
/// null) is set, no further chunks are taken, and `rows` should return as soon as possible.
void for_each_chunk(int count, int chunk, int threads, const std::atomic<bool>* cancelled,
                    const std::function<void(int first, int last)>& rows);

/// Treatment of numbers below the smallest normal one, 1.2e-38 in float and 2.2e-308 in double, by a thread's
/// arithmetic. Each operation with a kept subnormal takes some hundred cycles. Always `kept` on processors other than
/// x86 and 64-bit ARM.
enum class Subnormals { kept, flushed };

/// Access to this thread's floating-point control word. A new thread inherits its creator's.
class FloatControl {
 public:
#if defined(__SSE2__)
  using Word = unsigned;
  static constexpr Word flush = 0x8040;  // results (FTZ) and operands (DAZ)
  static Word get() {
    return _mm_getcsr();
  }
  static void set(Word word) {
    _mm_setcsr(word);
  }
#elif defined(__aarch64__)
  using Word = std::uint64_t;
  static constexpr Word flush = Word{1} << 24;  // FZ
  static Word get() {
    Word word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set(Word word) {
    asm volatile("msr fpcr, %0" : : "r"(word));
  }
#else
  using Word = unsigned;
  static constexpr Word flush = 0;
  static Word get() {
    return 0;
  }
  static void set(Word /*word*/) {}
#endif
};

/// Returns the current treatment of subnormals on this thread.
inline Subnormals subnormals_here() {
  return FloatControl::flush != 0 && (FloatControl::get() & FloatControl::flush) == FloatControl::flush
             ? Subnormals::flushed
             : Subnormals::kept;
}

/// Sets the treatment of subnormals on this thread; the destructor restores the former one.
class WithSubnormals {
 public:
  explicit WithSubnormals(Subnormals mode) {
    FloatControl::set(mode == Subnormals::flushed ? before_ | FloatControl::flush : before_ & ~FloatControl::flush);
  }
  ~WithSubnormals() { FloatControl::set(before_); }
  WithSubnormals(const WithSubnormals&) = delete;
  WithSubnormals& operator=(const WithSubnormals&) = delete;

 private:
  FloatControl::Word before_ = FloatControl::get();
};

}  // namespace orrery
