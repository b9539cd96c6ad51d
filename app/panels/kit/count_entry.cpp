#include "app/panels/kit/count_entry.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace orrery {
namespace {

/// The whole of `entry` as a number.
std::optional<std::int64_t> whole(std::string_view entry) {
  std::int64_t number = 0;
  const char* const end = entry.data() + entry.size();
  const auto [stop, error] = std::from_chars(entry.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::int64_t> count_of(std::string_view entry) {
  std::int64_t unit = 1;
  if (entry.ends_with('k') || entry.ends_with('K')) unit = 1 << 10;
  if (entry.ends_with('m') || entry.ends_with('M')) unit = 1 << 20;
  if (unit > 1) entry.remove_suffix(1);
  const std::optional<std::int64_t> number = whole(entry);
  if (!number || *number > std::numeric_limits<int>::max() / unit) return std::nullopt;
  return *number * unit;
}

std::optional<std::uint64_t> seed_of(std::string_view entry) {
  const std::optional<std::int64_t> number = whole(entry);
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
    const auto count = count_of(trim(entry.substr(0, comma)));
    if (!count || *count < 1) return std::nullopt;
    counts.push_back(static_cast<int>(*count));
    entry.remove_prefix(std::min(comma + 1, entry.size()));
  }
  return counts;
}

}  // namespace orrery
