#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "app/text/printable.h"

/// The only way to stdout and stderr. Foreign text (a file, a file's name, the environment, a command line) may hold
/// escape sequences and line ends. Callers need not handle this: print() and complain() turn each text into one
/// printable line, and show() prints lines without control characters. A failed write never ends the program and loses
/// no file. problem() returns a failure of stdout; one of stderr is not reported.
namespace orrery::console {

/// Call first in main(). Opens descriptors 0 to 2 if they are closed, so that no file of ours becomes stdout, and
/// turns SIGPIPE and SIGXFSZ into errors of the write.
void open();

/// An output file has stdout to itself: print() goes to stderr from here on.
void yield_stdout();

namespace detail {

void write_out(std::string_view text);
void write_error(std::string_view text);

/// An argument as print() shows it.
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

/// Print at once, without a buffer. Each text among the arguments becomes one printable line, see printable().
template <class... Arguments>
void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  detail::write_out(detail::formatted(format, detail::shown(arguments)...));
}
template <class... Arguments>
void print_error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  detail::write_error(detail::formatted(format, detail::shown(arguments)...));
}

/// Prints text of several lines, such as tables and paragraphs: see printable_lines().
void show(std::string_view lines);

/// Writes bytes for another program to stdout, as they are.
void write_bytes(std::string_view bytes);

/// Shows a line on stderr, a terminal, in place of the one before. Whatever is printed next takes its place.
void show_progress(std::string_view line);
/// Removes the line, if it is still there.
void clear_progress();

/// Prints an error, as "orrery: MESSAGE" in one printable line.
void complain(std::string_view message);

/// Returns in one line why a write to stdout failed; empty if none did.
const std::string& problem();

}  // namespace orrery::console

namespace orrery {

/// One line on stderr with what is done and the time left, which each update replaces. Shown on a terminal, or on
/// request; without a terminal, each text is a line of its own, at most one per second.
class Progress {
 public:
  explicit Progress(bool even_without_terminal);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `left_s`: expected time of the remaining work; empty while it is unknown. `done`: completed part of the work, 0 to
  /// 1, for a `what` that counts the work; if it is empty, the elapsed part of the time is shown.
  void show_left(std::optional<double> left_s, const std::string& what, std::optional<double> done = std::nullopt);
  /// Removes the line, so that something else can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_, shown_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_{};
};

/// Returns the share that show_left() takes as done: `done` of `total`; 0 if `total` is 0.
double part_of(std::int64_t done, std::int64_t total);

/// "42 s", "3 min 5 s", "2 h 10 min".
std::string duration_text(double seconds);

}  // namespace orrery
