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

}  // namespace orrery
