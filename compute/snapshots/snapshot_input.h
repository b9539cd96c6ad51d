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

/// A regular file that is being read. Every failure is a std::runtime_error that names the file and the cause.
class SnapshotInput {
 public:
  static constexpr std::size_t head_bytes = 512;

  /// Throws if the file is missing, no regular file, empty or not readable.
  /// `bytes_per_body`: see require_room_for().
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
  /// Continues reading at this byte, which must not be after the end.
  void seek(std::uint64_t byte);
  /// How the file holds numbers, such as "big-endian", for people. Set by its reader.
  void set_encoding(std::string encoding) { encoding_ = std::move(encoding); }
  const std::string& encoding() const { return encoding_; }
  /// Throws if that many bodies cannot be used, or do not fit into memory at `bytes_per_body` each.
  void require_room_for(std::uint64_t bodies) const;
  [[noreturn]] void fail(const std::string& cause) const;
  /// Names the place of the fault: "byte 268, POS: a position that is not finite".
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

/// Rounds to single precision. A finite number beyond its range becomes the largest one, so that unusable() calls it
/// too large.
float single_precision(double value);

/// Returns why a property of a body cannot be used, such as "not finite"; empty if it can.
std::string unusable_property(double value);

/// Returns why these numbers are not a body, such as "a mass below 0"; empty if they are. A mass of 0 marks a test
/// particle, which feels gravity and exerts none. settle() applies the limits of single precision later, in units that
/// suit the bodies.
std::string no_body(const Vec3d& position, double mass, const Vec3d& velocity);
/// Does the same for a body of a snapshot. Its place, velocity and mass are checked if the argument of that name is
/// true.
std::string no_body(const Snapshot& snapshot, std::size_t body, bool place, bool velocity, bool mass);

/// Returns why a body of a file cannot be stepped: see no_body(), or it is beyond SnapshotLimits. Empty if it can.
std::string unusable(const Vec4& position, const Vec4& velocity);

/// Gives all bodies equal masses, 1 in total, and notes it. Call for a file without masses.
void give_equal_masses(Snapshot& snapshot);

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
