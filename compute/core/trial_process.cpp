#include "compute/core/trial_process.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace orrery {
namespace {

/// A signal ends the copy at once: no handler of this program or of a sanitizer runs, and no core is left.
void die_plainly(std::chrono::seconds limit) {
  for (const int deadly : {SIGFPE, SIGBUS, SIGSEGV, SIGILL, SIGABRT}) std::signal(deadly, SIG_DFL);
  constexpr rlimit no_core{0, 0};
  const auto seconds = static_cast<rlim_t>(limit.count());
  const rlimit computing{seconds, seconds};
  setrlimit(RLIMIT_CORE, &no_core);
  setrlimit(RLIMIT_CPU, &computing);
}

}  // namespace

std::string signal_that_ends(const std::function<void()>& trial, std::chrono::seconds limit) {
  const pid_t copy = fork();
  if (copy < 0) throw std::runtime_error("cannot be tried first: " + std::generic_category().message(errno));
  if (copy == 0) {
    die_plainly(limit);
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
  return WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : std::string{};
}

}  // namespace orrery
