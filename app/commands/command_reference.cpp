#include "app/commands/command_reference.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "app/commands/command_entry.h"

namespace orrery {
namespace {

struct Entry {
  std::vector<std::string> usages;  ///< the command's own, then its short forms'
  std::string sentence;
  std::vector<std::string> notes;  ///< "value: a number above 0 in units of time", "resume: pause off"
};

std::string with_arguments(std::string_view name, const std::string& arguments) {
  return arguments.empty() ? std::string{name} : fmt::format("{} {}", name, arguments);
}

/// The arguments of a short form: the one that its text ends with, or those that must be given.
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
