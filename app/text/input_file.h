#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/text/csv.h"

namespace orrery {

/// Readers of untrusted files. Each throws std::runtime_error with one line, "'FILE': cause", and takes less than 1 GB
/// of memory, whatever the file holds.

/// Reads a regular file of at most 64 MB. Refuses anything else at once, such as a pipe or a device, and a file that
/// cannot be read to its end. A UTF-8 byte order mark at its beginning is left out.
std::string read_text(const std::string& file);

/// Parses JSON text: at most 64 levels of arrays and objects, a million values and keys, a thousand members per object,
/// and 64 KB per text. Returns nothing, and why in `cause`, for other text.
std::optional<Json> checked_json(std::string_view text, std::string& cause);

/// The same for text from `file`.
Json parse_json(std::string_view text, const std::string& file);

/// Reads and parses a JSON file.
Json read_json(const std::string& file);

/// The JSON value as a number of bodies, from 1 to the largest int; empty if it is anything else.
std::optional<int> json_count(const Json& value);

}  // namespace orrery
