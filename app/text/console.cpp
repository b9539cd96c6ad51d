#include "app/text/console.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>

#include "app/text/table.h"
#include "compute/core/atomic_file.h"

namespace orrery::console {
namespace {

std::string stdout_problem;
bool stdout_yielded = false;
std::atomic<bool> progress_shown = false;

}  // namespace

/// Opens the descriptors in the wrong direction, so that writes to a closed stdout still fail.
void open() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    (void)::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // gets the lowest free descriptor
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void yield_stdout() {
  stdout_yielded = true;
}

/// Prints nothing after a failure: a reader could take incomplete output for the whole.
void detail::write_out(std::string_view text) {
  if (stdout_yielded) return write_error(text);
  clear_progress();
  if (!stdout_problem.empty()) return;
  if (const std::string cause = write_all(STDOUT_FILENO, text); !cause.empty()) {
    stdout_problem = "cannot write to stdout: " + cause;
  }
}

void detail::write_error(std::string_view text) {
  clear_progress();
  (void)write_all(STDERR_FILENO, text);
}

void show(std::string_view lines) {
  detail::write_out(printable_lines(lines));
}

void write_bytes(std::string_view bytes) {
  detail::write_out(bytes);
}

void show_progress(std::string_view line) {
  (void)write_all(STDERR_FILENO, "\r\033[K" + printable_line(line));
  progress_shown = true;
}

void clear_progress() {
  if (progress_shown.exchange(false)) (void)write_all(STDERR_FILENO, "\r\033[K");
}

void complain(std::string_view message) {
  print_error("orrery: {}\n", message);
}

const std::string& problem() {
  return stdout_problem;
}

}  // namespace orrery::console

namespace orrery {

Progress::Progress(bool even_without_terminal)
    : terminal_{isatty(STDERR_FILENO) == 1}, shown_{terminal_ || even_without_terminal} {}

Progress::~Progress() {
  clear();
}

void Progress::show_left(std::optional<double> left_s, const std::string& what, std::optional<double> done) {
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> least{terminal_ ? 0.1 : 1.0};
  if (!shown_ || now - last_ < least) return;
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const double of_the_time = left_s && elapsed > 0 ? elapsed / (elapsed + *left_s) : 0;
  const std::string left =
      left_s ? fmt::format("about {} left", duration_text(*left_s)) : std::string{"estimating the time left"};
  const std::string line = fmt::format("{:3.0f}% {}, {}", std::floor(done.value_or(of_the_time) * 100), what, left);
  if (terminal_) {
    console::show_progress(
        cut_to(printable_line(line), terminal_columns(STDERR_FILENO) - 1));  // a longer line would wrap
  } else {
    console::print_error("{}\n", line);
  }
}

void Progress::clear() {
  console::clear_progress();
}

double part_of(std::int64_t done, std::int64_t total) {
  return total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
}

std::string duration_text(double seconds) {
  const long whole = std::lround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace orrery
