#include "app/commands/command_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/command_text.h"
#include "app/text/printable.h"
#include "compute/core/names.h"

namespace orrery {
namespace {

constexpr const char* name_key = "command";
constexpr std::size_t most_bytes = 65'536;

template <class A>
Json value_json(const A& argument, const typename A::Value& value) {
  using Value = typename A::Value;
  if constexpr (is_number<Value>) {
    if (argument.word && !argument.word_is_none() && value == argument.word_number) return argument.word;
    if constexpr (std::is_same_v<Value, float>) {
      return parsed_number<double>(shortest_text(value)).value_or(value);  // 0.1, not 0.10000000149011612
    } else {
      return value + argument.first;
    }
  } else if constexpr (std::is_enum_v<Value>) {
    return value_text(argument, value);
  } else {
    return value;
  }
}

template <class A>
Json argument_json(const A& argument, const typename A::Member& member) {
  if constexpr (is_list<A>) {
    Json list = Json::array();
    for (const auto& value : member) list.push_back(value_json(argument, value));
    return list;
  } else if constexpr (is_optional<typename A::Member>) {
    return member ? value_json(argument, *member) : Json(argument.word);
  } else {
    return value_json(argument, member);
  }
}

[[noreturn]] void refuse(std::string_view what, const Json& json, std::string_view allowed) {
  const std::string given = json.is_array() ? "an array" : json.is_object() ? "an object" : printable(json_text(json));
  throw UsageError(fmt::format("{} cannot be {}; it must be {}", what, given, allowed));
}

/// The number that `json` is, if `Number` can hold it.
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

/// Whether the text is one part of a list with commas, as scripts have it.
bool stands_in_list(const std::string& text) {
  return !text.empty() && text.find(',') == std::string::npos;
}

template <class A>
typename A::Value value_of(const A& argument, std::string_view what, const Json& json) {
  using Value = typename A::Value;
  if constexpr (is_number<Value>) {
    if (argument.word && json.is_string() && json.get<std::string>() == argument.word) return argument.word_number;
    const auto number = number_of<Value>(json);
    if (!number || !argument.range.contains(*number)) refuse(what, json, argument.allowed());
    return *number - argument.first;
  } else if constexpr (std::is_same_v<Value, bool>) {
    if (!json.is_boolean()) refuse(what, json, "true or false");
    return json.get<bool>();
  } else if constexpr (std::is_same_v<Value, Settings::Values>) {
    if (!json.is_object()) refuse(what, json, "an object with a text for each name");
    Settings::Values values;
    for (const auto& [name, value] : json.items()) {
      if (!value.is_string()) refuse(what, json, "an object with a text for each name");
      const auto setting = value.template get<std::string>();
      if (!stands_in_list(name) || !stands_in_list(setting) || name.find('=') != std::string::npos) {
        refuse(what, json, "an object whose names and texts are not empty and have no comma; names have no '='");
      }
      values[name] = setting;
    }
    return values;
  } else {
    if (!json.is_string()) refuse(what, json, std::is_enum_v<Value> ? allowed_text(argument) : "a text");
    return read_value(argument, what, json.get<std::string>());
  }
}

template <class A>
void read_json_argument(const A& argument, std::string_view what, const Json& json, typename A::Member& to) {
  if constexpr (is_list<A>) {
    if (!json.is_array()) refuse(what, json, "an array");
    to.clear();
    for (const Json& one : json) {
      if (one.is_string() && !stands_in_list(one.get<std::string>())) {
        refuse(what, one, "a text that is not empty and has no comma");
      }
      to.push_back(value_of(argument, what, one));
    }
  } else {
    if constexpr (is_optional<typename A::Member>) {
      if (argument.word_is_none() && json.is_string() && json.get<std::string>() == argument.word) return to.reset();
    }
    to = value_of(argument, what, json);
  }
}

template <class Row>
Request read_row(const Row& row, const Json& json) {
  typename Row::Command command{};
  std::vector<std::string_view> known;
  for_each_of(row.arguments, [&](const auto& argument) {
    known.emplace_back(argument.name);
    const auto found = json.find(argument.name);
    if (found != json.end()) {
      read_json_argument(argument, row.label(argument.name), *found, argument.of(command));
    } else if (!argument.optional) {
      throw UsageError(fmt::format("the argument {} of '{}' is missing", argument.name, row.name));
    }
  });
  for (const auto& [key, value] : json.items()) {
    if (key == name_key || std::ranges::find(known, key) != known.end()) continue;
    if (known.empty())
      throw UsageError(fmt::format("'{}' takes no argument; it is given {}", row.name, printable(key)));
    throw unknown_name("argument", printable(key), known, fmt::format(" of '{}'", row.name));
  }
  check_arguments(row, command);
  return as_request(std::move(command));
}

}  // namespace

Json command_json(const Request& request) {
  const auto json = [](const auto& command) {
    using C = std::remove_cvref_t<decltype(command)>;
    const auto& row = row_of<C>();
    const C initial{};
    Json object{{name_key, row.name}};
    for_each_of(row.arguments, [&](const auto& argument) {
      const auto& value = argument.of(command);
      if (argument.optional && value == argument.of(initial)) return;
      object[argument.name] = argument_json(argument, value);
    });
    return object;
  };
  return std::visit([&](const auto& commands) { return std::visit(json, commands); }, request);
}

Request command_of(const Json& json) {
  const bool named = json.is_object() && json.contains(name_key) && json[name_key].is_string();
  if (!named)
    throw UsageError("a command in JSON is an object with the member \"command\", such as {\"command\": \"step\"}");
  const auto name = json[name_key].get<std::string>();
  std::optional<Request> request;
  std::vector<std::string_view> known;
  for_each_of(all_commands, [&](const auto& row) {
    known.emplace_back(row.name);
    if (name == row.name) request = read_row(row, json);
  });
  if (!request) throw unknown_name("command", printable(name), known);
  return std::move(*request);
}

Request command_of_json_text(std::string_view text) {
  if (text.size() > most_bytes) throw UsageError(fmt::format("a command in JSON has at most {} bytes", most_bytes));
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw UsageError("the command is not JSON, such as {\"command\": \"step\"}");
  return command_of(json);
}

}  // namespace orrery
