#pragma once

#include <fmt/format.h>

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
