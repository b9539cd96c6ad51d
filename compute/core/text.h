// Numbers as text: trimming, reading, writing and ranges.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace orrery {

/// Characters that trimmed() removes.
inline constexpr std::string_view blanks = " \t\r";

/// Returns `text` without the `blanks` at its ends.
inline std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Byte order mark that some editors and spreadsheets write in front of a text. It is not part of the text.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

inline std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
}

/// Reads all of `text` as a number. Returns nothing if it is not one, or does not fit the type.
template <class Number>
std::optional<Number> parsed_number(std::string_view text) {
  Number number{};
  const char* const last = text.data() + text.size();
  const auto [end, failed] = std::from_chars(text.data(), last, number);
  if (failed != std::errc{} || end != last) return std::nullopt;
  return number;
}

/// Reads "16384", "16k" (k = 1024), "1M" (M = 1024^2) or "1G" (G = 1024^3). Returns nothing if it is no number, or too
/// large for an int.
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

/// Returns a count for display, such as "16,384". Files contain plain numbers.
std::string format_count(std::integral auto count) {
  std::string text = std::to_string(count);
  const int first = text.front() == '-' ? 1 : 0;
  for (int at = static_cast<int>(text.size()) - 3; at > first; at -= 3)
    text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

/// Returns a count with its noun: "1 body", "16,384 bodies". If `several` is empty, the plural is `one` with an s.
std::string counted(std::integral auto count, std::string_view one, std::string_view several = {}) {
  std::string text = format_count(count) + ' ';
  if (count == 1) return text.append(one);
  return several.empty() ? text.append(one) + 's' : text.append(several);
}

std::string counted_bodies(std::integral auto count) {
  return counted(count, "body", "bodies");
}

/// Returns the shortest text that reads back as the same number.
template <class T>
std::string shortest_text(T number) {
  char digits[32];
  std::string text{digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
  if (std::size_t exponent = text.find('e'); exponent != std::string::npos) {  // "4e-4" and "1e6", not "4e-04", "1e+06"
    if (text[++exponent] == '+') text.erase(exponent, 1);
    if (text[exponent] == '-') ++exponent;
    text.erase(exponent, text.find_first_not_of('0', exponent) - exponent);
  }
  return text;
}

/// Range of an argument, an option or a slider.
template <class T>
struct Range {
  T least, most;          ///< no upper bound if `most` is infinite or the largest integer
  const char* unit = "";  ///< text after the number: "bodies", "in units of length"
  bool open = false;      ///< excludes `least` and `most`

  /// Returns false for NaN.
  constexpr bool contains(T value) const {
    return open ? value > least && value < most : value >= least && value <= most;
  }
  constexpr bool bounded() const {
    return most <
           (std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max());
  }
  /// Converts to a range of another integer type, which must hold the bounds.
  template <std::integral Other>
  constexpr operator Range<Other>() const {
    static_assert(std::is_integral_v<T>);
    return {static_cast<Other>(least), static_cast<Other>(most), unit, open};
  }
  /// Returns a text such as "a whole number from 1 to 1000 steps" or "a number above 0 and below 1".
  std::string to_string() const {
    std::string text = std::is_integral_v<T> ? "a whole number" : "a number";
    text += open ? " above " : bounded() ? " from " : " of at least ";
    text += shortest_text(least);
    if (bounded()) text += (open ? " and below " : " to ") + shortest_text(most);
    return *unit ? text + ' ' + unit : text;
  }
};

/// Range of the number of bodies in a system; an int holds it.
inline constexpr Range<std::int64_t> body_counts{1, std::numeric_limits<int>::max(), "bodies"};

/// Returns the time step that the user entered: the shortest decimal that rounds to this float. The float of 0.01 is
/// 0.00999999978, so that 60 steps of it would end before t = 0.6. Times of states, rows and snapshots are multiples of
/// the returned step, which differs from the float by at most 6e-8 of its value.
inline double nominal_step(float time_step) {
  if (!std::isfinite(time_step)) return time_step;
  std::array<char, 32> digits;
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), time_step).ptr;
  double step = 0;
  std::from_chars(digits.data(), end, step);
  return step;
}

/// Returns how far below a whole number a number of steps may be and still count as that number. Covers the rounding of
/// a time step with more digits than a float, such as 1/3.
inline double rounding_of_steps(double steps) {
  constexpr double least = 1e-6, most = 0.25, of_float = 0x1p-24;
  return std::fmin(std::fmax(least, of_float * std::fabs(steps)), most);
}

}  // namespace orrery
