#include "app/commands/command_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "app/commands/command_entry.h"
#include "app/text/input_file.h"
#include "app/text/printable.h"
#include "compute/core/names.h"

namespace orrery {
namespace {

constexpr const char* name_key = "command";
constexpr std::size_t most_bytes = 65'536;

Request read_entry(const CommandEntry& entry, const Json& json) {
  Request request = entry.initial;
  for (const auto& argument : entry.arguments) {
    const auto found = json.find(argument->name());
    if (found != json.end()) {
      argument->read_json(entry.label(*argument), *found, request);
    } else if (!argument->traits().optional) {
      throw UsageError(fmt::format("the argument {} of '{}' is missing", argument->name(), entry.name));
    }
  }
  for (const auto& member : json.items()) {
    const std::string& key = member.key();
    const auto is_its_name = [&](const auto& argument) { return argument->name() == key; };
    if (key == name_key || std::ranges::any_of(entry.arguments, is_its_name)) continue;
    if (!entry.arguments.empty()) entry.refuse_argument(printable(key));
    throw UsageError(fmt::format("'{}' takes no argument; it is given {}", entry.name, printable(key)));
  }
  entry.check(request);
  return request;
}

}  // namespace

Json command_json(const Request& request) {
  const CommandEntry& entry = entry_of(request);
  Json object{{name_key, entry.name}};
  for (const auto& argument : entry.arguments) {
    if (!entry.is_left_out(*argument, request)) object[std::string{argument->name()}] = argument->json(request);
  }
  return object;
}

Request command_of(const Json& json) {
  const bool named = json.is_object() && json.contains(name_key) && json[name_key].is_string();
  if (!named)
    throw UsageError("a command in JSON is an object with the member \"command\", such as {\"command\": \"step\"}");
  const auto name = json[name_key].get<std::string>();
  std::vector<std::string_view> known;
  for (const CommandEntry& entry : command_entries()) {
    if (name == entry.name) return read_entry(entry, json);
    known.emplace_back(entry.name);
  }
  throw unknown_name("command", printable(name), known);
}

Request command_of_json_text(std::string_view text) {
  if (text.size() > most_bytes) throw UsageError(fmt::format("a command in JSON has at most {} bytes", most_bytes));
  std::string cause;
  const std::optional<Json> json = checked_json(text, cause);
  if (!json) throw UsageError(fmt::format("the command is not JSON, such as {{\"command\": \"step\"}}: {}", cause));
  return command_of(*json);
}

}  // namespace orrery
