// Layout of text for users: styles, paragraphs, tables, numbers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// The flags --wide and --markdown of tables for users.
struct TableFlags {
  bool wide = false;      ///< as wide as the contents
  bool markdown = false;  ///< in Markdown syntax, also as wide as the contents
};

/// Layout of text for users.
struct TextStyle {
  static constexpr std::size_t unlimited = 1 << 20;
  static constexpr std::size_t usual_columns = 100;

  std::size_t columns = usual_columns;  ///< maximum; `unlimited`: as wide as the contents
  bool markdown = false;
  bool colour = false;

  bool wide() const { return columns >= unlimited; }
};

/// Returns the width for text on a file descriptor: the variable COLUMNS, else the terminal's, else usual_columns.
std::size_t terminal_columns(int descriptor);

/// Returns the style for stdout. Uses colours only on a terminal, and only if NO_COLOR is empty.
TextStyle stdout_style(const TableFlags& flags);

/// Returns the columns of UTF-8 text on a terminal, one per character.
std::size_t columns_of(std::string_view text);

/// Returns the first `columns` columns of UTF-8 text.
std::string_view cut_to(std::string_view text, std::size_t columns);

/// Splits `text` into at least one line, at blanks. Divides words longer than `columns` > 0. Leading blanks indent
/// every line.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// Returns `words` as printable lines with their ends. All but the first are indented by `indent` < style.columns. In
/// Markdown, an empty line follows.
std::string paragraph(std::string_view words, const TextStyle& style, std::size_t indent = 0);

enum class Tone { plain, good, bad };

/// A cell of one line, made printable by printable_line().
struct Cell {
  std::string text;
  Tone tone = Tone::plain;  ///< colour of the text

  Cell(std::string_view words, Tone tone_of_them = Tone::plain);
  Cell(const std::string& words, Tone tone_of_them = Tone::plain) : Cell(std::string_view{words}, tone_of_them) {}
  Cell(const char* words) : Cell(std::string_view{words}) {}
};

/// A table for users that fits the columns of a TextStyle. If it is too wide, titles and text cells wrap, and columns
/// without any text are left out. Then columns of `may_leave_out` are left out; a note lists them.
class Table {
 public:
  /// `align` has one character per column: 'l' or 'r', or 't' for text that may wrap at blanks. If all titles are
  /// empty, the line of titles is omitted. `may_leave_out` lists titles.
  Table(std::string align, std::vector<std::string> titles, std::vector<std::string> may_leave_out = {});
  /// Adds a row with as many cells as there are titles.
  void add(std::vector<Cell> cells);
  std::string text(const TextStyle& style = {}) const;

 private:
  using Row = std::vector<Cell>;
  /// A visible column and its width.
  struct Shown {
    std::size_t column;
    std::size_t width;
  };

  std::size_t natural_width(std::size_t column) const;
  std::size_t least_width(std::size_t column) const;
  bool has_text(std::size_t column) const;
  std::vector<Shown> fitted(std::size_t columns) const;
  std::string line_text(const Row& row, const std::vector<Shown>& shown, const TextStyle& style, bool is_title) const;
  std::string left_out(const std::vector<Shown>& shown, std::size_t columns) const;
  std::string markdown() const;

  std::string align_;
  Row titles_;
  std::vector<std::string> may_leave_out_;  // titles, in the order in which they are left out
  std::vector<Row> rows_;
};

/// Formats with three digits and an SI prefix, for rates and flops: "1.83 T" for 1.83e12; "-" if not finite.
std::string with_prefix(double value);

/// Formats with three digits: "0.144 ms", "4.14 s"; "-" if not finite.
std::string milliseconds(double ms);

/// Shortens the exponent of a number that fmt wrote: "6.1e-8" for "6.1e-08". Leaves "nan" and "inf".
std::string short_exponent(std::string text);

/// Formats with `digits` significant digits: "0.171" or "6.1e-8"; "-" if not finite.
std::string significant(double value, int digits = 4);

/// Formats with exactly `digits` digits: "6.10e-8"; "-" if not finite.
std::string scientific(double value, int digits);

}  // namespace orrery
