// Commands as text and as JSON, and the reference of all commands.
#pragma once

#include <string>
#include <string_view>

#include "app/text/csv.h"
#include "app/ui_state/command.h"

namespace orrery {

// A command's text is words with blanks between them. A word that holds blanks is quoted as a text of JSON:
// "run 1.csv".

/// One argument: `text`, or `name=text`.
struct Word {
  std::string_view name;  ///< empty: none
  std::string text;
  bool quoted = false;
};

/// Takes the first plain word off `text`, which starts with it or is empty.
std::string_view take_word(std::string_view& text);

/// Takes the first argument off `text`, as above. Throws UsageError if quotes do not end.
Word take_argument(std::string_view& text);

/// Returns the word that take_argument() reads as this text, after `name=` if there is a name.
std::string argument_word(std::string_view name, const std::string& text);

/// Returns `line` without its comment: from a '#' at its beginning or after a blank, outside of quotes.
std::string_view without_comment(std::string_view line);

/// Reads a command as a script has it: its name, then its arguments. Those that must be given stand in order; others
/// are `name=value`, but for the first. Ids of kernels and their settings are not checked. Throws UsageError that names
/// the valid choices.
Request parse_command(std::string_view text);

/// Returns the text that parse_command() reads back as an equal command.
std::string command_text(const Request& request);

/// The names of all commands and their short forms, in the order of the tables.
std::string command_names();

/// {"command": "kernel", "id": "cuda-tiled", "settings": {"block": "256"}}: the name, and the arguments by their names
/// in the table of commands. Optional arguments with their initial values are left out.
Json command_json(const Request& request);

/// Reads back what command_json() made. Throws UsageError, one line, for an unknown command and for an argument that is
/// unknown, missing, of another type or out of range. Ids of kernels and their settings are not checked.
Request command_of(const Json& json);

/// The same from text. Throws UsageError also if it is not JSON.
Request command_of_json_text(std::string_view text);

/// All commands for a terminal: usage, sentence, and what their arguments may be.
std::string command_reference();

/// The same as a table in Markdown, which docs/usage/scripts.md holds.
std::string command_reference_markdown();

}  // namespace orrery
