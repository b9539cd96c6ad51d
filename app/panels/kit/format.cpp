// Formats and reads numbers, lists of numbers and file names.
#include "app/panels/kit/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "app/text/table.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

/// Formats with three significant digits and no exponent, for 0 <= value < 9999.5.
std::string three_digits(double value) {
  // The bounds are where rounding to three digits reaches the next power of ten.
  if (value < 0.9995) return fmt::format("{:.3f}", value);
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

/// Returns the power of ten of the first digit: 0 for 1 <= value < 10.
int exponent_of(double value) {
  return static_cast<int>(std::floor(std::log10(value)));
}

}  // namespace

std::string format_rate(double value, const char* unit) {
  if (!(value > 0) || !std::isfinite(value)) return unknown;
  static constexpr std::array prefixes{"", "k", "M", "G", "T", "P", "E"};
  std::size_t step = 0;
  while (value >= 999.5 && step + 1 < prefixes.size()) {
    value /= 1000;
    ++step;
  }
  return fmt::format("{} {}{}", three_digits(value), prefixes[step], unit);
}

std::string format_ms(double ms) {
  if (!(ms >= 0) || !std::isfinite(ms)) return unknown;
  if (ms < 999.5) return three_digits(ms) + " ms";
  if (ms < 999.5e3) return three_digits(ms / 1000) + " s";
  return fmt::format("{:.0f} s", ms / 1000);
}

std::string format_interval_ms(double low_ms, double high_ms) {
  if (!(low_ms > 0 && low_ms <= high_ms) || !std::isfinite(high_ms)) return unknown;
  const double width_ms = high_ms - low_ms;
  int decimals = 2 - exponent_of(low_ms);
  if (width_ms > 0) decimals = std::max(decimals, 1 - exponent_of(width_ms));
  decimals = std::clamp(decimals, 0, 6);
  return fmt::format("{:.{}f} \u2013 {:.{}f} ms", low_ms, decimals, high_ms, decimals);
}

std::string format_frames_per_s(double frame_ms) {
  const double rate = 1000 / frame_ms;
  if (rate < 0.95) return fmt::format("{:.1g} frames/s", rate);
  const std::int64_t whole = std::llround(rate);
  return format_count(whole) + (whole == 1 ? " frame/s" : " frames/s");
}

std::string format_speedup(double factor) {
  if (!(factor > 0) || !std::isfinite(factor)) return unknown;
  if (factor < 1) return fmt::format("{:#.3g}\u00d7", factor);
  return (factor < 999.5 ? three_digits(factor) : format_count(std::llround(factor))) + "\u00d7";
}

std::string format_error(double error) {
  if (!std::isfinite(error)) return "NaN";
  if (error == 0) return "0";
  return scientific(error, 2);
}

std::string format_value(double value) {
  const double size = std::abs(value);
  return size != 0 && !(size >= 0.01 && size < 999.5) ? format_error(value) : fmt::format("{:.3g}", value);
}

std::string cost_share(double ms, std::optional<double> gap_s) {
  if (!gap_s) return {};
  return fmt::format(", {} of the {:.3g} s since the previous one", format_percent(ms * 1e-3 / *gap_s), *gap_s);
}

std::string format_percent(double share) {
  const double percent = 100 * share;
  if (!(percent >= 0) || !std::isfinite(percent)) return unknown;
  return fmt::format("{:.{}f} %", percent, percent < 0.995 ? 2 : percent < 9.95 ? 1 : 0);
}
namespace {

/// Reads each entry between commas with `parsed`. Returns nothing if one entry cannot be read.
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

std::string path_of(std::string_view entry) {
  const char* const home = std::getenv("HOME");
  if (!home || (entry != "~" && !entry.starts_with("~/"))) return std::string{entry};
  return home + std::string{entry.substr(1)};
}

}  // namespace orrery
