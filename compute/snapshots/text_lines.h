#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

class SnapshotInput;

/// The lines of a text, from where an input is on. Reads in blocks, and at most one block ahead.
class TextLines {
 public:
  static constexpr std::size_t longest = 65536;  ///< bytes of a line

  explicit TextLines(SnapshotInput& input) : input_{input} {}

  /// Whether there is another line, which line() is then. Fails for one that is longer than `longest`.
  bool next();
  /// Without its end (LF or CR LF). Valid until the next call of next().
  std::string_view line() const { return line_; }
  std::uint64_t number() const { return number_; }  ///< of line(), from 1
  /// The file's byte at which `part`, a part of line(), begins.
  std::uint64_t byte_of(std::string_view part) const {
    return line_byte_ + static_cast<std::uint64_t>(part.data() - line_.data());
  }
  /// The file's byte behind line() and its end.
  std::uint64_t next_byte() const;
  /// "line 7, column vx", a field for SnapshotInput::fail_at().
  std::string place(std::string_view field) const;

 private:
  void fill();

  SnapshotInput& input_;
  std::vector<char> block_;
  std::size_t begin_ = 0, end_ = 0;  // of what is unread in block_
  std::string_view line_;
  std::uint64_t number_ = 0, line_byte_ = 0;
};

/// The words between blanks and single commas or semicolons. An empty one stands between two commas.
void split_words(std::string_view line, std::vector<std::string_view>& words);

}  // namespace orrery
