// CSV and JSON as this program writes them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Members keep their order, so that files read as they are documented.
using Json = nlohmann::ordered_json;

/// One line of a CSV file, of at least one field, with its line end. A field with a comma, a quote or a line break is
/// quoted (RFC 4180).
std::string csv_line(std::span<const std::string> fields);

/// The fields of such a line, which has no line break in a field. A missing closing quote ends at the line's end.
std::vector<std::string> csv_fields(std::string_view line);

/// The two lines that every CSV file of this program starts with: "# " and the metadata as one JSON object, then the
/// column names.
std::string csv_header(const Json& metadata, std::span<const std::string_view> columns);

/// A number as a CSV field with `digits` significant digits; empty if there is none or it is not finite.
std::string csv_number(std::optional<double> number, int digits = 6);

/// A number as JSON; null if it is not finite.
Json json_number(double number);

/// JSON as text, fit for a terminal. Bytes that are not UTF-8 (a file name may have them) are replaced, and control
/// characters and those that reorder text (see printable_line()) are escaped, such as \\u202e.
std::string json_text(const Json& json, int indent = -1);

/// 16 hexadecimal digits that tell texts apart (FNV-1a, 64 bits; Fowler, Noll and Vo). Not safe against forgery.
std::string fingerprint(std::string_view text);

}  // namespace orrery
