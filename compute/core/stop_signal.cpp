#include "compute/core/stop_signal.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>

namespace orrery {
namespace {

constexpr int stop_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2};

/// Returns whether the signal only warns of an end. The kernel repeats SIGXCPU every second, so repetitions do not mean
/// impatience.
constexpr bool only_warns(int signal) {
  return signal == SIGXCPU || signal == SIGUSR1 || signal == SIGUSR2;
}

using Clock = std::chrono::steady_clock;

// The command `timeout` and a closing terminal send their signal to the process and to its group: signals within this
// time are one request.
constexpr std::chrono::milliseconds same_request{250};

std::atomic<int> stopped_by{0};         // the signal; 0: none
std::atomic<Clock::rep> stopped_at{0};  // by a signal that does not only warn; 0: never
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<Clock::rep>::is_always_lock_free);

std::atomic<int> group_to_end{0};  // 0: none

std::atomic<pthread_t> held_by{};  // the thread that called hold_stop_signals()
std::atomic<bool> held{false};

sigset_t stop_signal_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : stop_signals) sigaddset(&set, signal);
  return set;
}

void note(int signal) {
  if (held) {  // another thread, whose signals do not outlast an exec()
    pthread_kill(held_by, signal);
    return;
  }
  int none = 0;
  stopped_by.compare_exchange_strong(none, signal);
  if (only_warns(signal)) return;
  const Clock::duration now = Clock::now().time_since_epoch();
  Clock::rep first = 0;
  if (!stopped_at.compare_exchange_strong(first, now.count()) && now - Clock::duration{first} > same_request) {
    if (const int group = group_to_end; group > 0) kill(-group, SIGKILL);
    ::signal(signal, SIG_DFL);
    raise(signal);
  }
}

}  // namespace

/// Handlers are set without SA_RESTART, so that a blocking call, such as open() of a pipe without a reader, returns.
void watch_stop_signals() {
  for (const int signal : stop_signals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    const bool may_be_off = signal == SIGHUP || only_warns(signal);  // nohup, or a batch script
    if (may_be_off && before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = note;
    sigaction(signal, &action, nullptr);
  }
}

void ignore_stop_signals() {
  for (const int signal : stop_signals) ::signal(signal, SIG_IGN);
}

void hold_stop_signals() {
  const sigset_t set = stop_signal_set();
  (void)pthread_sigmask(SIG_BLOCK, &set, nullptr);
  held_by = pthread_self();
  held = true;
}

void take_stop_signals() {
  held = false;
  const sigset_t set = stop_signal_set();
  (void)pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void end_group_with_program(int group) {
  group_to_end = group;
}

bool stop_requested() {
  return stopped_by != 0;
}

int stop_status() {
  return 128 + stopped_by;
}

}  // namespace orrery
