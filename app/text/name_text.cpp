#include "app/text/name_text.h"

#include <array>
#include <cstddef>

namespace orrery {
namespace {

struct Lead {
  unsigned first, last;  // of the first byte
  std::size_t bytes;
  unsigned second_first, second_last;
};
/// Well-formed UTF-8 (Unicode standard, table 3-7). All bytes after the second are 0x80 to 0xBF.
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

/// Bytes of the character that `text` begins with; 0 if it begins with none.
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

/// Whether `text` begins with one of U+F780 to U+F7FF, which stand for bytes.
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

}  // namespace orrery
