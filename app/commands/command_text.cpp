#include "app/commands/command_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/command_entry.h"
#include "app/text/csv.h"
#include "app/text/input_file.h"
#include "app/text/parse_value.h"
#include "app/text/printable.h"
#include "compute/core/error.h"
#include "compute/core/names.h"

namespace orrery {
namespace {

bool is_blank(char c) {
  return blanks.find(c) != std::string_view::npos;
}

/// Returns the position after the closing quote of the text whose opening quote is at `begin`; npos if there is none.
std::size_t end_of_quotes(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin + 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

/// Returns whether a quote at this position begins a quoted text.
bool may_begin_quotes(std::string_view text, std::size_t at) {
  return text[at] == '"' && (at == 0 || is_blank(text[at - 1]) || text[at - 1] == '=');
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::islower(c) || c == '-'; });
}

}  // namespace

std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(blanks), text.size());
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

Word take_argument(std::string_view& text) {
  Word word;
  std::string_view rest = text;
  const std::size_t equals = std::min(rest.find_first_of(" \t\r=\""), rest.size());
  if (equals < rest.size() && rest[equals] == '=' && is_name(rest.substr(0, equals))) {
    word.name = rest.substr(0, equals);
    rest.remove_prefix(equals + 1);
  }
  if (!rest.starts_with('"')) {
    word.text = take_word(rest);
    text = rest;
    return word;
  }
  const std::size_t end = end_of_quotes(rest, 0);
  const bool ends = end != std::string_view::npos && (end == rest.size() || is_blank(rest[end]));
  const Json read = ends ? Json::parse(rest.substr(0, end), nullptr, false) : Json(Json::value_t::discarded);
  if (!read.is_string()) throw UsageError("a text in quotes must end with a quote, and a backslash needs another one");
  word.text = read.get<std::string>();
  word.quoted = true;
  text = trimmed(rest.substr(end));
  return word;
}

std::string argument_word(std::string_view name, const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [&](unsigned char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '#' && (c != '=' || !name.empty());
  });
  std::string word{name};
  if (!name.empty()) word += '=';
  return word + (plain ? text : json_text(Json(text)));
}

std::string_view without_comment(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '#' && (at == 0 || is_blank(line[at - 1]))) return line.substr(0, at);
    if (!may_begin_quotes(line, at)) continue;
    if (const std::size_t end = end_of_quotes(line, at); end != std::string_view::npos) at = end - 1;
  }
  return line;
}

namespace {

std::vector<std::string_view> names() {
  std::vector<std::string_view> names;
  for (const CommandEntry& entry : command_entries()) {
    names.emplace_back(entry.name);
    for (const ShortForm& form : entry.short_forms) {
      if (form.word) names.emplace_back(form.word);
    }
  }
  return names;
}

/// Returns `text` with a short form at its beginning replaced by the full command.
std::string written_out(std::string_view text) {
  std::string_view rest = text;
  const std::string_view name = take_word(rest);
  for (const CommandEntry& entry : command_entries()) {
    for (const ShortForm& form : entry.short_forms) {
      if (!form.word || name != form.word) continue;
      std::string full = form.text;
      if (!full.ends_with('=') && !rest.empty()) full += ' ';
      return full.append(rest);
    }
  }
  return std::string{text};
}

/// Parser of the arguments of one command.
class Reader {
 public:
  Reader(const CommandEntry& entry, std::string_view rest)
      : entry_{entry}, all_{rest}, request_{entry.initial}, given_(entry.arguments.size()) {}

  Request read() {
    std::string_view rest = all_;
    while (!rest.empty()) {
      if (takes_rest_of_line() && !rest.starts_with("file=") && !rest.starts_with('"')) {
        put(0, rest);
        break;
      }
      const Word word = take_argument(rest);
      put(place_of(word), word.text);
    }
    for (std::size_t i = 0; i < given_.size(); ++i) {
      if (!given_[i] && !entry_.arguments[i]->traits().optional) refuse();
    }
    entry_.check(request_);
    return std::move(request_);
  }

 private:
  [[noreturn]] void refuse() const {
    throw UsageError(fmt::format("'{}' takes {}; it is given '{}'", entry_.name,
                                 entry_.arguments.empty() ? "no argument" : entry_.usage(), all_));
  }

  /// Returns whether the argument is the rest of the line: a file name may contain blanks if it is the only argument.
  bool takes_rest_of_line() const {
    if (entry_.arguments.size() != 1) return false;
    const Form form = entry_.arguments.front()->traits().form;
    return form == Form::file || form == Form::written_file;
  }

  std::size_t place_of(const Word& word) const {
    const auto& arguments = entry_.arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool is_free = !given_[i] || arguments[i]->traits().is_list;
      if (word.name.empty() ? is_free && entry_.is_positional(i) : arguments[i]->name() == word.name) return i;
    }
    if (word.name.empty() || arguments.empty()) refuse();
    entry_.refuse_argument(word.name);
  }

  void put(std::size_t place, std::string_view text) {
    const ArgumentEntry& argument = *entry_.arguments[place];
    const std::string what = entry_.label(argument);
    if (given_[place] && !argument.traits().is_list) throw UsageError(what + " is given twice");
    argument.read(what, text, request_);
    given_[place] = true;
  }

  const CommandEntry& entry_;
  std::string_view all_;
  Request request_;
  std::vector<bool> given_;
};

}  // namespace

std::string command_names() {
  return joined(names());
}

Request parse_command(std::string_view text) {
  const std::string full = written_out(trimmed(text));
  std::string_view rest = full;
  const std::string_view name = take_word(rest);
  if (name.empty()) throw UsageError("a command is missing; known commands: " + command_names());
  const auto entry = std::ranges::find(command_entries(), name, [](const auto& e) { return std::string_view{e.name}; });
  if (entry == command_entries().end()) throw unknown_name("command", name, names());
  return Reader{*entry, rest}.read();
}

std::string command_text(const Request& request) {
  const CommandEntry& entry = entry_of(request);
  std::string words = entry.name;
  for (const auto& argument : entry.arguments) {
    if (entry.is_left_out(*argument, request)) continue;
    const std::string_view name = argument->traits().optional ? argument->name() : "";
    words += ' ' + argument_word(name, argument->text(request));
  }
  return words;
}

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

namespace {

struct Entry {
  std::vector<std::string> usages;  ///< usage of the command itself, then of its short forms
  std::string sentence;
  std::vector<std::string> notes;  ///< "value: a number above 0 in units of time", "resume: pause off"
};

std::string with_arguments(std::string_view name, const std::string& arguments) {
  return arguments.empty() ? std::string{name} : fmt::format("{} {}", name, arguments);
}

/// Returns the arguments of a short form: the one with which its text ends, or the required ones.
std::string arguments_of(const CommandEntry& command, const ShortForm& form) {
  const std::string_view text = form.text;
  std::string arguments;
  for (const auto& argument : command.arguments) {
    const bool named = text.ends_with(fmt::format(" {}=", argument->name()));
    if (named || (!argument->traits().optional && !text.ends_with('='))) {
      arguments.append(arguments.empty() ? "" : " ").append(argument->placeholder());
    }
  }
  return arguments;
}

std::string written_out(const ShortForm& form, const std::string& arguments) {
  const std::string text = form.text;
  return text.ends_with('=') ? text + arguments : with_arguments(text, arguments);
}

std::string with_escaped_bars(std::string cell) {
  for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) cell.insert(at, 1, '\\');
  return cell;
}

std::vector<Entry> entries() {
  std::vector<Entry> entries;
  for (const CommandEntry& command : command_entries()) {
    Entry entry{.usages = {with_arguments(command.name, command.usage())}, .sentence = command.sentence, .notes = {}};
    for (const ShortForm& form : command.short_forms) {
      if (!form.word) continue;
      const std::string arguments = arguments_of(command, form);
      entry.usages.push_back(with_arguments(form.word, arguments));
      entry.notes.push_back(fmt::format("{}: {}", form.word, written_out(form, arguments)));
    }
    for (const auto& argument : command.arguments) {
      if (!argument->traits().is_number) continue;
      entry.notes.push_back(fmt::format("{}: {}", argument->name(), argument->allowed()));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

std::string command_reference() {
  std::string text =
      "Each line of a script is 'FRAME COMMAND ARGUMENTS'. Frames count from 0. '#' starts a comment.\n"
      "Arguments in brackets may be left out. Quote a text that contains blanks: \"run 1.csv\".\n\n";
  for (const Entry& entry : entries()) {
    text += fmt::format("{}\n    {}\n", fmt::join(entry.usages, "\n"), entry.sentence);
    for (const std::string& note : entry.notes) text += fmt::format("    {}\n", note);
  }
  return text;
}

std::string command_reference_markdown() {
  std::string text = "| command | what it does | notes |\n| --- | --- | --- |\n";
  for (const Entry& entry : entries()) {
    const std::string usages = fmt::format("`{}`", fmt::join(entry.usages, "`, `"));
    text += fmt::format("| {} | {} | {} |\n", with_escaped_bars(usages), entry.sentence,
                        with_escaped_bars(fmt::format("{}", fmt::join(entry.notes, "; "))));
  }
  return text;
}

}  // namespace orrery
