#include "compute/core/trial_process.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace orrery {
namespace {

constexpr std::array crashes{SIGFPE, SIGBUS, SIGSEGV, SIGILL, SIGABRT};
constexpr std::array time_limits{SIGALRM, SIGXCPU};

/// These signals end the copy at once: no handler of this program or of a sanitizer runs, no caller has blocked the
/// alarm, and no core is left.
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

TrialEnd try_in_copy(const std::function<void()>& trial, std::chrono::seconds limit) {
  const pid_t self = getpid(), copy = fork();
  if (copy < 0) throw std::runtime_error("cannot be tried first: " + std::generic_category().message(errno));
  if (copy == 0) {
    die_plainly();
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with this process, which may have ended before
    if (getppid() != self) _exit(0);
    alarm(static_cast<unsigned>(limit.count()));
    try {
      trial();
    } catch (...) {  // this process will meet it as well
    }
    _exit(0);
  }
  int status = 0;
  while (waitpid(copy, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error("cannot be tried first: " + std::generic_category().message(errno));
  }
  if (WIFSIGNALED(status)) return end_by(WTERMSIG(status), limit);
  const int exit_status = WEXITSTATUS(status);  // of a sanitizer, which ends the copy where it finds a fault
  return exit_status == 0 ? TrialEnd{}
                          : TrialEnd{TrialEnd::crashed, "it ended with status " + std::to_string(exit_status)};
}

}  // namespace orrery
