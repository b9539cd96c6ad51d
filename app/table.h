#pragma once

#include <string>
#include <vector>

namespace orrery {

/// Text in columns for a terminal, as wide as their contents; `align` has a character a column, 'l' or 'r'.
class Table {
 public:
  Table(std::string align, std::vector<std::string> titles);
  /// As many cells as titles.
  void add(std::vector<std::string> cells);
  std::string text() const;

 private:
  std::string align_;
  std::vector<std::vector<std::string>> rows_;  // the titles first
};

/// "1.83 T" for 1.83e12: three digits and a factor of 1000 as a letter, for rates and flops. "-" for what is not
/// finite.
std::string with_prefix(double value);
/// "0.171" with `digits` significant digits; "-" for what is not finite.
std::string significant(double value, int digits = 4);

}  // namespace orrery
