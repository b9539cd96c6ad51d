#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "app/commands/argument_text.h"
#include "app/text/csv.h"
#include "app/text/input_file.h"

namespace orrery {

// How the values of a command's arguments are written in JSON, by their types.

/// Whether the text is one part of a list with commas, as scripts have it.
inline bool stands_in_list(const std::string& text) {
  return !text.empty() && text.find(',') == std::string::npos;
}

template <class M>
Json value_json(const ArgumentOf<M>& argument, const typename ArgumentOf<M>::Value& value) {
  using Value = typename ArgumentOf<M>::Value;
  if constexpr (is_number<Value>) {
    if (argument.word && !argument.word_is_none() && value == argument.word_number) return argument.word;
    if constexpr (std::is_same_v<Value, float>) {
      return parsed_number<double>(shortest_text(value)).value_or(value);  // 0.1, not 0.10000000149011612
    } else {
      return value + argument.first;
    }
  } else if constexpr (std::is_enum_v<Value> || std::is_same_v<Value, Units>) {
    return value_text(argument, value);
  } else {
    return value;
  }
}

template <class M>
Json argument_json(const ArgumentOf<M>& argument, const M& member) {
  if constexpr (is_list<M>) {
    Json list = Json::array();
    for (const auto& value : member) list.push_back(value_json(argument, value));
    return list;
  } else if constexpr (is_optional<M>) {
    return member ? value_json(argument, *member) : Json(argument.word);
  } else {
    return value_json(argument, member);
  }
}

template <class M>
typename ArgumentOf<M>::Value read_json_value(const ArgumentOf<M>& argument, std::string_view what, const Json& json) {
  using Value = typename ArgumentOf<M>::Value;
  if constexpr (is_number<Value>) {
    if (json.is_string()) {
      if (const auto named = argument.number_of_word(json.get<std::string>())) return *named;
    }
    const auto number = number_of<Value>(json);
    if (!number || !argument.range.contains(*number)) refuse_json(what, json, argument.allowed());
    return *number - argument.first;
  } else if constexpr (std::is_same_v<Value, bool>) {
    if (!json.is_boolean()) refuse_json(what, json, "true or false");
    return json.get<bool>();
  } else if constexpr (std::is_same_v<Value, Settings::Values>) {
    if (!json.is_object()) refuse_json(what, json, "an object with a text for each name");
    Settings::Values values;
    for (const auto& [name, value] : json.items()) {
      if (!value.is_string()) refuse_json(what, json, "an object with a text for each name");
      const auto setting = value.template get<std::string>();
      if (!stands_in_list(name) || !stands_in_list(setting) || name.find('=') != std::string::npos) {
        refuse_json(what, json, "an object whose names and texts are not empty and have no comma; names have no '='");
      }
      values[name] = setting;
    }
    return values;
  } else {
    if (!json.is_string())
      refuse_json(what, json, std::is_same_v<Value, std::string> ? "a text" : allowed_text(argument));
    return read_value(argument, what, json.get<std::string>());
  }
}

/// Reads the argument into a command, in place of what the member holds.
template <class M>
void read_json_argument(const ArgumentOf<M>& argument, std::string_view what, const Json& json, M& to) {
  if constexpr (is_list<M>) {
    if (!json.is_array()) refuse_json(what, json, "an array");
    to.clear();
    for (const Json& one : json) {
      if (one.is_string() && !stands_in_list(one.get<std::string>())) {
        refuse_json(what, one, "a text that is not empty and has no comma");
      }
      to.push_back(read_json_value(argument, what, one));
    }
  } else {
    if constexpr (is_optional<M>) {
      if (argument.word_is_none() && json.is_string() && json.get<std::string>() == argument.word) return to.reset();
    }
    to = read_json_value(argument, what, json);
  }
}

}  // namespace orrery
