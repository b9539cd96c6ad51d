#include "app/text/console.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "compute/core/descriptor.h"

namespace orrery::console {
namespace {

std::string stdout_problem;
bool stdout_yielded = false;

}  // namespace

/// Opened the wrong way round: what is printed to a closed stdout fails as before.
void open() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    (void)::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // gets the lowest free number
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void yield_stdout() {
  stdout_yielded = true;
}

/// Nothing follows a failure: a reader who finds more text would take it for the whole.
void detail::write_out(std::string_view text) {
  if (stdout_yielded) return write_error(text);
  if (!stdout_problem.empty()) return;
  if (const std::string cause = write_all(STDOUT_FILENO, text); !cause.empty()) {
    stdout_problem = "cannot write to stdout: " + cause;
  }
}

void detail::write_error(std::string_view text) {
  (void)write_all(STDERR_FILENO, text);
}

void show(std::string_view lines) {
  detail::write_out(printable_lines(lines));
}

void write_bytes(std::string_view bytes) {
  detail::write_out(bytes);
}

void show_progress(std::string_view line) {
  detail::write_error("\r\033[K" + printable_line(line));
}

void complain(std::string_view message) {
  print_error("orrery: {}\n", message);
}

const std::string& problem() {
  return stdout_problem;
}

}  // namespace orrery::console
