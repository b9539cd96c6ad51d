// Folders and untrusted files of the user, and access to JSON members.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "app/text/csv.h"
#include "app/text/printable.h"
#include "compute/core/error.h"
#include "compute/core/text.h"

namespace orrery {

/// Returns the folder in environment variable `variable`, or `in_home` in HOME. Empty if neither is an absolute path.
std::filesystem::path user_folder(const char* variable, const char* in_home);

/// Returns orrery in $XDG_STATE_HOME, or in ~/.local/state. Empty if neither XDG_STATE_HOME nor HOME is an absolute
/// path.
std::filesystem::path usual_state_folder();

/// Readers of untrusted files. Each throws std::runtime_error with one line, "'FILE': cause". Each uses less than 1 GB
/// of memory for any file.

/// Reads a regular file of at most 64 MB, without a leading UTF-8 byte order mark. Refuses other kinds, such as pipes
/// and devices, without waiting. Refuses files that cannot be read completely.
std::string read_text(const std::string& file);

/// Parses JSON text with at most 64 levels of arrays and objects, a million values and keys, a thousand members per
/// object, and 64 KB per string. For other text, returns nothing and stores the reason in `cause`.
std::optional<Json> checked_json(std::string_view text, std::string& cause);

/// Parses JSON text of `file`, with the same limits.
Json parse_json(std::string_view text, const std::string& file);

/// Reads and parses a JSON file.
Json read_json(const std::string& file);

/// Returns the JSON value as a number of bodies, from 1 to the largest int; empty if it is not such a number.
std::optional<int> json_count(const Json& value);

/// Throws UsageError: "'order.steps' cannot be "5"; it must be a whole number of at least 0".
[[noreturn]] inline void refuse_json(std::string_view what, const Json& json, std::string_view allowed) {
  const std::string given = json.is_array() ? "an array" : json.is_object() ? "an object" : printable(json_text(json));
  throw UsageError(fmt::format("{} cannot be {}; it must be {}", what, given, allowed));
}

/// Returns the number in `json`, if `Number` can represent it.
template <class Number>
std::optional<Number> number_of(const Json& json) {
  if constexpr (std::is_integral_v<Number>) {
    if (json.is_number_unsigned()) {
      const auto value = json.get<std::uint64_t>();
      return std::in_range<Number>(value) ? std::optional{static_cast<Number>(value)} : std::nullopt;
    }
    if (!json.is_number_integer()) return std::nullopt;
    const auto value = json.get<std::int64_t>();
    return std::in_range<Number>(value) ? std::optional{static_cast<Number>(value)} : std::nullopt;
  } else {
    return json.is_number() ? std::optional{static_cast<Number>(json.get<double>())} : std::nullopt;
  }
}

/// Reader of the members of a JSON object. Each failure is a UsageError with one line: the member's path from the
/// file's root, the value found, and the valid values.
class JsonObject {
 public:
  /// `json` must outlive this object. `path` is empty for the root of a file, or "order" for its member "order".
  JsonObject(const Json& json, std::string path) : json_{json}, path_{std::move(path)} {
    if (!json.is_object()) refuse_json(path_.empty() ? "the JSON" : quoted(path_), json, "an object");
  }

  /// Returns whether the member exists and is not null.
  bool has(const char* name) const {
    const auto found = json_.find(name);
    return found != json_.end() && !found->is_null();
  }
  const Json& at(const char* name) const {
    const auto found = json_.find(name);
    if (found == json_.end()) throw UsageError(label(name) + " is missing");
    return *found;
  }
  template <class Number>
  Number number(const char* name, const Range<Number>& range) const {
    const std::optional<Number> number = number_of<Number>(at(name));
    if (!number || !range.contains(*number)) refuse_json(label(name), at(name), range.to_string());
    return *number;
  }
  std::string text(const char* name) const {
    if (!at(name).is_string()) refuse_json(label(name), at(name), "a text");
    return at(name).get<std::string>();
  }
  bool flag(const char* name) const {
    if (!at(name).is_boolean()) refuse_json(label(name), at(name), "true or false");
    return at(name).get<bool>();
  }
  JsonObject object(const char* name) const { return {at(name), path_of(name)}; }
  /// Returns an array member.
  const Json& array(const char* name) const {
    if (!at(name).is_array()) refuse_json(label(name), at(name), "an array");
    return at(name);
  }

 private:
  static std::string quoted(const std::string& path) { return "'" + path + "'"; }
  std::string path_of(const char* name) const { return path_.empty() ? name : path_ + '.' + name; }
  std::string label(const char* name) const { return quoted(path_of(name)); }

  const Json& json_;
  std::string path_;
};

}  // namespace orrery
