#include "app/text/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <string_view>

#include "compute/core/text.h"

namespace orrery {
namespace {

/// Limit of a text's length in bytes, and how much of its beginning and end is kept beyond that.
struct Length {
  std::size_t most, head, tail;
};

constexpr Length of_a_word{160, 60, 20}, of_a_text{4000, 3000, 1000};

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// Shortens a text. Its size is put in the middle, so that it does not touch the punctuation of the message.
std::string shortened(std::string_view text, const Length& length) {
  if (text.size() <= length.most) return std::string{text};
  std::size_t head = length.head, tail = text.size() - length.tail;
  while (head > 0 && continues_character(text[head])) --head;
  while (tail < text.size() && continues_character(text[tail])) ++tail;
  return fmt::format("{}...({} bytes)...{}", text.substr(0, head), format_count(static_cast<std::int64_t>(text.size())),
                     text.substr(tail));
}

/// Returns the bytes of the UTF-8 character at the beginning of `text`; 0 if there is none.
std::size_t utf8_size(std::string_view text) {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : 4;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xC0) != 0x80) return 0;
  }
  return size;
}

/// Returns the bytes of the UTF-8 character at the beginning of `text`; 0 if there is none, or a control character.
std::size_t character_size(std::string_view text) {
  return control_size(text) > 0 ? 0 : utf8_size(text);
}

/// Moves the first character of `text`, or its first byte, to `safe` in printable form.
void move_character(std::string_view& text, std::string& safe) {
  const std::size_t size = character_size(text);
  if (size > 0) {
    safe += text.substr(0, size);
  } else if (const char c = text.front(); c == '\n' || c == '\r' || c == '\t') {
    safe += ' ';
  } else {
    safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  text.remove_prefix(std::max<std::size_t>(size, 1));
}

/// Returns the random text with which every style begins.
const std::string& style_mark() {
  static const std::string mark = [] {
    std::random_device random;
    return fmt::format("\033{:08x}{:08x}[", random(), random());
  }();
  return mark;
}

}  // namespace

std::size_t control_size(std::string_view text) {
  const std::size_t size = text.empty() ? 0 : utf8_size(text);
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  if (size == 1) return byte(0) < 0x20 || byte(0) == 0x7F ? 1 : 0;
  if (size == 2) return byte(0) == 0xC2 && byte(1) < 0xA0 ? 2 : 0;
  const bool reorders = size == 3 && byte(0) == 0xE2 &&
                        ((byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE) ||
                         (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9));
  return reorders ? 3 : 0;
}

std::string printable_line(std::string_view text) {
  std::string safe;
  while (!text.empty()) move_character(text, safe);
  return safe;
}

std::string printable(std::string_view text) {
  std::string line;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
    line += (begin > 0 ? " " : "") + shortened(text.substr(begin, end - begin), of_a_word);
    begin = end + 1;
  }
  return printable_line(shortened(line, of_a_text));
}

std::string printable_lines(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    if (text.front() == '\n') {
      safe += '\n';
      text.remove_prefix(1);
    } else if (text.starts_with(style_mark())) {
      safe += "\033[";
      text.remove_prefix(style_mark().size());
    } else {
      move_character(text, safe);
    }
  }
  return safe;
}

std::string styled(std::string_view text, int sgr) {
  return fmt::format("{0}{1}m{2}{0}0m", style_mark(), sgr, text);
}

bool is_text(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (!line.empty()) {
    const std::size_t size = line.front() == '\t' ? 1 : character_size(line);
    if (size == 0) return false;
    line.remove_prefix(size);
  }
  return true;
}

namespace {

struct Lead {
  unsigned first, last;  // range of the first byte
  std::size_t bytes;
  unsigned second_first, second_last;
};

/// Well-formed UTF-8 (Unicode standard, table 3-7). All bytes after the second one are 0x80 to 0xBF.
constexpr std::array<Lead, 9> leads{{{0x00, 0x7F, 1, 0, 0},
                                     {0xC2, 0xDF, 2, 0x80, 0xBF},
                                     {0xE0, 0xE0, 3, 0xA0, 0xBF},
                                     {0xE1, 0xEC, 3, 0x80, 0xBF},
                                     {0xED, 0xED, 3, 0x80, 0x9F},
                                     {0xEE, 0xEF, 3, 0x80, 0xBF},
                                     {0xF0, 0xF0, 4, 0x90, 0xBF},
                                     {0xF1, 0xF3, 4, 0x80, 0xBF},
                                     {0xF4, 0xF4, 4, 0x80, 0x8F}}};

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

/// Returns the bytes of the character at the beginning of `text`; 0 if there is none.
std::size_t character_bytes(std::string_view text) {
  for (const Lead& lead : leads) {
    const unsigned first = byte_at(text, 0), second = byte_at(text, 1);
    if (first < lead.first || first > lead.last) continue;
    if (lead.bytes > 1 && (second < lead.second_first || second > lead.second_last)) return 0;
    for (std::size_t at = 2; at < lead.bytes; ++at) {
      if ((byte_at(text, at) & 0xC0) != 0x80) return 0;
    }
    return lead.bytes;
  }
  return 0;
}

/// Returns whether `text` begins with one of U+F780 to U+F7FF, which represent bytes.
bool begins_with_byte(std::string_view text) {
  return byte_at(text, 0) == 0xEF && (byte_at(text, 1) == 0x9E || byte_at(text, 1) == 0x9F) &&
         (byte_at(text, 2) & 0xC0) == 0x80;
}

}  // namespace

std::string text_of_name(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const std::size_t size = character_bytes(name);
    if (size > 0 && !begins_with_byte(name)) {
      text += name.substr(0, size);
      name.remove_prefix(size);
      continue;
    }
    const unsigned byte = byte_at(name, 0);
    text += {'\xEF', static_cast<char>(0x9C + (byte >> 6)), static_cast<char>(0x80 + (byte & 0x3F))};
    name.remove_prefix(1);
  }
  return text;
}

std::string name_of_text(std::string_view text) {
  std::string name;
  while (!text.empty()) {
    const bool is_byte = begins_with_byte(text);
    name += is_byte ? static_cast<char>(((byte_at(text, 1) & 0x3) << 6) | (byte_at(text, 2) & 0x3F)) : text.front();
    text.remove_prefix(is_byte ? 3 : 1);
  }
  return name;
}

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
