#include "compute/core/process.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <system_error>

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// Returns the memory that Linux can provide without swapping, including droppable caches; elsewhere, the free memory.
std::int64_t machine_free_bytes() {
  std::ifstream meminfo{"/proc/meminfo"};
  std::string name, unit;
  for (std::int64_t kib; meminfo >> name >> kib; std::getline(meminfo, unit)) {
    if (name == "MemAvailable:") return kib * 1024;
  }
  const long pages = sysconf(_SC_AVPHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? std::int64_t{pages} * page_bytes : unlimited;
}

/// Names of the files in which one version of control groups stores the limit and the usage.
struct Version {
  const char *folder, *limit, *usage, *dropped_name;
};
constexpr Version v1{"memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr Version v2{"", "memory.max", "memory.current", "inactive_file"};

/// Returns the bytes of file cache that the kernel drops when the group reaches its limit.
std::int64_t droppable_bytes(const fs::path& group, const Version& version) {
  std::ifstream stat{group / "memory.stat"};
  std::string name;
  for (std::int64_t bytes; stat >> name >> bytes;) {
    if (name == version.dropped_name) return bytes;
  }
  return 0;
}

/// Returns the bytes that the group leaves free; `unlimited` if it sets no limit ("max" is no number).
std::int64_t free_bytes(const fs::path& group, const Version& version) {
  std::ifstream limit_file{group / version.limit}, usage_file{group / version.usage};
  std::int64_t limit = 0, usage = 0;
  if (!(limit_file >> limit) || !(usage_file >> usage)) return unlimited;
  return std::clamp<std::int64_t>(limit - usage + droppable_bytes(group, version), 0, limit);
}

/// Returns the smallest number of free bytes of a group and of the groups that contain it. A container may show its own
/// group at the mount instead of at `path`.
std::int64_t least_free_bytes(const fs::path& mount, const std::string& path, const Version& version) {
  std::int64_t least = free_bytes(mount / version.folder, version);
  fs::path group = mount / version.folder;
  for (const fs::path& part : fs::path{path}.relative_path()) {
    group /= part;
    least = std::min(least, free_bytes(group, version));
  }
  return least;
}

constexpr std::array crashes{SIGFPE, SIGBUS, SIGSEGV, SIGILL, SIGABRT};
constexpr std::array time_limits{SIGALRM, SIGXCPU};

/// Makes crashes and time limits end the copy immediately: no handler of this program or of a sanitizer runs, the alarm
/// is not blocked, and no core file is written.
void die_plainly() {
  for (const int deadly : crashes) std::signal(deadly, SIG_DFL);
  sigset_t limits;
  sigemptyset(&limits);
  for (const int late : time_limits) {
    std::signal(late, SIG_DFL);
    sigaddset(&limits, late);
  }
  sigprocmask(SIG_UNBLOCK, &limits, nullptr);
  constexpr rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
}

TrialEnd end_by(int signal, std::chrono::seconds limit) {
  const std::string name = strsignal(signal);
  if (std::ranges::find(crashes, signal) != crashes.end()) return {TrialEnd::crashed, name};
  if (signal == SIGALRM) {
    return {TrialEnd::too_long, "it did not end within " + std::to_string(limit.count()) + " s"};
  }
  if (signal == SIGXCPU) return {TrialEnd::too_long, "it reached the limit of processor time (ulimit -t)"};
  const char* const memory = signal == SIGKILL ? ", which the system also sends if memory is short" : "";
  return {TrialEnd::killed, "it got the signal " + name + memory};
}

}  // namespace

std::int64_t control_group_free_bytes(const fs::path& membership, const fs::path& mount) {
  std::int64_t least = unlimited;
  std::ifstream lines{membership};
  for (std::string line; std::getline(lines, line);) {  // "0::/a/b" (v2), "4:cpu,memory:/a/b" (v1)
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',',
                      path = line.substr(second + 1);
    if (controllers == ",,") least = std::min(least, least_free_bytes(mount, path, v2));
    if (controllers.find(",memory,") != std::string::npos) least = std::min(least, least_free_bytes(mount, path, v1));
  }
  return least;
}

std::int64_t bodies_that_fit(std::int64_t bytes_per_body) {
  return std::min(machine_free_bytes(), control_group_free_bytes("/proc/self/cgroup", "/sys/fs/cgroup")) /
         bytes_per_body;
}

TrialEnd try_in_copy(const std::function<void()>& trial, std::chrono::seconds limit) {
  const pid_t self = getpid(), copy = fork();
  if (copy < 0) throw std::runtime_error("cannot be tried first: " + std::generic_category().message(errno));
  if (copy == 0) {
    die_plainly();
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // kills the copy if this process ends; it may have ended already
    if (getppid() != self) _exit(0);
    alarm(static_cast<unsigned>(limit.count()));
    try {
      trial();
    } catch (...) {  // the caller will get the same exception itself
    }
    _exit(0);
  }
  int status = 0;
  while (waitpid(copy, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error("cannot be tried first: " + std::generic_category().message(errno));
  }
  if (WIFSIGNALED(status)) return end_by(WTERMSIG(status), limit);
  const int exit_status = WEXITSTATUS(status);  // not 0 if a sanitizer found a fault
  return exit_status == 0 ? TrialEnd{}
                          : TrialEnd{TrialEnd::crashed, "it ended with status " + std::to_string(exit_status)};
}

namespace {

constexpr int stop_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2};

/// Returns whether a signal is only a warning. The kernel repeats SIGXCPU every second, so a repeated warning must not
/// end the program.
constexpr bool only_warns(int signal) {
  return signal == SIGXCPU || signal == SIGUSR1 || signal == SIGUSR2;
}

using Clock = std::chrono::steady_clock;

// The command `timeout` and a closing terminal send their signal to both the process and its group. Signals within this
// time therefore count as one request.
constexpr std::chrono::milliseconds same_request{250};

std::atomic<int> stopped_by{0};         // the first signal; 0: none
std::atomic<Clock::rep> stopped_at{0};  // time of the first signal that is not only a warning; 0: none
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
  if (held) {  // this is another thread, whose pending signals an exec() would discard
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
