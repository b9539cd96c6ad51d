// Text of snapshots: lines, their values, and comments with time and units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

class SnapshotInput;
struct Snapshot;
struct SnapshotView;

/// Reads the lines of a text from the current position of an input, in blocks, at most one block ahead.
class TextLines {
 public:
  static constexpr std::size_t longest = 65536;  ///< bytes of a line

  explicit TextLines(SnapshotInput& input) : input_{input} {}

  /// Moves to the next line. Returns false if there is none. Fails if the line is longer than `longest`.
  bool next();
  /// Returns the line without its end (LF or CR LF). Valid until the next call of next().
  std::string_view line() const { return line_; }
  std::uint64_t number() const { return number_; }  ///< number of line(), from 1
  /// Returns the byte of the file at which `part`, a part of line(), begins.
  std::uint64_t byte_of(std::string_view part) const {
    return line_byte_ + static_cast<std::uint64_t>(part.data() - line_.data());
  }
  /// Returns the byte of the file after line() and its end.
  std::uint64_t next_byte() const;
  /// Returns a text such as "line 7, column vx", as a field for SnapshotInput::fail_at().
  std::string place(std::string_view field) const;

 private:
  void fill();

  SnapshotInput& input_;
  std::vector<char> block_;
  std::size_t begin_ = 0, end_ = 0;  // bounds of the unread part of block_
  std::string_view line_;
  std::uint64_t number_ = 0, line_byte_ = 0;
};

/// Splits a line at blanks and at single commas or semicolons. Between two commas is an empty word.
void split_words(std::string_view line, std::vector<std::string_view>& words);

/// Separator of the values of a line. A value in double quotes may contain it.
enum class Separator : char { blanks = ' ', tab = '\t', comma = ',', semicolon = ';' };

/// One value of a line, without blanks around it and without its quotes.
struct TextCell {
  std::string_view text;
  bool quoted = false;
};

/// Returns the separator of a line of values: semicolons, tabs or commas if there are any, else blanks. Commas inside
/// numbers that blanks or tabs separate are no separators.
Separator separator_of(std::string_view line);

/// Splits a line. An empty last cell is left out: a line may end with its separator.
void split_cells(std::string_view line, Separator separator, std::vector<TextCell>& cells);

/// Returns the line up to a comment that follows its values: " # ..." or " ! ...", outside quotes.
std::string_view without_remark(std::string_view line);

/// Returns whether the line is a comment: it begins with "#", "%", "!" or "//".
bool is_comment(std::string_view line);

/// Returns the text of a comment.
std::string_view without_mark(std::string_view comment);

/// Reads a number as C, Fortran ("0.1D+01", "1.0-101") and their tables write it.
std::optional<double> number_in(std::string_view text);

/// Returns why number_in() has no number, such as "'0,5' has a comma, ...", with the cure.
std::string fault_of_number(std::string_view text);

/// Returns whether each cell is a whole number, so that the commas between them may be decimal commas.
bool are_whole(const std::vector<TextCell>& cells);

/// Returns the name "x" of the cell "X [kpc]"; `unit` gets "kpc", or nothing.
std::string plain_name(std::string_view cell, std::string& unit);

/// The time and units of a snapshot as lines of text, in the comments of text tables and PLY files: "time = 2.5",
/// "length_cm = 3.0856775814913673e+21", "mass_g = ...", "velocity_cm_s = ...", and "formation_scale_factors = 1" if
/// formation times are these. Reading gives the same bits.
std::vector<std::string> facts_of(const SnapshotView& snapshot);

/// Collects such lines.
class SnapshotFacts {
 public:
  /// Takes a line if it is one of them. Returns what is wrong with its value, such as "time: not a finite number". A
  /// time with a text is another program's: give() notes it.
  std::string take(std::string_view line);
  /// Sets time and units, as far as they were found, and adds notes.
  void give(Snapshot& snapshot) const;

 private:
  std::optional<double> time_, length_, mass_, velocity_, formation_scale_factors_;
  std::vector<std::string> notes_;  // lines that are not read
};

}  // namespace orrery
