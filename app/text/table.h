// Layout of text for people: styles, paragraphs, tables, numbers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// The flags --wide and --markdown for tables for people.
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

enum class Tone { plain, good, bad };

/// One line, whoever wrote it: see printable_line().
struct Cell {
  std::string text;
  Tone tone = Tone::plain;  ///< its colour

  Cell(std::string_view words, Tone tone_of_them = Tone::plain);
  Cell(const std::string& words, Tone tone_of_them = Tone::plain) : Cell(std::string_view{words}, tone_of_them) {}
  Cell(const char* words) : Cell(std::string_view{words}) {}
};

/// Text in columns for people, that fits the columns of a TextStyle: a table that is too wide breaks titles and text
/// cells into lines, leaves out columns without any text, and then those that it may leave out, which it names.
class Table {
 public:
  /// `align` has a character per column: 'l' or 'r', or 't' for text, which may be broken at blanks. If all titles are
  /// empty, none are shown.
  Table(std::string align, std::vector<std::string> titles, std::vector<std::string> may_leave_out = {});
  /// Adds a row, with as many cells as titles.
  void add(std::vector<Cell> cells);
  std::string text(const TextStyle& style = {}) const;

 private:
  using Row = std::vector<Cell>;
  /// A column that is shown, and its width.
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
  std::vector<std::string> may_leave_out_;  // titles, the first to go first
  std::vector<Row> rows_;
};

/// "1.83 T" for 1.83e12: three digits and a factor of 1000 as a letter, for rates and flops. "-" for what is not
/// finite.
std::string with_prefix(double value);

/// "0.144 ms", "4.14 s": three digits; "-" for what is not finite.
std::string milliseconds(double ms);

/// "6.1e-8" for "6.1e-08", a number as fmt writes it; "nan" and "inf" stay.
std::string short_exponent(std::string text);

/// "0.171" or "6.1e-8" with `digits` significant digits; "-" for what is not finite.
std::string significant(double value, int digits = 4);

/// "6.10e-8" with `digits` digits, zeros too; "-" for what is not finite.
std::string scientific(double value, int digits);

}  // namespace orrery
