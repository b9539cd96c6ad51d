#pragma once

#include <string>
#include <string_view>

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
/// What take_argument() reads as this text, after `name=` if there is a name.
std::string argument_word(std::string_view name, const std::string& text);
/// Returns `line` without its comment: from a '#' at its beginning or after a blank, outside of quotes.
std::string_view without_comment(std::string_view line);

}  // namespace orrery
