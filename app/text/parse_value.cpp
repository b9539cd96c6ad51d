#include "app/text/parse_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <optional>

#include "compute/core/error.h"
#include "compute/core/law.h"
#include "compute/core/names.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

int parse_count_or(std::string_view other, std::string_view what, std::string_view text,
                   const Range<std::int64_t>& range) {
  const auto count = parsed_count(text);
  if (count && range.contains(*count)) return static_cast<int>(*count);
  refuse_value(what, text, fmt::format("{}{}; 16k is 16384, 1M is 1048576", other, range.to_string()));
}

}  // namespace

void refuse_value(std::string_view what, std::string_view text, std::string_view allowed) {
  throw UsageError(fmt::format("{} cannot be '{}'; it must be {}", what, text, allowed));
}

std::int64_t parse_integer(std::string_view what, std::string_view text, std::int64_t least, std::int64_t most) {
  return parse_in(what, text, Range<std::int64_t>{least, most});
}

int parse_count(std::string_view what, std::string_view text, const Range<std::int64_t>& range) {
  return parse_count_or("", what, text, range);
}

int parse_sample(std::string_view what, std::string_view text) {
  return text == "all" ? static_cast<int>(body_counts.most) : parse_count_or("all, or ", what, text, body_counts);
}

std::vector<int> parse_counts(std::string_view what, std::string_view text) {
  std::vector<int> counts;
  for (const std::string& part : split_list(what, text)) counts.push_back(parse_count(what, part, body_counts));
  return counts;
}

std::pair<int, int> parse_size(std::string_view what, std::string_view text) {
  const std::size_t cross = text.find('x');
  const auto side = [&](std::string_view part) {
    const auto number = parsed_number<int>(part);
    if (!number || *number < 1 || *number > most_side) {
      refuse_value(what, text, fmt::format("WIDTHxHEIGHT such as 1280x720, each side at most {} pixels", most_side));
    }
    return *number;
  };
  if (cross == std::string_view::npos) return {side(""), 0};
  return {side(text.substr(0, cross)), side(text.substr(cross + 1))};
}

std::size_t parse_choice(std::string_view what, std::string_view text, std::span<const std::string_view> choices) {
  const auto found = std::ranges::find(choices, text);
  if (found == choices.end()) {
    refuse_value(what, text, fmt::format("{}{}", fmt::join(choices, " or "), did_you_mean(text, choices)));
  }
  return static_cast<std::size_t>(found - choices.begin());
}

namespace {

std::string lower_extension(std::string_view name) {
  std::string extension = std::filesystem::path{name}.extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return extension;
}

}  // namespace

std::string parse_picture_name(std::string_view what, std::string_view text) {
  const std::string extension = lower_extension(text);
  if (!extension.empty() && extension != ".png")
    refuse_value(what, text, "a name that ends in .png: pictures are PNG files");
  return std::string{text};
}

std::string parse_film_name(std::string_view what, std::string_view text) {
  if (!text.empty() && lower_extension(text) != ".mp4") refuse_value(what, text, "a name that ends in .mp4");
  return std::string{text};
}

std::string parse_page_name(std::string_view what, std::string_view text) {
  const std::string extension = lower_extension(text);
  if (!extension.empty() && extension != ".html" && extension != ".htm") {
    refuse_value(what, text, "a name that ends in .html");
  }
  return std::string{text};
}

bool parse_switch(std::string_view what, std::string_view text) {
  return parse_choice(what, text, std::array<std::string_view, 2>{"on", "off"}) == 0;
}

std::vector<std::string> split_list(std::string_view what, std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin) refuse_value(what, text, "values with commas between them, none empty");
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace orrery
