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

/// Starts a thread that runs `work`, a function of a std::stop_token. Throws std::runtime_error, one line that names
/// what may help, if the system gives no more threads.
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

/// Starts a thread that keeps the promise with what `work` returns or throws. A thread that cannot start is such an
/// exception, too. `promise` must outlive the thread.
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

/// Returns whether the result is there, so that get() does not wait. The future must be valid.
template <class Future>
bool is_ready(const Future& future) {
  return future.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
}

/// Runs `work`, a call that may never return, on a thread of its own, and returns or throws its result. Returns nothing
/// if that takes longer than `limit`: the thread then stays until `work` ends, and `too_late` gets the result. Both
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

/// How long a waiting thread spins before it sleeps: about as long as a wake-up takes. Longer spinning would take a
/// processor from threads that have work.
inline constexpr std::chrono::microseconds awake_time{50};

/// Waits until `value` is not `old`, then returns it. Whoever changes it must notify.
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

/// Makes usable_threads() return at most this many, >= 1: other processes use the rest. Call before kernels are
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

/// How a thread's arithmetic treats numbers below the smallest normal one: 1.2e-38 in float, 2.2e-308 in double.
/// Processors take some hundred cycles for each that they keep. Always `kept` on processors other than x86 and 64-bit
/// ARM.
enum class Subnormals { kept, flushed };

/// The control word of floating-point arithmetic of this thread. A new thread has its creator's.
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

/// Returns how this thread treats them now.
inline Subnormals subnormals_here() {
  return FloatControl::flush != 0 && (FloatControl::get() & FloatControl::flush) == FloatControl::flush
             ? Subnormals::flushed
             : Subnormals::kept;
}

/// Sets how this thread treats them; the destructor restores the former treatment.
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
