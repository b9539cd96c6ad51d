// Conversion of foreign bytes to printable text, and back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Returns `text` as one line that is safe on a terminal, whatever its origin. Line ends and tabs become blanks.
/// Control characters (C0, DEL, C1), characters that reorder text (U+202A to U+202E, U+2066 to U+2069) and bytes that
/// are not UTF-8 become \xNN.
std::string printable_line(std::string_view text);

/// Does the same, and shortens the text for a message. A word of more than 160 bytes keeps its first 60 and last 20. A
/// text of more than 4,000 bytes keeps its first 3,000 and last 1,000.
std::string printable(std::string_view text);

/// Does the same as printable_line(), but keeps line ends, and converts styles of styled() to escape sequences.
std::string printable_lines(std::string_view text);

/// Returns `text` in a terminal style, given as SGR number: 1 bold, 31 red, 32 green. The marks hold a random number of
/// this process, so that foreign text cannot contain them. Only printable_lines() converts them.
std::string styled(std::string_view text, int sgr);

/// Returns the bytes of the control character, or character that reorders text, at the beginning of `text`; 0 for any
/// other beginning.
std::size_t control_size(std::string_view text);

/// Returns whether `line` is UTF-8 without control characters. Tabs, and a carriage return at the end, are allowed.
bool is_text(std::string_view line);

/// Returns the name of a file as UTF-8; name_of_text() restores the same bytes. A byte that is not UTF-8 becomes the
/// private character U+F700 plus the byte. So do the bytes of the characters U+F780 to U+F7FF.
std::string text_of_name(std::string_view name);

/// Returns the file name from the text of text_of_name().
std::string name_of_text(std::string_view text);

/// Joins the words to a line of printable characters. Bash reads it as the same words, whatever bytes they contain.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace orrery
