#include "app/commands/command_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/commands/command_entry.h"
#include "app/commands/words.h"
#include "app/text/parse_value.h"
#include "compute/core/names.h"

namespace orrery {
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

/// `text`, with a short form at its beginning written out.
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

/// Reads the arguments of one command.
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

  /// A file's name may hold blanks if nothing else is on the line.
  bool takes_rest_of_line() const {
    return entry_.arguments.size() == 1 && entry_.arguments.front()->traits().form == Form::file;
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

}  // namespace orrery
