// Input of snapshots: bytes, and text as lines, values and comments with time and units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/process.h"
#include "compute/core/vec.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

struct Snapshot;

/// Reader of a regular file. Every failure throws a std::runtime_error that names the file and the cause.
class SnapshotInput {
 public:
  static constexpr std::size_t head_bytes = 512;

  /// Opens a file. Throws if it is missing, not a regular file, empty or not readable. `bytes_per_body`: see
  /// require_room_for().
  explicit SnapshotInput(const std::filesystem::path& file, const SnapshotHints& hints = {},
                         std::int64_t bytes_per_body = file_bytes_per_body);

  const std::filesystem::path& path() const { return file_; }
  const SnapshotHints& hints() const { return hints_; }
  std::uint64_t size() const { return size_; }      ///< in bytes
  std::uint64_t offset() const { return offset_; }  ///< offset of the next byte
  std::uint64_t remaining() const { return size_ - offset_; }
  /// Returns the first bytes, up to head_bytes.
  std::span<const std::byte> head() const { return head_; }
  /// Reads the next `size` bytes. The first call starts at the file's first byte.
  void read(std::byte* to, std::size_t size);
  /// Continues reading at this byte offset, at most size().
  void seek(std::uint64_t byte);
  /// Stores how the file encodes numbers, such as "big-endian", for display. The format's reader calls it.
  void set_encoding(std::string encoding) { encoding_ = std::move(encoding); }
  const std::string& encoding() const { return encoding_; }
  /// Throws if there are too many bodies for this program, or for the free memory at `bytes_per_body` each.
  void require_room_for(std::uint64_t bodies) const;
  [[noreturn]] void fail(const std::string& cause) const;
  /// Throws with the place of the fault: "byte 268, POS: a position that is not finite".
  [[noreturn]] void fail_at(std::uint64_t byte, const std::string& field, const std::string& cause) const;

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  std::filesystem::path file_;
  SnapshotHints hints_;
  std::int64_t bytes_per_body_;
  std::uint64_t size_ = 0, offset_ = 0;
  std::string encoding_;
  std::unique_ptr<std::FILE, Close> stream_;
  std::vector<std::byte> head_;
};

/// Rounds to single precision. A finite number beyond its range becomes the largest float, which unusable() reports as
/// too large.
float single_precision(double value);

/// Returns why a property of a body cannot be used, such as "not finite"; empty if it can.
std::string unusable_property(double value);

/// Returns why these numbers cannot be a body: not finite, or a mass below 0. Empty if they can. A mass of 0 marks a
/// test particle, which feels gravity but exerts none. settle() checks SnapshotLimits later, after converting units.
std::string no_body(const Vec3d& position, double mass, const Vec3d& velocity);
/// Does the same for a body of a snapshot. Checks only those of its position, velocity and mass whose argument is true.
std::string no_body(const Snapshot& snapshot, std::size_t body, bool place, bool velocity, bool mass);

/// Returns why a body cannot be used in a run: no_body() refuses it, or it exceeds SnapshotLimits. Empty if it can.
std::string unusable(const Vec4& position, const Vec4& velocity);

/// Gives all bodies equal masses, 1 in total, and adds a note. Used for files without masses.
void give_equal_masses(Snapshot& snapshot);

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
