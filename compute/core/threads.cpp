#include "compute/core/threads.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace orrery {
namespace {

/// Team of a thread that calls run_team() and the threads that help it.
class Team {
 public:
  Team() = default;
  ~Team() {
    ended_ = true;
    ++call_;
    call_.notify_all();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void run(int threads, const std::function<void(int)>& work) noexcept {
    grow(threads - 1);
    work_ = &work;
    threads_ = threads;
    subnormals_ = subnormals_here();
    busy_ = 0;
    ++call_;
    call_.notify_all();
    work(0);
    for (int busy = busy_.fetch_or(closed) | closed; busy != closed;) busy = wait_for_change(busy_, busy);
  }

 private:
  static constexpr int closed = 1 << 30;  ///< bit of busy_: no further helper may join

  /// Starts helpers. If the system gives no more threads, the existing ones do the work.
  void grow(int helpers) {
    try {
      while (static_cast<int>(helpers_.size()) < helpers) {
        helpers_.emplace_back([this, slot = static_cast<int>(helpers_.size()) + 1] { help(slot); });
      }
    } catch (const std::system_error&) {
    }
  }

  void help(int slot) noexcept {
    for (unsigned seen = 0;;) {
      seen = wait_for_change(call_, seen);
      if (ended_) return;
      if (!join()) continue;
      seen = call_;  // the call that it joined may be later than the one it saw
      if (slot < threads_) {
        const WithSubnormals as_the_caller{subnormals_};
        (*work_)(slot);
      }
      if (busy_.fetch_sub(1) == closed + 1) busy_.notify_one();
    }
  }
  bool join() {
    int busy = busy_;
    while (!(busy & closed)) {
      if (busy_.compare_exchange_weak(busy, busy + 1)) return true;
    }
    return false;
  }

  // The caller writes these while busy_ is `closed`; helpers that have joined read them.
  const std::function<void(int)>* work_ = nullptr;
  int threads_ = 0;
  Subnormals subnormals_ = Subnormals::kept;

  std::atomic<int> busy_ = closed;  ///< number of helpers that have joined, and the bit `closed`
  std::atomic<unsigned> call_ = 0;  ///< number of calls of run()
  std::atomic<bool> ended_ = false;
  std::vector<std::jthread> helpers_;  ///< declared last, because the threads use the members above
};

std::atomic<int> most_threads = CPU_SETSIZE;

}  // namespace

int usable_threads() {
  cpu_set_t set;
  const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
  const int all = known ? CPU_COUNT(&set) : static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(all, 1, most_threads.load());
}

void limit_threads(int most) {
  most_threads = most;
}

void run_team(int threads, const std::function<void(int slot)>& work) {
  if (threads <= 1) return work(0);
  thread_local Team team;
  team.run(threads, work);
}

void for_each_chunk(int count, int chunk, int threads, const std::atomic<bool>* cancelled,
                    const std::function<void(int, int)>& rows) {
  const int chunks = count / chunk + (count % chunk != 0);
  std::atomic<std::int64_t> next = 0;  // 64 bits: each thread also increments it once after the last chunk
  run_team(std::min(threads, chunks), [&](int) {
    while (!(cancelled && *cancelled)) {
      const std::int64_t c = next.fetch_add(1);
      if (c >= chunks) return;
      const int first = static_cast<int>(c) * chunk;
      rows(first, first + std::min(chunk, count - first));
    }
  });
}

}  // namespace orrery
