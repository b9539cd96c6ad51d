#include "app/commands/command_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <variant>

#include "app/commands/argument_text.h"
#include "app/text/csv.h"
#include "app/text/input_file.h"
#include "commands_headers.inc"
#include "compute/core/names.h"
#include "compute/sim/command_rows.h"

namespace orrery {
namespace {

// JSON values of command arguments, by type.

/// Returns whether the text can be one part of a comma-separated list, as in scripts.
bool stands_in_list(const std::string& text) {
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
  } else if constexpr (has_words<Value> || std::is_same_v<Value, Units>) {
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

/// Reads the argument from JSON into a command. Replaces the member's value.
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

/// Returns the command of type `C` in the request, which may be const.
template <class C>
auto& command_in(auto& request) {
  if constexpr (AlternativeOf<C, Command::Variant>) {
    return *std::get_if<C>(std::get_if<Command>(&request));
  } else {
    return *std::get_if<ViewCommand>(&request)->template get_if<C>();
  }
}

/// Entry for arguments of type M. Arguments of one type share their code.
template <class M>
class EntryOf final : public ArgumentEntry {
 public:
  struct Access {
    M& (*of)(Request&);
    const M& (*of_const)(const Request&);
  };

  EntryOf(const ArgumentOf<M>& argument, const Access& access)
      : ArgumentEntry{{.name = argument.name,
                       .optional = argument.optional,
                       .is_number = orrery::is_number<Value>,
                       .is_text = std::is_same_v<Value, std::string>,
                       .is_list = orrery::is_list<M>,
                       .form = argument.form}},
        argument_{argument},
        access_{access} {}

  std::string allowed() const override { return allowed_text(argument_); }
  std::string placeholder() const override { return orrery::placeholder(argument_); }
  void read(std::string_view what, std::string_view text, Request& to) const override {
    read_argument(argument_, what, text, access_.of(to));
  }
  std::string text(const Request& request) const override {
    return argument_text(argument_, access_.of_const(request));
  }
  void read_json(std::string_view what, const Json& json, Request& to) const override {
    read_json_argument(argument_, what, json, access_.of(to));
  }
  Json json(const Request& request) const override { return argument_json(argument_, access_.of_const(request)); }
  void check(const std::string& what, const Request& request) const override {
    check_argument(argument_, what, access_.of_const(request));
  }
  bool equal(const Request& a, const Request& b) const override { return access_.of_const(a) == access_.of_const(b); }

 private:
  using Value = typename ArgumentOf<M>::Value;

  ArgumentOf<M> argument_;
  Access access_;
};

template <class A, class Member, class R>
Member& member_in(R& request) {
  return A::of(command_in<typename A::Command>(request));
}

template <class A>
std::unique_ptr<const ArgumentEntry> entry(const A& argument) {
  using Entry = EntryOf<typename A::Member>;
  using Member = typename A::Member;
  const typename Entry::Access access{member_in<A, Member, Request>, member_in<A, const Member, const Request>};
  return std::make_unique<Entry>(argument, access);
}

/// Returns the type of the command in a request.
const std::type_info& type_in(const Request& request) {
  if (const auto* command = std::get_if<ViewCommand>(&request)) return command->type();
  return std::visit([](const auto& c) -> const std::type_info& { return typeid(c); }, std::get<Command>(request));
}

template <class... Rows>
void append(std::vector<CommandEntry>& entries, const std::tuple<Rows...>& table) {
  for_each_of(table, [&]<class Row>(const Row& row) {
    CommandEntry& added = entries.emplace_back();
    added.name = row.name;
    added.sentence = row.sentence;
    added.short_forms = row.short_forms;
    added.initial = typename Row::Command{};
    for_each_of(row.arguments, [&](const auto& argument) { added.arguments.push_back(entry(argument)); });
  });
}

}  // namespace

bool CommandEntry::is_positional(std::size_t index) const {
  const ArgumentEntry::Traits& traits = arguments[index]->traits();
  const auto is_optional = [](const auto& argument) { return argument->traits().optional; };
  const bool follows_required = std::find_if(arguments.begin(), arguments.end(), is_optional) - arguments.begin() ==
                                static_cast<std::ptrdiff_t>(index);
  return !traits.optional || (follows_required && (traits.is_text || arguments.size() == 1));
}

std::string CommandEntry::label(const ArgumentEntry& argument) const {
  return argument_label(name, arguments.size(), argument.name());
}

void CommandEntry::check(const Request& request) const {
  for (const auto& argument : arguments) {
    if (!is_left_out(*argument, request)) argument->check(label(*argument), request);
  }
}

std::string CommandEntry::usage() const {
  std::string usage;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentEntry& argument = *arguments[i];
    const bool positional = is_positional(i);
    std::string text =
        positional ? argument.placeholder() : fmt::format("{}={}", argument.name(), argument.placeholder());
    if (argument.traits().is_list) text += positional ? "..." : ",...";
    if (argument.traits().optional) text = '[' + text + ']';
    usage.append(usage.empty() ? "" : " ").append(text);
  }
  return usage;
}

void CommandEntry::refuse_argument(std::string_view unknown) const {
  std::vector<std::string_view> known;
  for (const auto& argument : arguments) known.push_back(argument->name());
  throw unknown_name("argument", unknown, known, fmt::format(" of '{}'", name));
}

const std::vector<CommandEntry>& command_entries() {
  static const std::vector<CommandEntry> entries = [] {
    std::vector<CommandEntry> made;
    append(made, simulation_commands);
#define X(table) append(made, table##_commands);
#include "commands_list.inc"
#undef X
    return made;
  }();
  return entries;
}

const CommandEntry& entry_of(const std::type_info& command) {
  static const auto by_type = [] {
    std::map<std::type_index, const CommandEntry*> made;
    for (const CommandEntry& entry : command_entries()) made.emplace(type_in(entry.initial), &entry);
    return made;
  }();
  return *by_type.at(command);
}

const CommandEntry& entry_of(const Request& request) {
  return entry_of(type_in(request));
}

}  // namespace orrery
