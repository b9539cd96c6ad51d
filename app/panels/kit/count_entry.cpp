#include "app/panels/kit/count_entry.h"

#include <algorithm>
#include <cmath>

#include "compute/core/text.h"

namespace orrery {
namespace {

/// The parts between commas, each read by `parsed`; nothing if one of them is nothing.
template <class T>
std::optional<std::vector<T>> list_of(std::string_view entry, std::optional<T> (*parsed)(std::string_view)) {
  std::vector<T> list;
  for (entry = trimmed(entry); !entry.empty();) {
    const std::size_t comma = std::min(entry.find(','), entry.size());
    const std::optional<T> value = parsed(trimmed(entry.substr(0, comma)));
    if (!value) return std::nullopt;
    list.push_back(*value);
    entry.remove_prefix(std::min(comma + 1, entry.size()));
  }
  return list;
}

}  // namespace

std::optional<std::uint64_t> seed_of(std::string_view entry) {
  const auto number = parsed_number<std::int64_t>(entry);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::optional<std::vector<int>> counts_of(std::string_view entry) {
  return list_of<int>(entry, [](std::string_view part) -> std::optional<int> {
    const auto count = parsed_count(part);
    return count && *count >= 1 ? std::optional{static_cast<int>(*count)} : std::nullopt;
  });
}

std::optional<std::vector<float>> positive_numbers_of(std::string_view entry) {
  return list_of<float>(entry, [](std::string_view part) -> std::optional<float> {
    const auto number = parsed_number<float>(part);
    return number && *number > 0 && std::isfinite(*number) ? number : std::nullopt;
  });
}

}  // namespace orrery
