#pragma once

#include <string>
#include <string_view>

namespace orrery {

/// `text` as one line that is fit for a terminal, whoever wrote the parts of it: line ends and tabs are blanks, other
/// control characters and bytes that are not UTF-8 are \xNN, a word of more than 160 bytes keeps its first 60 and last
/// 20, and a text of more than 4,000 bytes its first 3,000 and last 1,000.
std::string printable(std::string_view text);

/// Whether `line` is UTF-8 without control characters other than tabs and carriage returns.
bool is_text(std::string_view line);

}  // namespace orrery
