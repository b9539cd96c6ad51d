#pragma once

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>

#include "compute/core/error.h"

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

/// The element of `descriptors` with this id. Throws UsageError that lists the known ids, with `note` after them.
template <std::ranges::forward_range Range>
const auto& find_named(const Range& descriptors, std::string_view id, const std::string& noun,
                       const std::string& note = {}) {
  const auto found = std::ranges::find_if(descriptors, [&](const auto& descriptor) { return id == id_of(descriptor); });
  if (found != std::ranges::end(descriptors)) return *found;
  throw UsageError("unknown " + noun + " '" + std::string{id} + "'; known " + noun + "s: " + joined_ids(descriptors) +
                   note);
}

}  // namespace orrery
