#include "compute/snapshots/text_lines.h"

#include <algorithm>
#include <cstring>

#include "compute/core/trimmed.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {
/// Moves what is unread to the front and reads on.
void TextLines::fill() {
  block_.resize(2 * longest);
  std::memmove(block_.data(), block_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const auto more = static_cast<std::size_t>(std::min<std::uint64_t>(input_.remaining(), block_.size() - end_));
  input_.read(reinterpret_cast<std::byte*>(block_.data() + end_), more);
  end_ += more;
}

bool TextLines::next() {
  const auto line_end = [&] { return std::find(block_.data() + begin_, block_.data() + end_, '\n'); };
  const char* end = line_end();
  if (end == block_.data() + end_) {
    fill();
    end = line_end();
  }
  const auto size = static_cast<std::size_t>(end - (block_.data() + begin_));
  const bool whole = end != block_.data() + end_;
  if (size == 0 && !whole) return false;
  ++number_;
  line_byte_ = next_byte();
  if (std::string_view{block_.data() + begin_, std::min(size, longest)}.substr(0, size - (size > 0)).find('\r') !=
      std::string_view::npos) {
    input_.fail_at(line_byte_, "line " + std::to_string(number_), "a CR inside: end lines with LF or CR LF");
  }
  if (size > longest) {
    input_.fail_at(line_byte_, "line " + std::to_string(number_), "longer than " + std::to_string(longest) + " bytes");
  }
  line_ = {block_.data() + begin_, size};
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  if (number_ == 1) line_ = without_byte_order_mark(line_);
  begin_ += size + (whole ? 1 : 0);
  return true;
}

std::uint64_t TextLines::next_byte() const {
  return input_.offset() - (end_ - begin_);
}

std::string TextLines::place(std::string_view field) const {
  return "line " + std::to_string(number_) + ", " + std::string{field};
}

void split_words(std::string_view line, std::vector<std::string_view>& words) {
  constexpr std::string_view blanks = " \t", marks = ",;";
  words.clear();
  std::size_t at = line.find_first_not_of(blanks);
  while (at < line.size()) {
    const std::size_t end = std::min(line.find_first_of(" \t,;", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = std::min(line.find_first_not_of(blanks, end), line.size());
    if (at < line.size() && marks.find(line[at]) != std::string_view::npos) {
      at = std::min(line.find_first_not_of(blanks, at + 1), line.size());
    }
  }
}

}  // namespace orrery
