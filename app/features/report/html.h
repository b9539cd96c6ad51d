#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// `text` as the contents of an element or of a quoted attribute, in UTF-8: bytes that are not UTF-8 and characters
/// that no document may hold become U+FFFD.
std::string html(std::string_view text);
std::string base64(std::string_view bytes);

/// Numbers of one column, "12.34" or "not measured" if one is not finite, with their decimal points below each other,
/// as HTML: the shorter ones are padded with blanks as wide as a digit.
std::vector<std::string> aligned_numbers(const std::vector<double>& numbers, int digits = 4);

/// "5.3×10⁻⁷" with two digits, "0", or "not measured". It needs no escaping.
std::string power_of_ten(double number);

/// "1,234.5": `digits` significant digits without an exponent; "not measured" if the number is not finite.
std::string plain_number(double number, int digits = 3);

/// A table of cells that are HTML already.
class HtmlTable {
 public:
  /// A column: its title, which is text, and whether it holds numbers.
  struct Column {
    std::string title;
    bool numbers = false;
  };
  explicit HtmlTable(std::vector<Column> columns) : columns_{std::move(columns)} {}
  /// Adds a row, with as many cells as there are columns.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// `caption` is text, `style` a class.
  std::string text(std::string_view caption, std::string_view style) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// `drawing` is HTML, `caption` text.
std::string figure(std::string_view drawing, std::string_view caption);
std::string paragraph_of(std::string_view text, std::string_view style = "");

/// " 2 of 7 results are not drawn: their time was not measured." Empty if none was left out.
std::string left_out(std::size_t count, std::size_t of, std::string_view things, std::string_view reason);

}  // namespace orrery
