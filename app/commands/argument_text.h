#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "app/text/parse_value.h"
#include "app/ui_state/command.h"
#include "compute/sim/command_rows.h"
#include "compute/snapshots/columns.h"
#include "compute/snapshots/units.h"

namespace orrery {

// Texts of argument values in scripts and options, by type.

/// Returns the allowed words of an argument: those of an enumeration, or of a text with few values. Includes the word
/// for "no value".
template <class M>
std::vector<std::string_view> words_of(const ArgumentOf<M>& argument) {
  using Value = typename ArgumentOf<M>::Value;
  std::vector<std::string_view> words;
  if constexpr (has_words<Value>) {
    for (const auto& [value, word] : EnumWords<Value>::all()) words.push_back(word);
  } else if (argument.words) {
    std::ranges::copy(argument.words(), std::back_inserter(words));
  }
  if (argument.word) words.emplace_back(argument.word);
  return words;
}

/// Returns what an argument may be: "a number above 0 and below 1, or exact"; empty if any text is accepted.
template <class M>
std::string allowed_text(const ArgumentOf<M>& argument) {
  using Value = typename ArgumentOf<M>::Value;
  if constexpr (is_number<Value>) {
    return argument.allowed();
  } else if constexpr (std::is_same_v<Value, bool>) {
    return "on or off";
  } else if constexpr (has_words<Value>) {
    return fmt::format("{}", fmt::join(words_of(argument), " or "));
  } else if constexpr (std::is_same_v<Value, Settings::Values>) {
    return "NAME=VALUE, with commas between several";
  } else if constexpr (std::is_same_v<Value, Units>) {
    return "units of length, mass and, if needed, velocity, such as kpc,1e10Msun,km/s";
  } else {
    return argument.words ? fmt::format("{}", fmt::join(words_of(argument), " or ")) : std::string{};
  }
}

/// Returns the placeholder of an argument in a usage line: "ID", "on|off", "VALUE|exact".
template <class M>
std::string placeholder(const ArgumentOf<M>& argument) {
  using Value = typename ArgumentOf<M>::Value;
  if constexpr (std::is_same_v<Value, bool>) {
    return "on|off";
  } else if constexpr (std::is_same_v<Value, BodyColumn>) {
    return "COLUMN";
  } else if constexpr (has_words<Value>) {
    return fmt::format("{}", fmt::join(words_of(argument), "|"));
  } else if constexpr (std::is_same_v<Value, Settings::Values>) {
    return "NAME=VALUE,...";
  } else if constexpr (std::is_same_v<Value, Units>) {
    return "LENGTH,MASS,VELOCITY";
  } else {
    if (argument.words) return fmt::format("{}", fmt::join(words_of(argument), "|"));
    std::string text = argument.name;
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
    return argument.word ? text + '|' + argument.word : text;
  }
}

/// Reads one value of the argument. `what` names the argument in error messages.
template <class M>
typename ArgumentOf<M>::Value read_value(const ArgumentOf<M>& argument, std::string_view what, std::string_view text) {
  using Value = typename ArgumentOf<M>::Value;
  if constexpr (is_number<Value>) {
    if (const auto named = argument.number_of_word(text)) return *named;
    if constexpr (std::is_integral_v<Value>) {
      if (argument.form == Form::count) return static_cast<Value>(parse_count(what, text, argument.range));
    }
    const auto number = parsed_number<Value>(text);
    if (!number || !argument.range.contains(*number)) refuse_value(what, text, argument.allowed());
    return *number - argument.first;
  } else if constexpr (std::is_same_v<Value, bool>) {
    return parse_switch(what, text);
  } else if constexpr (has_words<Value>) {
    return EnumWords<Value>::all()[parse_choice(what, text, words_of(argument))].first;
  } else if constexpr (std::is_same_v<Value, Settings::Values>) {
    Settings::Values values;
    for (const std::string& part : split_list(what, text)) {
      const std::size_t equals = part.find('=');
      if (equals == 0 || equals >= part.size() - 1) refuse_value(what, text, allowed_text(argument));
      values[part.substr(0, equals)] = part.substr(equals + 1);
    }
    return values;
  } else if constexpr (std::is_same_v<Value, Units>) {
    return parse_units(what, text);
  } else {
    if (argument.words) (void)parse_choice(what, text, words_of(argument));
    return std::string{text};
  }
}

/// Reads the argument into a command. A list grows by the comma-separated parts of `text`.
template <class M>
void read_argument(const ArgumentOf<M>& argument, std::string_view what, std::string_view text, M& to) {
  if constexpr (is_list<M>) {
    for (const std::string& part : split_list(what, text)) to.push_back(read_value(argument, what, part));
  } else {
    if constexpr (is_optional<M>) {
      if (argument.word_is_none() && text == argument.word) return to.reset();
    }
    to = read_value(argument, what, text);
  }
}

/// Returns the argument of the simulation command that an option corresponds to.
template <auto... Members>
constexpr const auto& argument_of() {
  using A = Argument<Members...>;
  return std::get<A>(row_in<typename A::Command>(simulation_commands).arguments);
}

/// Reads and checks the value of such an option, as in a script.
template <auto... Members>
auto read_option(std::string_view what, std::string_view text) {
  return read_value(argument_of<Members...>(), what, text);
}

template <class M>
std::string value_text(const ArgumentOf<M>& argument, const typename ArgumentOf<M>::Value& value) {
  using Value = typename ArgumentOf<M>::Value;
  if constexpr (is_number<Value>) {
    const bool is_word = argument.word && !argument.word_is_none() && value == argument.word_number;
    return is_word ? argument.word : shortest_text(value + argument.first);
  } else if constexpr (std::is_same_v<Value, bool>) {
    return value ? "on" : "off";
  } else if constexpr (has_words<Value>) {
    return std::string{word_of(value)};
  } else if constexpr (std::is_same_v<Value, Settings::Values>) {
    std::string text;
    for (const auto& [name, setting] : value) text.append(text.empty() ? "" : ",").append(name + '=' + setting);
    return text;
  } else if constexpr (std::is_same_v<Value, Units>) {
    return units_option(value);
  } else {
    return value;
  }
}

/// Returns a text that read_argument() reads back.
template <class M>
std::string argument_text(const ArgumentOf<M>& argument, const M& member) {
  if constexpr (is_list<M>) {
    std::string text;
    for (const auto& value : member) text.append(text.empty() ? "" : ",").append(value_text(argument, value));
    return text;
  } else if constexpr (is_optional<M>) {
    return member ? value_text(argument, *member) : std::string{argument.word};
  } else {
    return value_text(argument, member);
  }
}

}  // namespace orrery
