#pragma once

#include <string>
#include <string_view>

namespace orrery {

/// Writes all of `text` to a descriptor. Returns an empty text, or why that failed. Waits for whoever reads a pipe;
/// once a stop is requested, 2 s at most.
[[nodiscard]] std::string write_all(int descriptor, std::string_view text);

}  // namespace orrery
