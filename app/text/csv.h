// CSV and JSON as this program writes them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// JSON whose members keep their order, so that files match their documentation.
using Json = nlohmann::ordered_json;

/// Returns one line of a CSV file, with its line end, from at least one field. Fields with a comma, quote or line break
/// are quoted (RFC 4180).
std::string csv_line(std::span<const std::string> fields);

/// Returns the fields of a line of CSV without line breaks in fields. A missing closing quote is assumed at the end.
std::vector<std::string> csv_fields(std::string_view line);

/// Returns the first two lines of every CSV file of this program: "# " and the metadata as one JSON object, then the
/// column names.
std::string csv_header(const Json& metadata, std::span<const std::string_view> columns);

/// Formats a number as a CSV field with `digits` significant digits; empty if it is missing or not finite.
std::string csv_number(std::optional<double> number, int digits = 6);

/// Returns a number as JSON; null if it is not finite.
Json json_number(double number);

/// Formats JSON for a terminal. Replaces bytes that are not UTF-8, as in file names. Escapes control characters and
/// characters that reorder text, such as \\u202e; see printable_line().
std::string json_text(const Json& json, int indent = -1);

/// Returns a hash of 16 hexadecimal digits (FNV-1a, 64 bits; Fowler, Noll and Vo). Not secure against forgery.
std::string fingerprint(std::string_view text);

}  // namespace orrery
