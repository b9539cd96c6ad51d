#pragma once

#include <cstddef>
#include <string_view>

namespace orrery {

inline constexpr std::string_view blanks = " \t\r";

/// Returns `text` without the `blanks` at its ends.
inline std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Begins a text as some editors and spreadsheets save it. It is no character of the text.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

inline std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
}

}  // namespace orrery
