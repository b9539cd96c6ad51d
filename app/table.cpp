#include "app/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace orrery {

Table::Table(std::string align, std::vector<std::string> titles) : align_{std::move(align)} {
  add(std::move(titles));
}

void Table::add(std::vector<std::string> cells) {
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths(align_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      line +=
          align_[i] == 'r' ? fmt::format("{:>{}}  ", row[i], widths[i]) : fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

std::string with_prefix(double value) {
  if (!std::isfinite(value)) return "-";
  constexpr std::string_view letters = " kMGTPE";
  std::size_t power = 0;
  for (; std::abs(value) >= 999.5 && power + 1 < letters.size(); ++power) value /= 1000;
  return power == 0 ? fmt::format("{:.3g}", value) : fmt::format("{:.3g} {}", value, letters[power]);
}

std::string significant(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}g}", value, digits) : "-";
}

}  // namespace orrery
