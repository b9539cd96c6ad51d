// Lists of names, and suggestions for mistyped names.
#pragma once

#include <algorithm>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/error.h"

namespace orrery {

/// Returns the names in `known` that a mistyped `word` most likely means: at most three, in the order of `known`. Near
/// names are equal except for case, contain each other, or differ in few letters. Empty for a word without a letter,
/// such as a number.
std::vector<std::string> near_names(std::string_view word, std::span<const std::string_view> known);

/// Returns a question with the near names, each with `before` in front of it, such as "; did you mean cpu-tree or
/// cuda-tree?"; empty if there are none.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known, std::string_view before = {});

/// Returns the continuation of a message: `meant`, from did_you_mean(), and a list's title, as in "; did you mean disc?
/// Known scenes: ", or "; known scenes: " if `meant` is empty. `title` begins with a lower-case letter.
std::string then_list(const std::string& meant, std::string title);

/// Calls did_you_mean() above with the names name(item) of all items. name() must not return a temporary string.
template <std::ranges::input_range Range, class Name>
std::string did_you_mean(std::string_view word, const Range& items, Name name, std::string_view before = {}) {
  std::vector<std::string_view> known;
  for (const auto& item : items) known.emplace_back(name(item));
  return did_you_mean(word, std::span<const std::string_view>{known}, before);
}

/// Returns name(item) of each item, separated by commas.
template <std::ranges::input_range Range, class Name>
std::string joined(const Range& range, Name name) {
  std::string text;
  for (const auto& item : range) text.append(text.empty() ? "" : ", ").append(name(item));
  return text;
}

template <std::ranges::input_range Range>
std::string joined(const Range& texts) {
  return joined(
      texts, [](const auto& text) -> const auto& { return text; });
}

/// Returns the id of a descriptor, given as an object or by a pointer.
template <class Descriptor>
const char* id_of(const Descriptor& descriptor) {
  if constexpr (requires { descriptor->id; }) {
    return descriptor->id;
  } else {
    return descriptor.id;
  }
}

/// Returns the ids of all descriptors, such as "leapfrog, euler".
template <std::ranges::input_range Range>
std::string joined_ids(const Range& descriptors) {
  return joined(descriptors, [](const auto& descriptor) { return id_of(descriptor); });
}

/// Returns the error for a `word` that is not in `known`: it suggests near names, lists `known`, and ends with `note`.
inline UsageError unknown_name(const std::string& noun, std::string_view word, std::span<const std::string_view> known,
                               const std::string& note = {}) {
  return UsageError{"unknown " + noun + " '" + std::string{word} + "'" +
                    then_list(did_you_mean(word, known), "known " + noun + "s") + joined(known) + note};
}

/// Returns the element of `descriptors` with this id. If there is none, throws UsageError that lists the known ids and
/// ends with `note`. `also`: a name that the caller accepts in place of an id; the list includes it.
template <std::ranges::forward_range Range>
const auto& find_named(const Range& descriptors, std::string_view id, const std::string& noun,
                       const std::string& note = {}, std::string_view also = {}) {
  const auto found = std::ranges::find_if(descriptors, [&](const auto& descriptor) { return id == id_of(descriptor); });
  if (found != std::ranges::end(descriptors)) return *found;
  std::vector<std::string_view> known;
  for (const auto& descriptor : descriptors) known.emplace_back(id_of(descriptor));
  if (!also.empty()) known.push_back(also);
  throw unknown_name(noun, id, known, note);
}

}  // namespace orrery
