#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Escapes `text` for an HTML element or a quoted attribute. Bytes that are not UTF-8, and characters that no document
/// may contain, become U+FFFD.
std::string html(std::string_view text);
std::string base64(std::string_view bytes);

/// Formats the numbers of a column as HTML, padded with blanks as wide as a digit so that their decimal points align. A
/// number that is not finite becomes "not measured".
std::vector<std::string> aligned_numbers(const std::vector<double>& numbers, int digits = 4);

/// Formats a number with two digits: "5.3×10⁻⁷", "0", or "not measured". The text needs no escaping.
std::string power_of_ten(double number);

/// Formats a number with `digits` significant digits and no exponent: "1,234.5". If it is not finite: "not measured".
std::string plain_number(double number, int digits = 3);

/// A table whose cells are HTML.
class HtmlTable {
 public:
  /// A column: its title, as text, and whether it holds numbers.
  struct Column {
    std::string title;
    bool numbers = false;
  };
  explicit HtmlTable(std::vector<Column> columns) : columns_{std::move(columns)} {}
  /// Adds a row. It must have as many cells as there are columns.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Returns the table as HTML. `caption` is text, `style` a CSS class.
  std::string text(std::string_view caption, std::string_view style) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Returns a figure as HTML. `drawing` is HTML, `caption` text.
std::string figure(std::string_view drawing, std::string_view caption);
std::string paragraph_of(std::string_view text, std::string_view style = "");

/// Returns " 2 of 7 results are not drawn: their time was not measured.", or an empty text if `count` is 0.
std::string left_out(std::size_t count, std::size_t of, std::string_view things, std::string_view reason);

}  // namespace orrery
