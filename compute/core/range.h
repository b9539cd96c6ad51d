#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace orrery {

/// The shortest text that reads back as the same number.
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

/// The numbers that an argument or an option may have, or that a slider spans.
template <class T>
struct Range {
  T least, most;          ///< no upper bound if `most` is infinite or the largest integer
  const char* unit = "";  ///< what follows the number: "bodies", "in units of length"
  bool open = false;      ///< excludes `least` and `most`

  /// False for NaN.
  constexpr bool contains(T value) const {
    return open ? value > least && value < most : value >= least && value <= most;
  }
  constexpr bool bounded() const {
    return most <
           (std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max());
  }
  /// The same numbers of another integer type, which must hold the bounds.
  template <std::integral Other>
  constexpr operator Range<Other>() const {
    static_assert(std::is_integral_v<T>);
    return {static_cast<Other>(least), static_cast<Other>(most), unit, open};
  }
  /// "a whole number from 1 to 1000 steps", "a number above 0 and below 1".
  std::string to_string() const {
    std::string text = std::is_integral_v<T> ? "a whole number" : "a number";
    text += open ? " above " : bounded() ? " from " : " of at least ";
    text += shortest_text(least);
    if (bounded()) text += (open ? " and below " : " to ") + shortest_text(most);
    return *unit ? text + ' ' + unit : text;
  }
};

/// The numbers of bodies that a system can have; an int holds them.
inline constexpr Range<std::int64_t> body_counts{1, std::numeric_limits<int>::max(), "bodies"};

}  // namespace orrery
