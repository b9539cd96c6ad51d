// Foreign bytes as printable text, and back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Returns `text` as one line that is fit for a terminal, whoever wrote the parts of it: line ends and tabs are blanks.
/// Control characters (C0, DEL, C1), characters that reorder text (U+202A to U+202E, U+2066 to U+2069) and bytes that
/// are not UTF-8 are \xNN.
std::string printable_line(std::string_view text);

/// The same, and short enough for a message: a word of more than 160 bytes keeps its first 60 and last 20, and a text
/// of more than 4,000 bytes its first 3,000 and last 1,000.
std::string printable(std::string_view text);

/// The same as printable_line(), but line ends stay, and styles of styled() become escape sequences.
std::string printable_lines(std::string_view text);

/// Returns `text` in a style of the terminal, a number of SGR: 1 bold, 31 red, 32 green. Its marks hold a random number
/// of this process, so that no foreign text can contain them, and only printable_lines() reads them.
std::string styled(std::string_view text, int sgr);

/// Bytes of the control character, or of the one that reorders text, that `text` starts with; 0 if it starts with
/// another character or with a byte that is not UTF-8.
std::size_t control_size(std::string_view text);

/// Whether `line` is UTF-8 without control characters other than tabs, and a carriage return at its end.
bool is_text(std::string_view line);

/// The name of a file as UTF-8, from which name_of_text() makes the same bytes again. A byte that is not UTF-8 becomes
/// the private character U+F700 plus the byte, and so do the bytes of U+F780 to U+F7FF themselves.
std::string text_of_name(std::string_view name);

/// Reads back what text_of_name() made.
std::string name_of_text(std::string_view text);

/// The words as a line of printable characters that Bash reads as the same words, whatever bytes they hold.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace orrery
