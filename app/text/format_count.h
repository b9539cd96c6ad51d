#pragma once

#include <cstdint>
#include <string>

namespace orrery {

/// "16,384": a count for people. Files have plain numbers.
inline std::string format_count(std::int64_t count) {
  std::string text = std::to_string(count);
  const int first = count < 0 ? 1 : 0;
  for (int at = static_cast<int>(text.size()) - 3; at > first; at -= 3)
    text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

}  // namespace orrery
