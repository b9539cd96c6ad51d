// Commands as text and as JSON, and the reference of all commands.
#pragma once

#include <string>
#include <string_view>

#include "app/text/csv.h"
#include "app/ui_state/command.h"

namespace orrery {

// A command's text is words separated by blanks. A word that contains blanks is quoted as in JSON: "run 1.csv".

/// One argument, written as `text` or `name=text`.
struct Word {
  std::string_view name;  ///< empty: without a name
  std::string text;
  bool quoted = false;
};

/// Removes and returns the first plain word of `text`, which starts with one or is empty.
std::string_view take_word(std::string_view& text);

/// Removes and returns the first argument of `text`. Throws UsageError if a closing quote is missing.
Word take_argument(std::string_view& text);

/// Returns the word that take_argument() reads as `text`, after `name=` if `name` is not empty.
std::string argument_word(std::string_view name, const std::string& text);

/// Returns `line` without its comment. A comment starts with a '#' at the beginning or after a blank, outside of
/// quotes.
std::string_view without_comment(std::string_view line);

/// Parses a command of a script: its name, then its arguments. Required arguments come in order. Optional ones are
/// written `name=value`, except the first one, whose name may be left out. Does not check ids of kernels or their
/// settings. Throws UsageError that lists the valid choices.
Request parse_command(std::string_view text);

/// Returns a text that parse_command() reads back as an equal command.
std::string command_text(const Request& request);

/// Returns the names of all commands and their short forms, in the order of the tables.
std::string command_names();

/// Returns {"command": "kernel", "id": "cuda-tiled", "settings": {"block": "256"}}: the command's name, and its
/// arguments by name. Optional arguments with their initial values are left out.
Json command_json(const Request& request);

/// Reads the JSON of command_json(). Throws UsageError with one line if the command is unknown, or an argument is
/// unknown, missing, of another type or out of range. Does not check ids of kernels or their settings.
Request command_of(const Json& json);

/// Does the same for text. Throws UsageError also if the text is not JSON.
Request command_of_json_text(std::string_view text);

/// Returns a reference of all commands for a terminal: usage, sentence, and allowed arguments.
std::string command_reference();

/// Returns the same reference as a Markdown table, which docs/usage/scripts.md contains.
std::string command_reference_markdown();

}  // namespace orrery
