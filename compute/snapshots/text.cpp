// Text tables: a line of numbers per body. "#" begins a comment; the comments that write() makes hold time and units.
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
#include "compute/core/format_count.h"
#include "compute/core/parse_number.h"
#include "compute/snapshots/columns.h"
#include "compute/snapshots/snapshot_facts.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/snapshot_input.h"
#include "compute/snapshots/text_lines.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view names_cure =
    "name them with --columns, such as --columns m,x,y,z,vx,vy,vz, or in a first line";

std::optional<double> number_in(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  return parsed_number<double>(word);
}

/// Also "1.1e+01", as numpy writes it. Larger ones than a double can tell apart need all of their digits.
std::optional<std::uint64_t> id_in(std::string_view word) {
  constexpr double end = 9007199254740992.0;  // 2^53
  if (const auto id = parsed_number<std::uint64_t>(word)) return id;
  const auto value = number_in(word);
  if (!value || !(*value >= 0 && *value < end) || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

/// The columns that a line of names has; empty if it is none: it names no coordinate, or has numbers.
std::vector<BodyColumn> columns_in(std::string_view line) {
  std::vector<std::string_view> words;
  split_words(line, words);
  std::vector<BodyColumn> columns;
  for (const std::string_view word : words) {
    if (number_in(word)) return {};
    columns.push_back(column_named(word));
  }
  return std::ranges::find(columns, BodyColumn::x) == columns.end() ? std::vector<BodyColumn>{} : columns;
}

std::string_view without_mark(std::string_view comment) {
  comment.remove_prefix(std::min(comment.find_first_not_of("# \t"), comment.size()));
  return comment;
}

bool is_empty(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

bool is_comment(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" \t");
  return at != std::string_view::npos && line[at] == '#';
}

/// Its first line that is no comment has a number first, or names. A head without such a line is one of comments.
bool detect_text(std::span<const std::byte> head, std::uint64_t size) {
  constexpr std::size_t shortest = 5;  // "0 0 0"
  if (head.size() < shortest) return false;
  std::string_view text{reinterpret_cast<const char*>(head.data()), head.size()};
  const auto is_text = [](unsigned char c) { return c >= 0x20 || c == '\t' || c == '\n' || c == '\r'; };
  if (!std::ranges::all_of(text, is_text)) return false;
  std::vector<std::string_view> words;
  bool comments = false;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool cut = end == std::string_view::npos && head.size() < size;
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (is_comment(line)) comments = true;
    if (!is_comment(line) && !is_empty(line)) {
      if (!columns_in(line).empty()) return true;
      split_words(line, words);
      return cut || (words.size() >= 3 && number_in(words.front()));
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return comments;
}

class TextReader {
 public:
  explicit TextReader(SnapshotInput& input) : input_{input}, lines_{input}, columns_{input.hints().columns} {}

  Snapshot read() {
    SnapshotFacts facts;
    std::optional<TableBodies> bodies;
    while (lines_.next()) {
      const std::string_view line = lines_.line();
      if (is_comment(line)) {
        if (!bodies) take_comment(without_mark(line), facts);
      } else if (!is_empty(line)) {
        if (!bodies) {
          const bool names = is_line_of_names(line);
          find_columns(line);
          bodies.emplace(snapshot_, columns_);
          if (names) continue;
        }
        add(line, *bodies);
      }
    }
    if (snapshot_.bodies.positions.empty()) {
      input_.fail_at(input_.size(), lines_.place("end"), "a text table without bodies");
    }
    bodies->finish();
    facts.give(snapshot_);
    return std::move(snapshot_);
  }

 private:
  void take_comment(std::string_view text, SnapshotFacts& facts) {
    if (const std::string fault = facts.take(text); !fault.empty()) {
      input_.fail_at(lines_.byte_of(text), lines_.place("comment"), fault);
    }
    // Words that are all names: a sentence may have an "x" as well.
    std::vector<BodyColumn> named = columns_in(text);
    if (named.size() > 2 && std::ranges::find(named, BodyColumn::skip) == named.end()) named_ = std::move(named);
  }

  bool is_line_of_names(std::string_view line) {
    std::vector<BodyColumn> named = columns_in(line);
    if (named.empty()) return false;
    split_words(line, words_);
    for (std::size_t i = 0; i < named.size() && columns_.empty(); ++i) {
      if (named[i] == BodyColumn::skip) snapshot_.unread.push_back("column " + std::string{words_[i]});
    }
    named_ = std::move(named);
    return true;
  }

  /// The user's, the table's own, or those of the first line's number of values.
  void find_columns(std::string_view line) {
    if (columns_.empty()) columns_ = named_;
    if (columns_.empty()) {
      using enum BodyColumn;
      split_words(line, words_);
      if (words_.size() == 3) columns_ = {x, y, z};
      if (words_.size() == 6) columns_ = {x, y, z, vx, vy, vz};
      if (words_.size() == 7) columns_ = {mass, x, y, z, vx, vy, vz};
    }
    if (columns_.empty()) {
      input_.fail_at(lines_.byte_of(line), "line " + std::to_string(lines_.number()),
                     counted(words_.size(), "value") + ", whose meaning nothing tells: " + std::string{names_cure});
    }
    if (const std::string fault = fault_of_columns(columns_); !fault.empty()) {
      fail_at(line, "columns", fault + ": " + std::string{names_cure});
    }
  }

  [[noreturn]] void fail_at(std::string_view part, std::string_view field, const std::string& cause) const {
    input_.fail_at(lines_.byte_of(part), lines_.place(field), cause);
  }

  void add(std::string_view line, TableBodies& bodies) {
    split_words(line, words_);
    if (words_.size() != columns_.size()) {
      fail_at(line, "columns",
              counted(words_.size(), "value") + ", but the table has " + counted(columns_.size(), "column") + ": " +
                  std::string{names_cure});
    }
    TableRow row;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const BodyColumn column = columns_[i];
      if (column == BodyColumn::skip) continue;
      if (column == BodyColumn::id) {
        const auto id = id_in(words_[i]);
        if (!id) fail_at(words_[i], "column id", "not a whole number from 0 to 2^64 - 1");
        row.id = *id;
        continue;
      }
      const auto value = number_in(words_[i]);
      if (!value) fail_at(words_[i], "column " + std::string{column_name(column)}, "not a number");
      row[column] = *value;
    }
    if (std::string cause = bodies.append(row); !cause.empty()) {
      const bool guessed = named_.empty() && input_.hints().columns.empty();
      fail_at(
          line, "body " + std::to_string(snapshot_.bodies.positions.size()) + " (counted from 0)",
          guessed ? cause + " (the columns are taken as " + names_of(columns_) + "; --columns names others)" : cause);
    }
    constexpr std::size_t interval = 65536;
    if (const std::size_t count = snapshot_.bodies.positions.size(); count % interval == 0) {
      input_.require_room_for(count);
    }
  }

  static std::string names_of(const std::vector<BodyColumn>& columns) {
    std::string names;
    for (const BodyColumn column : columns) names.append(names.empty() ? "" : " ").append(column_name(column));
    return names;
  }

  SnapshotInput& input_;
  TextLines lines_;
  std::vector<BodyColumn> columns_, named_;
  std::vector<std::string_view> words_;
  Snapshot snapshot_;
};

Snapshot read_table(SnapshotInput& input) {
  return TextReader{input}.read();
}

/// The shortest text that reads as the same number.
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
              .frame = true},
    .units = UnitRule::any,
    .takes_columns = true,
    .detect = detect_text,
    .read = read_table,
    .write = write_table,
};

}  // namespace orrery
