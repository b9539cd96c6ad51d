#include "app/text/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "app/text/console.h"
#include "app/text/table.h"

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
        cut_to(printable_line(line), terminal_columns(STDERR_FILENO) - 1));  // a longer one would wrap
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
