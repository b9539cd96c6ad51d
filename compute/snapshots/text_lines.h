// Parts of text snapshots: lines, values, and comments with time and units.
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
  static constexpr std::size_t longest = 65536;  ///< longest permitted line, in bytes

  explicit TextLines(SnapshotInput& input) : input_{input} {}

  /// Moves to the next line. Returns false if there is none. Fails if the line is longer than `longest`.
  bool next();
  /// Returns the line without its end (LF or CR LF). Valid until the next call of next().
  std::string_view line() const { return line_; }
  std::uint64_t number() const { return number_; }  ///< number of line(), from 1
  /// Returns the byte offset in the file of `part`, which is a part of line().
  std::uint64_t byte_of(std::string_view part) const {
    return line_byte_ + static_cast<std::uint64_t>(part.data() - line_.data());
  }
  /// Returns the byte offset in the file of the line after line().
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

/// Splits a line at blanks and at single commas or semicolons. Two commas without a word between give an empty word.
void split_words(std::string_view line, std::vector<std::string_view>& words);

/// Separator of the values of a line. A value in double quotes may contain it.
enum class Separator : char { blanks = ' ', tab = '\t', comma = ',', semicolon = ';' };

/// One value of a line, without blanks around it and without its quotes.
struct TextCell {
  std::string_view text;
  bool quoted = false;
};

/// Returns the separator of a line of values: semicolons, tabs or commas if there are any, else blanks. Ignores commas
/// inside numbers that are separated by blanks or tabs.
Separator separator_of(std::string_view line);

/// Splits a line into cells. Drops an empty last cell, because a line may end with its separator.
void split_cells(std::string_view line, Separator separator, std::vector<TextCell>& cells);

/// Returns the line without a comment after its values: " # ..." or " ! ...", outside quotes.
std::string_view without_remark(std::string_view line);

/// Returns whether the line is a comment: it begins with "#", "%", "!" or "//".
bool is_comment(std::string_view line);

/// Returns the text of a comment, without its mark.
std::string_view without_mark(std::string_view comment);

/// Reads a number in the notation of C or Fortran ("0.1D+01", "1.0-101"). Returns nothing if it is not a number.
std::optional<double> number_in(std::string_view text);

/// Returns why number_in() found no number, with the cure, such as "'0,5' has a comma, ...".
std::string fault_of_number(std::string_view text);

/// Returns whether each cell is a whole number, so that the commas between them may be decimal commas.
bool are_whole(const std::vector<TextCell>& cells);

/// Returns the plain name in a cell: "x" for "X [kpc]". `unit` becomes "kpc", or empty if there is no unit.
std::string plain_name(std::string_view cell, std::string& unit);

/// Returns a snapshot's time and units as lines, for the comments of text tables and PLY files: "time = 2.5",
/// "length_cm = 3.0856775814913673e+21", "mass_g = ...", "velocity_cm_s = ...". If formation times are scale factors,
/// adds "formation_scale_factors = 1". SnapshotFacts reads the same bits.
std::vector<std::string> facts_of(const SnapshotView& snapshot);

/// Reads the lines that facts_of() writes.
class SnapshotFacts {
 public:
  /// Reads a line; ignores others than those of facts_of(). Returns what is wrong with its value, such as "mass_g: not
  /// a finite number"; else empty. A time that is not a number is another program's: give() adds a note.
  std::string take(std::string_view line);
  /// Sets the time and units that were found, and adds notes.
  void give(Snapshot& snapshot) const;

 private:
  std::optional<double> time_, length_, mass_, velocity_, formation_scale_factors_;
  std::vector<std::string> notes_;  // lines that are not read
};

}  // namespace orrery
