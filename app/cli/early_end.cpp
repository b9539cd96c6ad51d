#include "app/cli/early_end.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "app/text/console.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

constexpr std::string_view crashed =
    "orrery: the program crashed, perhaps in a library such as the graphics driver; too little memory (ulimit -v) can "
    "be the cause\n";
constexpr std::string_view ended = "orrery: a library has ended the program; its message is above this line\n";

std::atomic<pid_t> watched{0};  // this process, whose end is reported, but not that of forked children; 0: none
alignas(16) char crash_stack[1 << 16];

/// Only calls that a signal handler may make.
void say(std::string_view line) {
  if (watched.exchange(0) == getpid()) (void)!write(STDERR_FILENO, line.data(), line.size());
}

void crash(int signal) {
  say(crashed);
  raise(signal);  // as it would have ended
}

[[noreturn]] void end_for_exception() {
  if (const std::exception_ptr failure = std::current_exception(); failure && watched.exchange(0) == getpid()) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      console::complain("the program must end: " + failure_text(error));
    } catch (...) {
      console::complain("the program must end after a failure that has no description");
    }
  }
  std::abort();
}

}  // namespace

void report_early_end() {
  watched = getpid();
  std::atexit([] { say(ended); });
  std::set_terminate(end_for_exception);
#ifndef ORRERY_SANITIZED  // sanitizers report crashes themselves
  const stack_t stack{.ss_sp = crash_stack, .ss_flags = 0, .ss_size = sizeof crash_stack};
  sigaltstack(&stack, nullptr);  // a full stack has no room
  struct sigaction action {};
  action.sa_handler = crash;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK);
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE}) sigaction(signal, &action, nullptr);
#endif
}

void end_as_planned() {
  watched = 0;
}

}  // namespace orrery
