#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace orrery {

/// "16,384": a count for people. Files have plain numbers.
std::string format_count(std::integral auto count) {
  std::string text = std::to_string(count);
  const int first = text.front() == '-' ? 1 : 0;
  for (int at = static_cast<int>(text.size()) - 3; at > first; at -= 3)
    text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

/// "1 body", "16,384 bodies"; without `several`, the plural is `one` with an s.
std::string counted(std::integral auto count, std::string_view one, std::string_view several = {}) {
  std::string text = format_count(count) + ' ';
  if (count == 1) return text.append(one);
  return several.empty() ? text.append(one) + 's' : text.append(several);
}
std::string counted_bodies(std::integral auto count) {
  return counted(count, "body", "bodies");
}

}  // namespace orrery
