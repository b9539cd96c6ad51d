#include "app/text/table.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <string_view>

#include "app/text/printable.h"

namespace orrery {
namespace {

constexpr std::size_t least_columns = 40;  // minimum layout width; a narrower terminal wraps the lines

bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

/// Returns the value of an environment variable; empty if it is not set.
std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::size_t terminal_columns(int descriptor) {
  const std::string_view asked = variable("COLUMNS");
  std::size_t columns = 0;
  const auto [end, failed] = std::from_chars(asked.data(), asked.data() + asked.size(), columns);
  if (failed != std::errc{} || end != asked.data() + asked.size()) columns = 0;
  winsize size{};
  if (columns == 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  if (columns == 0) return TextStyle::usual_columns;
  return std::clamp(columns, least_columns, TextStyle::unlimited - 1);
}

TextStyle stdout_style(const TableFlags& flags) {
  const bool colour = isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  return {.columns = flags.wide || flags.markdown ? TextStyle::unlimited : terminal_columns(STDOUT_FILENO),
          .markdown = flags.markdown,
          .colour = colour && !flags.markdown};
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string_view cut_to(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (std::size_t begun = 0; at < text.size(); ++at) {
    if (starts_character(text[at]) && begun++ == columns) break;
  }
  return text.substr(0, at);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  if (const std::size_t indent = std::min(text.find_first_not_of(' '), columns - 1);
      indent > 0 && indent < text.size()) {
    std::vector<std::string> lines = wrapped(text.substr(indent), columns - indent);
    for (std::string& line : lines) line.insert(0, indent, ' ');
    return lines;
  }
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    std::string_view word = text.substr(0, std::min(text.find(' '), text.size()));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t used = columns_of(lines.back());
    if (used > 0 && used + 1 + columns_of(word) > columns) {
      lines.emplace_back();
    } else if (used > 0) {
      lines.back() += ' ';
    }
    for (; columns_of(word) > columns; lines.emplace_back()) {
      const std::string_view part = cut_to(word, columns);
      lines.back() += part;
      word.remove_prefix(part.size());
    }
    lines.back() += word;
  }
  return lines;
}

std::string paragraph(std::string_view words, const TextStyle& style, std::size_t indent) {
  const std::string line_of_words = printable_line(words);
  const std::string_view text = line_of_words;
  std::string result;
  const std::string_view first = text.substr(0, std::min(indent, text.size()));
  for (const std::string& line : wrapped(text.substr(first.size()), style.columns - indent)) {
    result.append(result.empty() ? std::string{first} : std::string(indent, ' ')).append(line) += '\n';
  }
  return style.markdown ? result + '\n' : result;
}

namespace {

constexpr std::size_t gap = 2;  // blanks between columns
// Minimum widths of text columns, which may wrap: preferred, and if space is short.
constexpr std::size_t good_text = 20, least_text = 8;

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, std::min(text.find(' '), text.size()));
    longest = std::max(longest, columns_of(word));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return longest;
}

std::string in_tone(const std::string& text, Tone tone, bool is_title) {
  constexpr int bold = 1, red = 31, green = 32;
  if (is_title) return styled(text, bold);
  return tone == Tone::plain ? text : styled(text, tone == Tone::good ? green : red);
}

std::string without_blanks_at_end(const std::string& text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

Cell::Cell(std::string_view words, Tone tone_of_them) : text{printable_line(words)}, tone{tone_of_them} {}

Table::Table(std::string align, std::vector<std::string> titles, std::vector<std::string> may_leave_out)
    : align_{std::move(align)},
      titles_(std::make_move_iterator(titles.begin()), std::make_move_iterator(titles.end())),
      may_leave_out_{std::move(may_leave_out)} {}

void Table::add(std::vector<Cell> cells) {
  rows_.push_back(std::move(cells));
}

std::size_t Table::natural_width(std::size_t column) const {
  std::size_t width = columns_of(titles_[column].text);
  for (const Row& row : rows_) width = std::max(width, columns_of(row[column].text));
  return width;
}

/// Returns the minimum width of a column with its title. Text columns may wrap.
std::size_t Table::least_width(std::size_t column) const {
  std::size_t width = 0;
  for (const Row& row : rows_) width = std::max(width, columns_of(row[column].text));
  if (align_[column] == 't') width = std::min(width, good_text);
  return std::max(width, longest_word(titles_[column].text));
}

bool Table::has_text(std::size_t column) const {
  return std::ranges::any_of(rows_, [&](const Row& row) { return !row[column].text.empty(); });
}

std::vector<Table::Shown> Table::fitted(std::size_t columns) const {
  std::vector<Shown> shown;
  const auto total = [&shown] {
    return std::accumulate(shown.begin(), shown.end(), std::size_t{0},
                           [](std::size_t sum, const Shown& s) { return sum + s.width + (sum > 0 ? gap : 0); });
  };
  for (std::size_t i = 0; i < titles_.size(); ++i) shown.push_back({i, natural_width(i)});
  if (total() <= columns) return shown;

  std::erase_if(shown, [&](const Shown& s) { return !has_text(s.column); });
  for (Shown& s : shown) s.width = least_width(s.column);
  for (auto title = may_leave_out_.begin(); title != may_leave_out_.end() && total() > columns; ++title) {
    std::erase_if(shown, [&](const Shown& s) { return titles_[s.column].text == *title; });
  }
  // Text columns absorb the difference: they grow or shrink by one in turn.
  for (bool changed = true; changed && total() != columns;) {
    changed = false;
    for (Shown& s : shown) {
      const bool grows = total() < columns;
      if (align_[s.column] != 't' || total() == columns) continue;
      if (grows ? s.width >= natural_width(s.column) : s.width <= least_text) continue;
      s.width = grows ? s.width + 1 : s.width - 1;
      changed = true;
    }
  }
  return shown;
}

/// Formats a row; each cell may take several lines.
std::string Table::line_text(const Row& row, const std::vector<Shown>& shown, const TextStyle& style,
                             bool is_title) const {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (const auto& [column, width] : shown) {
    const bool breaks = is_title || align_[column] == 't';
    cells.push_back(breaks ? wrapped(row[column].text, std::max<std::size_t>(width, 1))
                           : std::vector{row[column].text});
    height = std::max(height, cells.back().size());
  }
  std::string text;
  for (std::size_t at = 0; at < height; ++at) {
    std::string line;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const std::string part = at < cells[i].size() ? cells[i][at] : std::string{};
      const std::string blanks(shown[i].width - std::min(columns_of(part), shown[i].width), ' ');
      const Cell& cell = row[shown[i].column];
      const std::string toned = style.colour && !part.empty() ? in_tone(part, cell.tone, is_title) : part;
      line += (i > 0 ? std::string(gap, ' ') : "") + (align_[shown[i].column] == 'r' ? blanks + toned : toned + blanks);
    }
    text += without_blanks_at_end(line) + '\n';
  }
  return text;
}

std::string Table::left_out(const std::vector<Shown>& shown, std::size_t columns) const {
  std::string titles;
  for (std::size_t i = 0; i < titles_.size(); ++i) {
    const bool is_shown = std::ranges::find(shown, i, &Shown::column) != shown.end();
    if (!is_shown && has_text(i)) titles += (titles.empty() ? "" : ", ") + titles_[i].text;
  }
  if (titles.empty()) return {};
  return fmt::format("Left out to fit {} columns: {}. --wide shows all.\n", columns, titles);
}

std::string Table::markdown() const {
  const auto line_of = [](const Row& row) {
    std::string line = "|";
    for (const Cell& cell : row) {
      std::string text = cell.text;
      for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
      line += ' ' + text + (text.empty() ? "|" : " |");
    }
    return line + '\n';
  };
  std::string text = line_of(titles_) + '|';
  for (const char align : align_) text += align == 'r' ? " ---: |" : " --- |";
  text += '\n';
  for (const Row& row : rows_) text += line_of(row);
  return text + '\n';
}

std::string Table::text(const TextStyle& style) const {
  if (style.markdown) return markdown();
  const std::vector<Shown> shown = fitted(style.columns);
  const bool titled = std::ranges::any_of(titles_, [](const Cell& title) { return !title.text.empty(); });
  std::string text = titled ? line_text(titles_, shown, style, true) : std::string{};
  for (const Row& row : rows_) text += line_text(row, shown, style, false);
  return text + left_out(shown, style.columns);
}

std::string with_prefix(double value) {
  if (!std::isfinite(value)) return "-";
  constexpr std::string_view letters = " kMGTPE";
  std::size_t power = 0;
  for (; std::abs(value) >= 999.5 && power + 1 < letters.size(); ++power) value /= 1000;
  return power == 0 ? fmt::format("{:.3g}", value) : fmt::format("{:.3g} {}", value, letters[power]);
}

std::string milliseconds(double ms) {
  if (!std::isfinite(ms)) return "-";
  return ms < 999.5 ? significant(ms, 3) + " ms" : significant(ms / 1000, 3) + " s";
}

std::string short_exponent(std::string text) {
  const std::size_t exponent = text.find('e');
  if (exponent != std::string::npos && text[exponent + 2] == '0') text.erase(exponent + 2, 1);
  return text;
}

std::string significant(double value, int digits) {
  return std::isfinite(value) ? short_exponent(fmt::format("{:.{}g}", value, digits)) : "-";
}

std::string scientific(double value, int digits) {
  return std::isfinite(value) ? short_exponent(fmt::format("{:.{}e}", value, digits - 1)) : "-";
}

}  // namespace orrery
