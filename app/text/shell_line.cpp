#include "app/text/shell_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace orrery {
namespace {

bool is_plain(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return letter || std::string_view{"-_./,:=+@%"}.find(c) != std::string_view::npos;
}

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

std::string shell_word(const std::string& word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  const bool printable = std::ranges::all_of(word, is_printable);
  std::string result = printable ? "'" : "$'";
  for (const char c : word) {
    if (printable) {
      result += c == '\'' ? "'\\''" : std::string{c};
    } else if (!is_printable(c)) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string{c};
    }
  }
  return result + "'";
}

}  // namespace

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

}  // namespace orrery
