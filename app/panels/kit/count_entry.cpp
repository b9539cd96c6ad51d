#include "app/panels/kit/count_entry.h"

#include <algorithm>

#include "compute/core/parse_number.h"

namespace orrery {

std::optional<std::uint64_t> seed_of(std::string_view entry) {
  const auto number = parsed_number<std::int64_t>(entry);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::optional<std::vector<int>> counts_of(std::string_view entry) {
  const auto trim = [](std::string_view text) {
    const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
    return text.substr(first, text.find_last_not_of(' ') + 1 - first);
  };
  std::vector<int> counts;
  for (entry = trim(entry); !entry.empty();) {
    const std::size_t comma = std::min(entry.find(','), entry.size());
    const auto count = parsed_count(trim(entry.substr(0, comma)));
    if (!count || *count < 1) return std::nullopt;
    counts.push_back(static_cast<int>(*count));
    entry.remove_prefix(std::min(comma + 1, entry.size()));
  }
  return counts;
}

}  // namespace orrery
