#include "app/text/text_style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "app/text/printable.h"

namespace orrery {
namespace {

constexpr std::size_t least_columns = 40;  // of a terminal; in a narrower one, lines wrap

bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

/// The variable's value; empty if it is not set.
std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::size_t terminal_columns(int descriptor) {
  const std::string_view asked = variable("COLUMNS");
  std::size_t columns = 0;
  const auto [end, failed] = std::from_chars(asked.data(), asked.data() + asked.size(), columns);
  if (failed != std::errc{} || end != asked.data() + asked.size()) columns = 0;
  winsize size{};
  if (columns == 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  if (columns == 0) return TextStyle::usual_columns;
  return std::clamp(columns, least_columns, TextStyle::unlimited - 1);
}

TextStyle stdout_style(const TableFlags& flags) {
  const bool colour = isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  return {.columns = flags.wide || flags.markdown ? TextStyle::unlimited : terminal_columns(STDOUT_FILENO),
          .markdown = flags.markdown,
          .colour = colour && !flags.markdown};
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string_view cut_to(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (std::size_t begun = 0; at < text.size(); ++at) {
    if (starts_character(text[at]) && begun++ == columns) break;
  }
  return text.substr(0, at);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  if (const std::size_t indent = std::min(text.find_first_not_of(' '), columns - 1);
      indent > 0 && indent < text.size()) {
    std::vector<std::string> lines = wrapped(text.substr(indent), columns - indent);
    for (std::string& line : lines) line.insert(0, indent, ' ');
    return lines;
  }
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    std::string_view word = text.substr(0, std::min(text.find(' '), text.size()));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t used = columns_of(lines.back());
    if (used > 0 && used + 1 + columns_of(word) > columns) {
      lines.emplace_back();
    } else if (used > 0) {
      lines.back() += ' ';
    }
    for (; columns_of(word) > columns; lines.emplace_back()) {
      const std::string_view part = cut_to(word, columns);
      lines.back() += part;
      word.remove_prefix(part.size());
    }
    lines.back() += word;
  }
  return lines;
}

std::string paragraph(std::string_view words, const TextStyle& style, std::size_t indent) {
  const std::string line_of_words = printable_line(words);
  const std::string_view text = line_of_words;
  std::string result;
  const std::string_view first = text.substr(0, std::min(indent, text.size()));
  for (const std::string& line : wrapped(text.substr(first.size()), style.columns - indent)) {
    result.append(result.empty() ? std::string{first} : std::string(indent, ' ')).append(line) += '\n';
  }
  return style.markdown ? result + '\n' : result;
}

}  // namespace orrery
