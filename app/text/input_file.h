#pragma once

#include <optional>
#include <string>

#include "app/text/csv.h"

namespace orrery {

/// Readers of files that anything may have written. Each throws std::runtime_error with one line, "'FILE': cause", and
/// takes less than 1 GB of memory, whatever the file holds.

/// The whole of a regular file of at most 64 MB. Anything else is refused at once, pipes and devices among it, and so
/// is a file that cannot be read to its end.
std::string read_text(const std::string& file);

/// The JSON value in such a file: at most 64 arrays and objects inside each other, a million values and keys, a
/// thousand members per object, and 64 KB per text.
Json read_json(const std::string& file);

/// The number of bodies that a JSON value is, from 1 to the largest int; empty if it is anything else.
std::optional<int> json_count(const Json& value);

}  // namespace orrery
