#include "app/text/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "app/text/printable.h"

namespace orrery {
namespace {

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text{'"'};
  for (const char c : field) {
    if (c == '"') text += c;
    text += c;
  }
  return text + '"';
}

}  // namespace

std::string csv_line(std::span<const std::string> fields) {
  std::string line;
  for (const std::string& field : fields) line += quoted(field) + ',';
  line.back() = '\n';
  return line;
}

std::vector<std::string> csv_fields(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> fields(1);
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool doubled = inside && line.substr(i).starts_with("\"\"");
    if (line[i] == '"' && !doubled) {
      inside = !inside;
    } else if (line[i] == ',' && !inside) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
      i += doubled;
    }
  }
  return fields;
}

std::string csv_header(const Json& metadata, std::span<const std::string_view> columns) {
  return fmt::format("# {}\n{}\n", json_text(metadata), fmt::join(columns, ","));
}

std::string csv_number(std::optional<double> number, int digits) {
  return number && std::isfinite(*number) ? fmt::format("{:.{}g}", *number, digits) : std::string{};
}

Json json_number(double number) {
  return std::isfinite(number) ? Json(number) : Json(nullptr);
}

/// Escapes every control character except line ends as \uXXXX. In the result of dump(), the others can only be in
/// strings, where JSON allows this escape.
std::string json_text(const Json& json, int indent) {
  const std::string text = json.dump(indent, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t size = rest.front() == '\n' ? 0 : control_size(rest);
    if (size == 0) {
      safe += rest.front();
    } else {
      const auto bits = [rest](std::size_t at, unsigned mask) { return static_cast<unsigned char>(rest[at]) & mask; };
      const unsigned code = size == 1   ? bits(0, 0x7F)
                            : size == 2 ? bits(0, 0x1F) << 6 | bits(1, 0x3F)
                                        : bits(0, 0x0F) << 12 | bits(1, 0x3F) << 6 | bits(2, 0x3F);
      safe += fmt::format("\\u{:04x}", code);
    }
    rest.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return safe;
}

std::string fingerprint(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return fmt::format("{:016x}", hash);
}

}  // namespace orrery
