#include "app/text/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "app/text/lines.h"
#include "compute/core/format_count.h"

namespace orrery {
namespace {

/// How much of what is too long is kept.
struct Length {
  std::size_t most, head, tail;
};
constexpr Length of_a_word{160, 60, 20}, of_a_text{4000, 3000, 1000};

std::string shortened(std::string_view text, const Length& length) {
  if (text.size() <= length.most) return std::string{text};
  return fmt::format("{}...{} ({} bytes)", text.substr(0, length.head), text.substr(text.size() - length.tail),
                     format_count(static_cast<std::int64_t>(text.size())));
}

/// Bytes of the UTF-8 character that `text` starts with; 0 if it starts with none, or with a control character.
std::size_t character_size(std::string_view text) {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  const std::size_t size = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : 4;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xC0) != 0x80) return 0;
  }
  const bool is_c1_control = first == 0xC2 && byte(1) < 0xA0;
  const bool is_reordering = first == 0xE2 && ((byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE) ||
                                               (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9));
  return is_c1_control || is_reordering ? 0 : size;
}

std::string escaped(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    safe +=
        size > 0 ? std::string{text.substr(0, size)} : fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return safe;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string line;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
    line += (begin > 0 ? " " : "") + shortened(text.substr(begin, end - begin), of_a_word);
    begin = end + 1;
  }
  return escaped(shortened(line, of_a_text));
}

bool is_text(std::string_view line) {
  while (!line.empty()) {
    const std::size_t size = blanks.find(line.front()) != std::string_view::npos ? 1 : character_size(line);
    if (size == 0) return false;
    line.remove_prefix(size);
  }
  return true;
}

}  // namespace orrery
