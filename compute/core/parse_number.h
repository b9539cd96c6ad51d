#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace orrery {

/// The whole of `text` as a number; nothing if it is not one or does not fit.
template <class Number>
std::optional<Number> parsed_number(std::string_view text) {
  Number number{};
  const char* const last = text.data() + text.size();
  const auto [end, failed] = std::from_chars(text.data(), last, number);
  if (failed != std::errc{} || end != last) return std::nullopt;
  return number;
}

/// "16384", "16k" (k = 1024), "1M" (M = 1024^2) or "1G" (G = 1024^3) as a number; nothing if it is none, or too large
/// for an int.
inline std::optional<std::int64_t> parsed_count(std::string_view text) {
  std::int64_t unit = 1;
  if (text.ends_with('k') || text.ends_with('K')) unit = 1 << 10;
  if (text.ends_with('m') || text.ends_with('M')) unit = 1 << 20;
  if (text.ends_with('g') || text.ends_with('G')) unit = 1 << 30;
  if (unit > 1) text.remove_suffix(1);
  const auto number = parsed_number<std::int64_t>(text);
  if (!number || *number > std::numeric_limits<int>::max() / unit) return std::nullopt;
  if (*number < std::numeric_limits<int>::min() / unit) return std::nullopt;
  return *number * unit;
}

}  // namespace orrery
