#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/text.h"

namespace orrery {

/// Returns `text` with blanks for its line ends.
inline std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Takes the first line off `text`, with its line end.
inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// Runs `action` for a line of the text `name`, counted from 1. A UsageError gets "NAME:LINE: " in front.
template <class Action>
decltype(auto) at_line(const std::string& name, int line, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const UsageError& error) {
    throw UsageError(name + ':' + std::to_string(line) + ": " + error.what());
  }
}

}  // namespace orrery
