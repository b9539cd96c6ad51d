// Lines of text, and parsers of values that a user typed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/text.h"

namespace orrery {

/// Returns `text` with line ends replaced by blanks.
inline std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Removes the first line and its line end from `text`. Returns the line without its end.
inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// Runs `action` for line `line`, from 1, of the text `name`. Prefixes a UsageError with "NAME:LINE: ".
template <class Action>
decltype(auto) at_line(const std::string& name, int line, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const UsageError& error) {
    throw UsageError(name + ':' + std::to_string(line) + ": " + error.what());
  }
}

/// Parsers of values that a user typed. `what` names the option or place, such as "-n". Each throws UsageError with
/// `what`, the text, and the allowed values.

/// Throws UsageError: `text` is not among `allowed`.
[[noreturn]] void refuse_value(std::string_view what, std::string_view text, std::string_view allowed);

/// Parses a whole number in [least, most].
std::int64_t parse_integer(std::string_view what, std::string_view text, std::int64_t least, std::int64_t most);

/// Parses a number in `range`: "16384", or with k = 1024, M = 1024^2 and G = 1024^3: "16k", "1M", "1G".
int parse_count(std::string_view what, std::string_view text, const Range<std::int64_t>& range);

/// Parses the size of a sample of bodies: a number in `body_counts`, or "all", which is the largest of them.
int parse_sample(std::string_view what, std::string_view text);

/// Parses numbers of bodies separated by commas: "1k,4k,16k".
std::vector<int> parse_counts(std::string_view what, std::string_view text);

/// Parses a number in `range`, of a type that parsed_number() reads.
template <class Number>
Number parse_in(std::string_view what, std::string_view text, const Range<Number>& range) {
  const std::optional<Number> number = parsed_number<Number>(text);
  if (!number || !range.contains(*number)) refuse_value(what, text, range.to_string());
  return *number;
}

/// Longest side of a window or a picture, in pixels.
inline constexpr int most_side = 8192;

/// Parses width and height in pixels: "1280x720", each 1 to most_side.
std::pair<int, int> parse_size(std::string_view what, std::string_view text);

/// Returns the index of `text` in `choices`.
std::size_t parse_choice(std::string_view what, std::string_view text, std::span<const std::string_view> choices);

/// Returns the name of a picture. Refuses extensions other than .png, the only format.
std::string parse_picture_name(std::string_view what, std::string_view text);

/// Returns the name of a film, which ends in .mp4 or has no extension.
std::string parse_film_name(std::string_view what, std::string_view text);

/// Returns the name of a page, which ends in .html or .htm, or has no extension.
std::string parse_page_name(std::string_view what, std::string_view text);

/// Parses "on" or "off".
bool parse_switch(std::string_view what, std::string_view text);

/// Splits "a,b,c". Throws UsageError for an empty part.
std::vector<std::string> split_list(std::string_view what, std::string_view text);

}  // namespace orrery
