#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// What --wide and --markdown ask of tables for people.
struct TableFlags {
  bool wide = false;      ///< as wide as the contents
  bool markdown = false;  ///< in Markdown's syntax, which is as wide as the contents, too
};

/// How text for people is laid out.
struct TextStyle {
  static constexpr std::size_t unlimited = 1 << 20;
  static constexpr std::size_t usual_columns = 100;

  std::size_t columns = usual_columns;  ///< at most; `unlimited`: as wide as the contents
  bool markdown = false;
  bool colour = false;

  bool wide() const { return columns >= unlimited; }
};

/// Columns for text on a file descriptor: those of COLUMNS, else of the terminal, else usual_columns.
std::size_t terminal_columns(int descriptor);
/// The style of stdout: colours only on a terminal, and only if NO_COLOR is empty.
TextStyle stdout_style(const TableFlags& flags);

/// Columns that UTF-8 text takes on a terminal, one per character.
std::size_t columns_of(std::string_view text);
/// The first `columns` columns of UTF-8 text.
std::string_view cut_to(std::string_view text, std::size_t columns);
/// The lines of `text`, broken at blanks; a word longer than `columns` > 0 is broken as well. Blanks
/// in front indent every line. At least one line.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);
/// `words` as printable lines with their ends; all but the first are indented by `indent` < style.columns. In Markdown
/// an empty line follows.
std::string paragraph(std::string_view words, const TextStyle& style, std::size_t indent = 0);

}  // namespace orrery
