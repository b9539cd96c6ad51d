#include "app/panels/kit/count_entry.h"

#include <algorithm>

#include "compute/core/parse_number.h"
#include "compute/core/trimmed.h"

namespace orrery {

std::optional<std::uint64_t> seed_of(std::string_view entry) {
  const auto number = parsed_number<std::int64_t>(entry);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::optional<std::vector<int>> counts_of(std::string_view entry) {
  std::vector<int> counts;
  for (entry = trimmed(entry); !entry.empty();) {
    const std::size_t comma = std::min(entry.find(','), entry.size());
    const auto count = parsed_count(trimmed(entry.substr(0, comma)));
    if (!count || *count < 1) return std::nullopt;
    counts.push_back(static_cast<int>(*count));
    entry.remove_prefix(std::min(comma + 1, entry.size()));
  }
  return counts;
}

}  // namespace orrery
