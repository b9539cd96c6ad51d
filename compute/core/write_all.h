#pragma once

#include <string>
#include <string_view>

namespace orrery {

/// Writes all of `text` to a descriptor. Returns why that failed; empty if it did not. Waits for the reader of a pipe,
/// but at most 2 s after a stop was requested.
[[nodiscard]] std::string write_all(int descriptor, std::string_view text);

}  // namespace orrery
