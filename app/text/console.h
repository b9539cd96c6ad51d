#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

/// Where everything that the program prints goes. A stream that cannot be written never ends the program and loses no
/// file: a failure of stdout is remembered, one of stderr has no place to be reported.
namespace orrery::console {

/// Call first in main(). Opens descriptors 0 to 2 if they are closed, so that no file of ours becomes stdout, and
/// turns SIGPIPE and SIGXFSZ into errors of the write.
void open();

/// An output file has stdout to itself: print() goes to stderr from here on.
void yield_stdout();

void write_out(std::string_view text);
void write_error(std::string_view text);

/// Print at once, without a buffer.
template <class... Arguments>
void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_out(fmt::format(format, std::forward<Arguments>(arguments)...));
}
template <class... Arguments>
void print_error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_error(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// Prints an error, as "orrery: MESSAGE" in one printable line.
void complain(std::string_view message);

/// Why stdout does not hold everything that was printed, one line; empty when it does.
const std::string& problem();

}  // namespace orrery::console
