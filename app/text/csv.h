#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

/// Keeps the order of its members, so that files read as they are described.
using Json = nlohmann::ordered_json;

/// One line of a CSV file, of at least one field, with its end: fields that hold a comma, a quote or a line break are
/// quoted (RFC 4180).
std::string csv_line(std::span<const std::string> fields);

/// The two lines that every CSV file of this program starts with: "# " and the metadata as one JSON object, then the
/// column names.
std::string csv_header(const Json& metadata, std::span<const std::string_view> columns);

/// A number as a CSV field with `digits` significant digits; empty for none and for what is not finite.
std::string csv_number(std::optional<double> number, int digits = 6);

/// A number as JSON; null for what is not finite.
Json json_number(double number);

/// JSON as text. Bytes that are not UTF-8 (a file name may have them) are replaced.
std::string json_text(const Json& json, int indent = -1);

}  // namespace orrery
