#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "app/text/printable.h"

/// The only way to write to stdout and stderr. Foreign text (file contents, file names, environment, command line) may
/// contain escape sequences and line ends. print() and complain() turn each text into one printable line; show() prints
/// lines without control characters. A failed write never ends the program or loses a file. problem() returns a failure
/// of stdout; failures of stderr are ignored.
namespace orrery::console {

/// Opens descriptors 0 to 2 if they are closed, so that no output file becomes stdout. Turns SIGPIPE and SIGXFSZ into
/// write errors. Call first in main().
void open();

/// Sends print() to stderr from now on, because an output file uses stdout.
void yield_stdout();

namespace detail {

void write_out(std::string_view text);
void write_error(std::string_view text);

/// Returns an argument as print() shows it.
template <class Argument>
auto shown(const Argument& argument) {
  if constexpr (std::is_convertible_v<const Argument&, std::string_view>) {
    return printable(argument);
  } else {
    static_assert(std::is_arithmetic_v<Argument>, "print() shows numbers and text");
    return argument;
  }
}

template <class... Arguments>
std::string formatted(fmt::string_view format, const Arguments&... arguments) {
  return fmt::vformat(format, fmt::make_format_args(arguments...));
}

}  // namespace detail

/// Print immediately, without a buffer. Each text argument becomes one printable line; see printable().
template <class... Arguments>
void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  detail::write_out(detail::formatted(format, detail::shown(arguments)...));
}
template <class... Arguments>
void print_error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  detail::write_error(detail::formatted(format, detail::shown(arguments)...));
}

/// Prints text of several lines, such as tables and paragraphs; see printable_lines().
void show(std::string_view lines);

/// Writes bytes to stdout unchanged, for another program.
void write_bytes(std::string_view bytes);

/// Shows a line on stderr, a terminal, in place of the previous progress line. The next output replaces it.
void show_progress(std::string_view line);
/// Removes the progress line, if it is still shown.
void clear_progress();

/// Prints an error as "orrery: MESSAGE", in one printable line.
void complain(std::string_view message);

/// Returns one line about why a write to stdout failed; empty if none failed.
const std::string& problem();

}  // namespace orrery::console

namespace orrery {

/// A progress line on stderr: current work and remaining time. Each update replaces the line. Shown on a terminal, or
/// on request. Without a terminal, each update is a separate line, at most one per second.
class Progress {
 public:
  explicit Progress(bool even_without_terminal);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Updates the line. `left_s`: expected remaining time, empty if unknown. `done`: completed fraction of the work, 0
  /// to 1, if `what` counts the work; if empty, the elapsed fraction of the time is shown.
  void show_left(std::optional<double> left_s, const std::string& what, std::optional<double> done = std::nullopt);
  /// Removes the line, so that other text can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_, shown_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_{};
};

/// Returns `done` / `total` for show_left(); 0 if `total` is 0.
double part_of(std::int64_t done, std::int64_t total);

/// Returns "42 s", "3 min 5 s", "2 h 10 min".
std::string duration_text(double seconds);

}  // namespace orrery
