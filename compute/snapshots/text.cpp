// Text tables: one line of numbers per body. "#" begins a comment. Orrery writes time and units as comments.
#include "compute/core/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/snapshots/columns.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/snapshot_input.h"
#include "compute/snapshots/text_lines.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view names_cure =
    "name them with --columns, such as --columns m,x,y,z,vx,vy,vz, or in a first line";

/// Reads an id. Accepts forms such as "1.1e+01", as numpy writes them, for ids below 2^53; larger ones must be
/// integers.
std::optional<std::uint64_t> id_in(std::string_view word) {
  constexpr double end = 9007199254740992.0;  // 2^53
  if (const auto id = parsed_number<std::uint64_t>(word)) return id;
  const auto value = number_in(word);
  if (!value || !(*value >= 0 && *value < end) || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

/// Names of a table's columns.
struct Names {
  std::vector<BodyColumn> columns;
  std::vector<std::string> words;  // names as in the file
  std::vector<std::string> units;  // units in the names, such as "kpc"
};

/// Returns whether cells can be names: none of them is a number.
bool are_words(const std::vector<TextCell>& cells) {
  return std::ranges::none_of(cells, [](const TextCell& cell) { return number_in(cell.text).has_value(); });
}

bool has_column(const Names& names, BodyColumn column) {
  return std::ranges::find(names.columns, column) != names.columns.end();
}

/// Sets the column of each of `words`. Returns nothing if none of them is x.
std::optional<Names> with_columns(Names names) {
  names.columns = columns_named(names.words);
  for (const std::string& word : names.words) {
    std::string unit;
    plain_name(word, unit);
    if (!unit.empty()) names.units.push_back(unit);
  }
  return has_column(names, BodyColumn::x) ? std::optional{std::move(names)} : std::nullopt;
}

/// Reads the line as names of columns. Returns nothing if it has numbers, or no x.
std::optional<Names> names_in(std::string_view line) {
  std::vector<TextCell> cells;
  for (const Separator separator : {Separator::semicolon, Separator::tab, Separator::comma, Separator::blanks}) {
    split_cells(line, separator, cells);
    if (separator != Separator::blanks && cells.size() < 2) continue;
    if (!are_words(cells)) return std::nullopt;
    Names names;
    for (const TextCell& cell : cells) {
      if (separator == Separator::blanks && cell.text.find_first_of("[(") == 0) {  // "x [kpc]" is one name
        names.units.emplace_back(cell.text.substr(1, cell.text.find_first_of("])") - 1));
        continue;
      }
      names.words.emplace_back(cell.text);
    }
    if (auto known = with_columns(std::move(names))) return known;
  }
  return std::nullopt;
}

/// Returns the number in a word such as "1", "[1]", "1:" or "col1:", which precedes a column's name; else nothing.
std::optional<std::uint64_t> column_number(std::string_view word) {
  for (const std::string_view prefix : {"column", "Column", "col", "Col"}) {
    if (word.starts_with(prefix)) word.remove_prefix(prefix.size());
  }
  const std::size_t first = word.find_first_not_of("[(#"), last = word.find_last_not_of("]):.=");
  if (first == word.npos || last == word.npos || last < first) return std::nullopt;
  return parsed_number<std::uint64_t>(word.substr(first, last + 1 - first));
}

/// Names in a comment that also has other words: "columns: x y z", "1 x 2 y 3 z", "x y z in kpc, m in Msun".
struct ListedNames {
  Names names;                         // its `columns` are empty
  std::vector<std::uint64_t> numbers;  // numbers in front of names
};

ListedNames listed_names(std::string_view text) {
  ListedNames found;
  std::vector<std::string_view> words;
  split_words(text, words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.find_first_not_of("=-:.") == word.npos) continue;
    if (const auto number = column_number(word)) {
      found.numbers.push_back(*number);
    } else if (word == "in" && i + 1 < words.size()) {
      found.names.units.emplace_back(words[++i]);
    } else if (word.find_first_of("[(") == 0) {
      found.names.units.emplace_back(word.substr(1, word.find_first_of("])") - 1));
    } else if (word.ends_with(':') && column_named(word) == BodyColumn::skip) {
      found.names.words.clear(), found.numbers.clear();  // the words so far only introduced the names
    } else if (i + 1 == words.size() || !column_number(words[i + 1]) || (word != "column" && word != "Column")) {
      found.names.words.emplace_back(word);
    }
  }
  return found;
}

bool is_empty(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

/// Returns whether the first line that is not a comment begins with a number or has names of columns. If `head` has
/// only comments, returns true.
bool detect_text(std::span<const std::byte> head, std::uint64_t size) {
  constexpr std::size_t shortest = 5;  // "0 0 0"
  if (head.size() < shortest) return false;
  std::string_view text{reinterpret_cast<const char*>(head.data()), head.size()};
  const auto is_text = [](unsigned char c) { return c >= 0x20 || c == '\t' || c == '\n' || c == '\r'; };
  if (!std::ranges::all_of(text, is_text)) return false;
  text = without_byte_order_mark(text);
  std::vector<TextCell> cells;
  bool comments = false;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool cut = end == std::string_view::npos && head.size() < size;
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (is_comment(line)) comments = true;
    if (!is_comment(line) && !is_empty(line)) {
      if (names_in(line)) return true;
      split_cells(line, separator_of(line), cells);
      if (cut || cells.size() >= 3) return cut || number_in(cells.front().text);
      if (cells.size() != 1 || !number_in(cells.front().text)) return false;
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return comments;
}

constexpr const char* no_commas = "; decimal commas are not read: write numbers with a point";

class TextReader {
 public:
  explicit TextReader(SnapshotInput& input) : input_{input}, lines_{input}, columns_{input.hints().columns} {}

  Snapshot read() {
    refuse_other_encodings();
    while (lines_.next()) {
      std::string_view line = lines_.line();
      if (is_comment(line)) {
        if (!bodies_) take_comment(without_mark(line));
      } else if (line = without_remark(line); !is_empty(line)) {
        if (bodies_ || !is_heading(line)) add(line);
      }
    }
    if (!bodies_) input_.fail_at(input_.size(), lines_.place("end"), "a text table without bodies");
    refuse_possible_commas();
    bodies_->finish();
    facts_.give(snapshot_);
    add_notes();
    return std::move(snapshot_);
  }

 private:
  void refuse_other_encodings() const {
    const std::span<const std::byte> head = input_.head();
    const auto starts_with = [&](unsigned a, unsigned b) {
      return head.size() > 1 && head[0] == std::byte(a) && head[1] == std::byte(b);
    };
    if (starts_with(0xff, 0xfe) || starts_with(0xfe, 0xff)) {
      input_.fail_at(0, "encoding", "UTF-16 text; save it as UTF-8");
    }
  }

  void take_comment(std::string_view text) {
    if (const std::string fault = facts_.take(text); !fault.empty()) {
      input_.fail_at(lines_.byte_of(text), lines_.place("comment"), fault);
    }
    take_ecsv_unit(text);
    if (std::optional<Names> names = names_in(text)) {
      // All words of this comment are names of columns. Otherwise, as a sentence may contain an "x" too, its words are
      // used only if there is one per value.
      if (!has_column(*names, BodyColumn::skip) && names->columns.size() > 2)
        names_ = std::move(*names), is_certain_ = true;
      else
        take_possible(std::move(*names), text);
    }
    take_list(text);
  }

  /// Remembers words of a comment as possible names. find_columns() uses them if there is one per value.
  void take_possible(Names names, std::string_view text) {
    constexpr std::size_t most_quoted = 80;
    constexpr std::size_t most_comments = 1000;
    if (!has_column(names, BodyColumn::y) || possible_names_.size() == most_comments) return;
    possible_names_.push_back(std::move(names));
    possible_text_ = text.substr(0, most_quoted);
  }

  /// Takes names from a comment with other words: all names in one comment, or one name with its column number.
  void take_list(std::string_view text) {
    ListedNames list = listed_names(text);
    if (list.names.words.empty()) return;
    if (list.numbers.size() != 1) {
      const bool numbered = !list.numbers.empty();
      if (numbered && list.numbers.size() != list.names.words.size()) return;
      if (auto names = with_columns(std::move(list.names))) take_possible(std::move(*names), text);
      return;
    }
    const std::uint64_t number = list.numbers.front();
    if (numbered_.words.empty() || number != next_number_) {
      if (number > 1) return;
      numbered_ = {};
    }
    constexpr std::uint64_t most_columns = 1000;
    if (number > most_columns) return;
    next_number_ = number + 1;
    numbered_.words.push_back(list.names.words.front());
    numbered_.units.insert(numbered_.units.end(), list.names.units.begin(), list.names.units.end());
    if (auto names = with_columns(numbered_)) take_possible(std::move(*names), text);
  }

  /// Takes the unit in a line such as astropy's "- {name: x, unit: kpc, datatype: float64}".
  void take_ecsv_unit(std::string_view text) {
    constexpr std::string_view mark = "unit: ";
    const std::size_t at = text.find(mark);
    if (!text.starts_with("- {") || at == text.npos) return;
    text.remove_prefix(at + mark.size());
    ecsv_units_.emplace_back(text.substr(0, text.find_first_of(",}")));
  }

  /// Returns whether a line before the first body is not a body: names, a number of bodies, or a spreadsheet's "sep=;".
  bool is_heading(std::string_view line) {
    if (lines_.number() == 1 && line.starts_with("sep=")) return true;
    if (std::optional<Names> names = names_in(line)) {
      names_ = std::move(*names);
      is_certain_ = has_own_line_ = true;
      return true;
    }
    separator_ = separator_of(line);
    split_cells(line, separator_, cells_);
    if (cells_.size() == 1 && number_in(cells_.front().text)) {
      passed_over_.push_back(lines_.number());
      return true;
    }
    if (cells_.size() > 1 && are_words(cells_) && !has_own_line_ &&
        fault_of_number(cells_[0].text).ends_with("is not a number")) {
      if (!columns_.empty()) return has_own_line_ = true;
      fail_at(line, "names",
              "no name of x and y among these names of columns; known names: " + known_columns() + "; " +
                  std::string{names_cure});
    }
    find_columns(line);
    bodies_.emplace(snapshot_, columns_);
    return false;
  }

  /// Determines the columns: as given by the user, as named in the table, or guessed from the number of values.
  /// `cells_` are the cells of the first body.
  void find_columns(std::string_view line) {
    const std::size_t values = cells_.size();
    const auto fits = [values](const Names& names) { return names.columns.size() == values; };
    const auto fitting = std::find_if(possible_names_.rbegin(), possible_names_.rend(), fits);
    if (!is_certain_ && fitting != possible_names_.rend()) names_ = std::move(*fitting), is_certain_ = true;
    if (columns_.empty() && is_certain_) take_names();
    if (columns_.empty()) {
      using enum BodyColumn;
      guessed_ = true;
      if (values == 3) columns_ = {x, y, z};
      if (values == 6) columns_ = {x, y, z, vx, vy, vz};
      if (values == 7) columns_ = {mass, x, y, z, vx, vy, vz};
    }
    if (columns_.empty()) {
      fail_at(line, "columns",
              counted(values, "value") + ", whose meaning is not known: " + std::string{names_cure} + plane_cure() +
                  comma_hint());
    }
    if (const std::string fault = fault_of_columns(columns_); !fault.empty()) {
      fail_at(line, "columns", fault + ": " + std::string{names_cure});
    }
    maybe_commas_ = guessed_ && values == 6 && separator_ == Separator::comma;
  }

  void take_names() {
    named_ = true;
    columns_ = names_.columns;
    // R and pandas write no heading for the column of row names.
    const std::string_view first = cells_.front().text;
    has_row_names_ = has_own_line_ && cells_.size() == columns_.size() + 1 &&
                     (cells_.front().quoted || first == "0" || first == "1" || !number_in(first));
    if (has_row_names_) {
      columns_.insert(columns_.begin(), BodyColumn::skip);
      names_.words.insert(names_.words.begin(), "");
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] != BodyColumn::skip) continue;
      const std::string& word = names_.words[i];
      snapshot_.unread.push_back(word.empty() ? "column " + std::to_string(i + 1) + ", which has no name"
                                              : "column " + word);
    }
  }

  /// Returns a hint for lines of 2 to 5 values, too few for positions and velocities in space: the bodies may lie in a
  /// plane.
  std::string plane_cure() const {
    return cells_.size() >= 2 && cells_.size() <= 5 ? "; bodies in a plane may have --columns x,y,vx,vy,m" : "";
  }

  std::string comma_hint() const {
    const bool halves = separator_ == Separator::comma && cells_.size() % 2 == 0 && are_whole(cells_);
    const auto has_comma = [](const TextCell& cell) { return cell.text.find(',') != cell.text.npos; };
    return halves || std::ranges::any_of(cells_, has_comma) ? no_commas : "";
  }

  [[noreturn]] void fail_at(std::string_view part, std::string_view field, const std::string& cause) const {
    input_.fail_at(lines_.byte_of(part), lines_.place(field), cause);
  }

  void add(std::string_view line) {
    split_cells(line, separator_, cells_);
    if (cells_.size() != columns_.size()) {
      fail_at(line, "columns",
              counted(cells_.size(), "value") + ", but the table has " + counted(columns_.size(), "column") + ": " +
                  std::string{names_cure} + comma_hint());
    }
    check_row_name();
    maybe_commas_ = maybe_commas_ && are_whole(cells_) && has_plain_fractions();
    TableRow row;
    for (std::size_t i = 0; i < cells_.size(); ++i) take(cells_[i].text, columns_[i], row);
    if (std::string cause = bodies_->append(row); !cause.empty()) {
      fail_at(
          line, "body " + std::to_string(snapshot_.bodies.positions.size()) + " (counted from 0)",
          guessed_ ? cause + " (the columns are taken as " + names_of(columns_) + "; --columns names others)" : cause);
    }
    constexpr std::size_t interval = 65536;
    if (const std::size_t count = snapshot_.bodies.positions.size(); count % interval == 0) {
      input_.require_room_for(count);
    }
  }

  void take(std::string_view text, BodyColumn column, TableRow& row) const {
    if (column == BodyColumn::skip) return;
    const std::string place = "column " + std::string{column_name(column)};
    if (column == BodyColumn::id) {
      const auto id = id_in(text);
      if (!id) fail_at(text, place, "not a whole number from 0 to 2^64 - 1");
      row.id = *id;
      return;
    }
    const auto value = number_in(text);
    if (!value) fail_at(text, place, fault_of_number(text));
    row[column] = *value;
  }

  /// Checks the row name: a word, or a number that grows by 1 per line. Any other number is an unnamed column.
  void check_row_name() {
    if (!has_row_names_) return;
    const auto number = parsed_number<std::uint64_t>(cells_.front().text);
    const std::size_t bodies = snapshot_.bodies.positions.size();
    if (bodies == 0) first_row_name_ = number.value_or(0);
    if (!number || cells_.front().quoted || *number == first_row_name_ + bodies) return;
    fail_at(cells_.front().text, "columns",
            counted(cells_.size(), "value") + ", but the table names " + counted(columns_.size() - 1, "column") + ": " +
                std::string{names_cure});
  }

  /// Returns whether every second value has no sign, as digits after a decimal comma have none.
  bool has_plain_fractions() const {
    for (std::size_t i = 1; i < cells_.size(); i += 2) {
      if (cells_[i].text.starts_with('+') || cells_[i].text.starts_with('-')) return false;
    }
    return true;
  }

  void refuse_possible_commas() const {
    if (!maybe_commas_) return;
    input_.fail(
        "six columns of whole numbers with commas between may be three with decimal commas (0,5 for 0.5), which are "
        "not read: " +
        std::string{names_cure});
  }

  void add_notes() {
    if (guessed_) {
      snapshot_.notes.push_back("the columns have no names; by their number, they are read as " + names_of(columns_) +
                                "; --columns names others");
      if (!possible_text_.empty()) {
        snapshot_.notes.push_back("comment '" + possible_text_ +
                                  "' has names, but not as many as there are columns: it is not used");
      }
    }
    std::vector<std::string> units = ecsv_units_;
    if (named_) units.insert(units.end(), names_.units.begin(), names_.units.end());
    if (!units.empty() && !snapshot_.units && !input_.hints().units) {
      std::ranges::sort(units);
      units.erase(std::unique(units.begin(), units.end()), units.end());
      snapshot_.notes.push_back("units in the names of columns (" + joined(units) +
                                ") are ignored; set them with --units");
    }
    for (const std::uint64_t line : passed_over_) {
      snapshot_.notes.push_back("line " + std::to_string(line) + " has one number and is skipped");
    }
  }

  static std::string names_of(const std::vector<BodyColumn>& columns) {
    std::string names;
    for (const BodyColumn column : columns) names.append(names.empty() ? "" : " ").append(column_name(column));
    return names;
  }

  SnapshotInput& input_;
  TextLines lines_;
  SnapshotFacts facts_;
  std::vector<BodyColumn> columns_;
  Names names_;
  std::vector<Names> possible_names_;  // lists of names in comments with other words
  std::string possible_text_;          // the last of these comments
  Names numbered_;                     // names from comments with one name and its column number each
  std::uint64_t next_number_ = 0;      // column number expected next for numbered_
  bool is_certain_ = false;            // names_ apply even if their number differs from that of the values
  bool has_own_line_ = false;          // names_ are on a line that is no comment
  bool has_row_names_ = false;         // a column of row names precedes the named columns
  bool named_ = false;                 // columns_ come from names in the table
  bool guessed_ = false;               // columns_ were guessed from the number of values
  bool maybe_commas_ = false;          // all values so far may be halves of numbers with decimal commas
  std::uint64_t first_row_name_ = 0;
  std::vector<std::string> ecsv_units_;
  std::vector<std::uint64_t> passed_over_;  // numbers of lines that were skipped
  Separator separator_ = Separator::blanks;
  std::vector<TextCell> cells_;
  Snapshot snapshot_;
  std::optional<TableBodies> bodies_;
};

Snapshot read_table(SnapshotInput& input) {
  return TextReader{input}.read();
}

/// Appends the shortest text that reads back as the same number.
template <class Number>
void append_number(std::string& text, Number value) {
  std::array<char, 32> digits;
  const auto [end, failed] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), end);
}

std::vector<fs::path> write_table(const fs::path& file, const SnapshotView& snapshot, const SnapshotOutput& output) {
  if (output.order)
    throw UsageError("--byte-order is for binary files, and '" + file.string() + "' is text: leave it out");
  const std::vector<BodyColumn> columns = columns_of(snapshot);
  const bool commas = file.extension() == ".csv";
  const char separator = commas ? ',' : ' ';
  AtomicFile out{file, output.existing};
  std::string text;
  for (const std::string& fact : facts_of(snapshot)) text += "# " + fact + '\n';
  text += commas ? "" : "# ";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) text += separator;
    text += column_name(columns[i]);
  }
  text += '\n';
  constexpr std::size_t block = 1 << 20;
  for (std::size_t body = 0; body < snapshot.bodies->count(); ++body) {
    const TableRow row = table_row(snapshot, body);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) text += separator;
      if (columns[i] == BodyColumn::id) {
        append_number(text, row.id);
      } else if (is_wide(columns[i], snapshot)) {
        append_number(text, row[columns[i]]);
      } else {
        append_number(text, static_cast<float>(row[columns[i]]));
      }
    }
    text += '\n';
    if (text.size() < block) continue;
    out.write(text);
    text.clear();
  }
  out.write(text);
  return {out.commit()};
}

}  // namespace

extern const SnapshotFormat text_format;
constinit const SnapshotFormat text_format{
    .id = "text",
    .title = "text tables",
    .endings = {".txt", ".csv", ".tab", ".dat"},
    .holds = {.velocities = true,
              .time = true,
              .ids = true,
              .species = true,
              .components = true,
              .softening = true,
              .temperature = true,
              .metals = true,
              .formation_time = true,
              .units = true,
              .frame = true,
              .scale_factors = true},
    .units = UnitRule::any,
    .takes_columns = true,
    .detect = detect_text,
    .read = read_table,
    .write = write_table,
};

}  // namespace orrery
