#pragma once

#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Returns the names in `known` that a mistyped `word` most likely stands for: at most three, in their order. Near
/// names are equal but for upper and lower case, contain each other, or are few letters apart. Empty for a word without
/// a letter, such as a number.
std::vector<std::string> near_names(std::string_view word, std::span<const std::string_view> known);

/// "; did you mean cpu-tree or cuda-tree?": the near names, each with `before` in front of it; empty if there are none.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known, std::string_view before = {});
/// Continues a message with `meant`, of did_you_mean(), and the title of a list: "; did you mean disc? Known scenes: ",
/// or "; known scenes: " if nothing is meant. `title` begins with a small letter.
std::string then_list(const std::string& meant, std::string title);
/// The same for name(item) of each item, which must not be a temporary string.
template <std::ranges::input_range Range, class Name>
std::string did_you_mean(std::string_view word, const Range& items, Name name, std::string_view before = {}) {
  std::vector<std::string_view> known;
  for (const auto& item : items) known.emplace_back(name(item));
  return did_you_mean(word, std::span<const std::string_view>{known}, before);
}

}  // namespace orrery
