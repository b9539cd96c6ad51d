#pragma once

#include <algorithm>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/near_name.h"

namespace orrery {

/// What name(item) gives for each item, with commas between.
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

/// The id of a descriptor, or of what a pointer to one leads to.
template <class Descriptor>
const char* id_of(const Descriptor& descriptor) {
  if constexpr (requires { descriptor->id; }) {
    return descriptor->id;
  } else {
    return descriptor.id;
  }
}

/// "leapfrog, euler"
template <std::ranges::input_range Range>
std::string joined_ids(const Range& descriptors) {
  return joined(descriptors, [](const auto& descriptor) { return id_of(descriptor); });
}

/// The error for a `word` that is none of the names `known`: lists them, with `note` after them, and says which of them
/// may have been meant.
inline UsageError unknown_name(const std::string& noun, std::string_view word, std::span<const std::string_view> known,
                               const std::string& note = {}) {
  return UsageError{"unknown " + noun + " '" + std::string{word} + "'; known " + noun + "s: " + joined(known) + note +
                    did_you_mean(word, known)};
}

/// The element of `descriptors` with this id. Throws UsageError that lists the known ids, with `note` after them.
/// `also` is another name that is known where the id was given, for that list.
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
