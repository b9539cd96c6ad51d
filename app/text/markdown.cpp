#include "app/text/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "app/text/parse_value.h"
#include "app/text/printable.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

using Kind = TextBlock::Kind;

constexpr std::size_t most_markdown_line_bytes = 1000, most_cells = 12;
constexpr int most_lines = 10'000, most_level = 3;

/// Returns the cells of a table's line, which '|' separates. A '|' in `code` belongs to its cell.
std::vector<std::string> cells_of(std::string_view line) {
  if (!line.ends_with('|') || line.size() < 2) throw UsageError("a line of a table must begin and end with '|'");
  std::vector<std::string> cells(1);
  bool in_code = false;
  for (const char c : line.substr(1, line.size() - 2)) {
    in_code ^= c == '`';
    if (c == '|' && !in_code) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  if (cells.size() > most_cells) throw UsageError(fmt::format("a table has at most {} columns", most_cells));
  for (std::string& cell : cells) cell = std::string{trimmed(cell)};
  return cells;
}

/// Returns whether this is the line between a table's titles and rows: "| --- | ---: |".
bool is_rule(const std::vector<std::string>& cells) {
  return std::ranges::all_of(cells, [](const std::string& cell) {
    return cell.find("---") != std::string::npos && cell.find_first_not_of("-:") == std::string::npos;
  });
}

class MarkdownParser {
 public:
  void add(std::string_view whole, int number) {
    number_ = number;
    if (whole.size() > most_markdown_line_bytes)
      throw UsageError(fmt::format("a line has at most {} bytes", most_markdown_line_bytes));
    if (number > most_lines) throw UsageError(fmt::format("a text has at most {} lines", most_lines));
    if (!is_text(whole)) throw UsageError("this is not text: it must be UTF-8 without control characters");
    const std::string_view line = trimmed(whole);
    if (in_code_) {
      add_code(whole, line);
    } else if (line.starts_with("```")) {
      begin(Kind::code).tag = trimmed(line.substr(3));
      in_code_ = true;
    } else if (line.empty()) {
      open_ = false;
    } else if (line.front() == '#') {
      add_heading(line);
    } else if (line.front() == '|') {
      add_row(line);
    } else if (line.starts_with("- ")) {
      begin(Kind::bullet).text = trimmed(line.substr(2));
    } else {
      add_words(line);
    }
  }

  std::vector<TextSection> end(const std::string& name) {
    if (in_code_) {
      throw UsageError(fmt::format("{}:{}: the code that begins here has no end: a line ```", name, last().line));
    }
    return std::move(sections_);
  }

 private:
  std::optional<Kind> open_kind() const {
    return open_ ? std::optional{sections_.back().blocks.back().kind} : std::nullopt;
  }
  TextBlock& last() { return sections_.back().blocks.back(); }

  TextBlock& begin(Kind kind) {
    if (sections_.empty()) throw UsageError("a text begins with its title: a line '# TITLE'");
    open_ = true;
    return sections_.back().blocks.emplace_back(TextBlock{.kind = kind, .line = number_});
  }

  void add_code(std::string_view whole, std::string_view line) {
    if (line == "```") {
      in_code_ = open_ = false;
      return;
    }
    std::string text{whole};
    std::erase(text, '\r');
    std::ranges::replace(text, '\t', ' ');
    last().text += text + '\n';
  }

  void add_heading(std::string_view line) {
    const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
    const std::string_view title = trimmed(line.substr(level));
    if (level > most_level || title.empty() || line[level] != ' ') {
      throw UsageError(fmt::format("a heading is one to {} '#', a blank and its words", most_level));
    }
    sections_.push_back({static_cast<int>(level), std::string{title}, number_});
    open_ = false;
  }

  void add_row(std::string_view line) {
    std::vector<std::string> cells = cells_of(line);
    const bool begins = open_kind() != Kind::table;
    TextBlock& table = begins ? begin(Kind::table) : last();
    if (!begins && cells.size() != table.rows.front().size()) {
      throw UsageError(
          fmt::format("a row of this table has {} cells; here are {}", table.rows.front().size(), cells.size()));
    }
    const bool second = number_ == table.line + 1;
    if (second != is_rule(cells)) {
      throw UsageError("the second line of a table, and no other, must be a rule such as | --- | --- |");
    }
    if (!second) table.rows.push_back(std::move(cells));
  }

  void add_words(std::string_view line) {
    const std::optional<Kind> kind = open_kind();
    const bool continues = kind == Kind::paragraph || kind == Kind::bullet;
    std::string& text = continues ? last().text : begin(Kind::paragraph).text;
    if (continues) text += ' ';
    text += line;
  }

  std::vector<TextSection> sections_;
  int number_ = 0;
  bool in_code_ = false;
  bool open_ = false;  // whether the next line may continue the last block
};

/// Returns the position of the star that ends the *words* at the beginning of `line`; npos if there is none. A star
/// beside a blank means multiplication.
std::size_t end_of_emphasis(std::string_view line) {
  const std::size_t end = line.find('*', 1);
  const bool words = end != std::string_view::npos && end > 1 && line[1] != ' ' && line[end - 1] != ' ';
  return words ? end : std::string_view::npos;
}

}  // namespace

std::vector<TextSection> parse_markdown(std::string_view text, const std::string& name) {
  MarkdownParser parser;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    at_line(name, number, [&] { parser.add(line, number); });
  }
  return parser.end(name);
}

std::vector<TextSpan> spans_of(std::string_view line) {
  using Style = TextSpan::Style;
  std::vector<TextSpan> spans;
  const auto add = [&](Style style, std::string_view text) {
    if (text.empty()) return;
    if (spans.empty() || spans.back().style != style) spans.push_back({style, {}});
    spans.back().text += text;
  };
  const auto until = [&](std::string_view mark, std::size_t from) { return line.find(mark, from); };
  while (!line.empty()) {
    const std::size_t at = std::min(line.find_first_of("`*["), line.size());
    add(Style::plain, line.substr(0, at));
    line.remove_prefix(at);
    if (line.empty()) break;
    std::size_t end = std::string_view::npos;
    if (line.front() == '`' && (end = until("`", 1)) != std::string_view::npos) {
      add(Style::code, line.substr(1, end - 1));
      line.remove_prefix(end + 1);
    } else if (line.starts_with("**") && (end = until("**", 2)) != std::string_view::npos) {
      add(Style::strong, line.substr(2, end - 2));
      line.remove_prefix(end + 2);
    } else if (line.front() == '*' && (end = end_of_emphasis(line)) != std::string_view::npos) {
      add(Style::strong, line.substr(1, end - 1));
      line.remove_prefix(end + 1);
    } else if (const std::size_t words = until("](", 1); line.front() == '[' && words != std::string_view::npos &&
                                                         (end = until(")", words)) != std::string_view::npos &&
                                                         until("]", 1) == words) {
      add(Style::plain, line.substr(1, words - 1));
      line.remove_prefix(end + 1);
    } else {
      add(Style::plain, line.substr(0, 1));
      line.remove_prefix(1);
    }
  }
  return spans;
}

std::string plain_text(std::string_view line) {
  std::string text;
  for (const TextSpan& span : spans_of(line)) {
    text += span.style == TextSpan::Style::code ? '`' + span.text + '`' : span.text;
  }
  return text;
}

}  // namespace orrery
