#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>

#include "app/commands/argument_text.h"
#include "app/ui_state/command.h"

namespace orrery {

/// The rows of both tables of commands.
inline constexpr auto all_commands = std::tuple_cat(simulation_commands, view_commands);

/// Reads a command as a script has it: its name, then its arguments. Those that must be given stand in order; others
/// are `name=value`, but for the first. Ids of kernels and their settings are not checked. Throws UsageError that names
/// the valid choices.
Request parse_command(std::string_view text);

/// What parse_command() reads back as an equal command.
std::string command_text(const Request& request);

/// The names of all commands and their short forms, in the order of the tables.
std::string command_names();

/// Whether the argument may stand without its name.
template <class Row>
bool is_positional(const Row& row, std::size_t index) {
  bool positional = false;
  std::size_t at = 0;
  for_each_of(row.arguments, [&](const auto& argument) {
    using Value = typename std::remove_cvref_t<decltype(argument)>::Value;
    if (at++ != index) return;
    const bool first =
        index == 0 && (std::is_same_v<Value, std::string> || std::tuple_size_v<decltype(row.arguments)> == 1);
    positional = first || !argument.optional;
  });
  return positional;
}

/// The arguments as a usage line shows them: "[TUNABLES...] [n=N,...]".
template <class Row>
std::string usage_of(const Row& row) {
  std::string usage;
  std::size_t index = 0;
  for_each_of(row.arguments, [&](const auto& argument) {
    using A = std::remove_cvref_t<decltype(argument)>;
    const bool positional = is_positional(row, index++);
    std::string text = positional ? placeholder(argument) : std::string{argument.name} + '=' + placeholder(argument);
    if (is_list<A>) text += positional ? "..." : ",...";
    if (argument.optional) text = '[' + text + ']';
    usage.append(usage.empty() ? "" : " ").append(text);
  });
  return usage;
}

}  // namespace orrery
