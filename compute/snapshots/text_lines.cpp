#include "compute/snapshots/text_lines.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>

#include "compute/core/text.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {

/// Moves the unread bytes of block_ to its front and reads more.
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

namespace {

constexpr std::string_view gaps = " \t";
constexpr std::array<std::string_view, 4> comment_marks{"#", "%", "!", "//"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string lower(std::string_view text) {
  std::string low{text};
  std::ranges::transform(low, low.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return low;
}

/// Calls visit(index, character) for each character outside quotes, until visit() returns true.
template <class Visit>
void for_unquoted(std::string_view line, const Visit& visit) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (!quoted && line[i] != '"' && visit(i, line[i])) return;
  }
}

bool holds(std::string_view line, char mark) {
  bool found = false;
  for_unquoted(line, [&](std::size_t, char c) { return found = c == mark; });
  return found;
}

/// Returns whether a cell has a tab, or numbers separated by blanks. If so, the line was split at a wrong separator.
bool has_several_values(const TextCell& cell) {
  if (cell.quoted) return false;
  if (cell.text.find('\t') != cell.text.npos) return true;
  const std::size_t blank = cell.text.find(' ');
  if (blank == cell.text.npos) return false;
  return number_in(cell.text.substr(0, blank)) && number_in(cell.text.substr(cell.text.rfind(' ') + 1));
}

bool splits(std::string_view line, Separator separator) {
  if (!holds(line, static_cast<char>(separator))) return false;
  std::vector<TextCell> cells;
  split_cells(line, separator, cells);
  return std::ranges::none_of(cells, has_several_values);
}

bool is_whole(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

/// Returns whether a text, in lower case, is a word that tables use for a missing value.
bool is_missing(std::string_view text) {
  constexpr std::array<std::string_view, 9> words{"na", "n/a", "#n/a", "null", "none", "missing", "--", "-", "."};
  return text.empty() || std::ranges::find(words, lower(text)) != words.end();
}

constexpr std::string_view unit_words[]{"kpc",  "mpc",   "pc",    "au",     "ly",      "km",    "m",    "cm",
                                        "rsun", "kpc/h", "mpc/h", "kms",    "km/s",    "m/s",   "cm/s", "km_s",
                                        "m_s",  "cm_s",  "au/yr", "pc/myr", "kpc/gyr", "kms-1", "kg",   "g",
                                        "msun", "msol",  "mo",    "mearth", "mjup"};

/// Removes the longest known unit from the end of a name: "vx" for "vx_km/s". `unit` becomes "km/s".
std::string_view without_unit(std::string_view cell, std::string& unit) {
  constexpr std::string_view marks = "_./ ";
  for (std::size_t at = cell.find_first_of(marks, 1); at != cell.npos; at = cell.find_first_of(marks, at + 1)) {
    const std::string_view word = cell.substr(at + 1);
    if (std::ranges::find(unit_words, lower(word)) == std::end(unit_words)) continue;
    unit = std::string{word};
    return cell.substr(0, at);
  }
  return cell;
}

}  // namespace

void split_cells(std::string_view line, Separator separator, std::vector<TextCell>& cells) {
  const char mark = static_cast<char>(separator);
  const auto add = [&](std::string_view text) {
    const std::string_view inside = trimmed(text);
    text = inside.empty() ? text.substr(0, 0) : inside;  // keeps its position in the line, for messages
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    cells.push_back({quoted ? trimmed(text.substr(1, text.size() - 2)) : text, quoted});
  };
  cells.clear();
  line = trimmed(line);
  std::size_t begin = 0;
  for_unquoted(line, [&](std::size_t i, char c) {
    const bool ends = separator == Separator::blanks ? gaps.find(c) != gaps.npos : c == mark;
    if (!ends) return false;
    if (separator != Separator::blanks || i > begin) add(line.substr(begin, i - begin));
    begin = i + 1;
    return false;
  });
  if (begin < line.size()) add(line.substr(begin));
}

Separator separator_of(std::string_view line) {
  if (holds(line, ';')) return Separator::semicolon;
  if (splits(line, Separator::comma)) return Separator::comma;
  return splits(line, Separator::tab) ? Separator::tab : Separator::blanks;
}

std::string_view without_remark(std::string_view line) {
  std::size_t end = line.size();
  for_unquoted(line, [&](std::size_t i, char c) {
    const bool remark = (c == '#' || c == '!') && i > 0 && gaps.find(line[i - 1]) != gaps.npos;
    if (remark) end = i;
    return remark;
  });
  return line.substr(0, end);
}

bool is_comment(std::string_view line) {
  line = trimmed(line);
  return std::ranges::any_of(comment_marks, [&](std::string_view mark) { return line.starts_with(mark); });
}

std::string_view without_mark(std::string_view comment) {
  comment.remove_prefix(std::min(comment.find_first_not_of("#%!/ \t"), comment.size()));
  return comment;
}

std::optional<double> number_in(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  if (const auto number = parsed_number<double>(text)) return number;
  constexpr std::size_t most = 64;
  if (text.empty() || text.size() > most) return std::nullopt;
  std::string fortran{text};
  const std::size_t letter = fortran.find_first_of("dDqQ");
  if (letter != fortran.npos) {
    fortran[letter] = 'e';
  } else if (const std::size_t sign = fortran.find_last_of("+-"); sign != fortran.npos && sign > 0) {
    // Fortran omits the letter E if the exponent has three digits: "1.0-101". The mantissa has a point then, so "10-3"
    // is not a number.
    const bool has_point = fortran.find('.') < sign;
    if (!has_point || fortran.size() - sign != 4) return std::nullopt;
    if (!is_digit(fortran[sign - 1]) && fortran[sign - 1] != '.') return std::nullopt;
    fortran.insert(sign, "e");
  } else {
    return std::nullopt;
  }
  return parsed_number<double>(fortran);
}

std::string fault_of_number(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string begin{text.substr(0, most)};
  std::ranges::replace(begin, '\0', '?');  // a message would end at a NUL
  const std::string word = '\'' + begin + (text.size() > most ? "..." : "") + '\'';
  if (is_missing(text)) {
    return (text.empty() ? "a value is missing" : word + " stands for a missing value") + ": not a number";
  }
  if (text.find(',') != text.npos) {
    return word + " has a comma, and decimal commas are not read: not a number; write 0.5 for 0,5 and 1000 for 1,000";
  }
  if (std::ranges::count(text, '.') > 1) {
    return word + " has several points: not a number; write 1000000 for 1.000.000";
  }
  if (text.find_first_not_of('*') == text.npos) return word + " did not fit its field: not a number";
  if (text.find('*') != text.npos && number_in(text.substr(text.find('*') + 1))) {
    return word + " repeats a value, as Fortran does: not a number; write each value";
  }
  if (text.starts_with("\xE2\x88\x92")) return word + " begins with a typographic minus: not a number; write -";
  return word + " is not a number";
}

bool are_whole(const std::vector<TextCell>& cells) {
  return std::ranges::all_of(cells, [](const TextCell& cell) { return is_whole(cell.text); });
}

std::string plain_name(std::string_view cell, std::string& unit) {
  unit.clear();
  const std::size_t bracket = cell.find_first_of("[(");
  if (bracket != cell.npos && bracket > 0) {
    const std::string_view inside = cell.substr(bracket + 1);
    unit = std::string{inside.substr(0, inside.find_first_of("])"))};
    if (is_whole(unit)) unit.clear();  // "x(1)"
    cell = cell.substr(0, bracket);
  } else {
    cell = without_unit(cell, unit);
  }
  if (const std::size_t number = cell.find(':'); number != cell.npos && is_whole(cell.substr(0, number))) {
    cell.remove_prefix(number + 1);  // "2:x"
  }
  std::string name;
  for (const char c : cell) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

namespace {

std::string fact_line(const char* name, double value) {
  std::array<char, 32> digits;
  const auto [end, failed] =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general);
  return name + std::string{" = "} + std::string{digits.data(), end};
}

}  // namespace

std::vector<std::string> facts_of(const SnapshotView& snapshot) {
  std::vector<std::string> facts{fact_line("time", snapshot.time)};
  if (const auto& units = snapshot.units) {
    facts.push_back(fact_line("length_cm", units->length_cm));
    facts.push_back(fact_line("mass_g", units->mass_g));
    facts.push_back(fact_line("velocity_cm_s", units->velocity_cm_s));
  }
  if (snapshot.properties.formation_scale_factors && !snapshot.properties.formation_time.empty()) {
    facts.push_back(fact_line("formation_scale_factors", 1));
  }
  return facts;
}

std::string SnapshotFacts::take(std::string_view line) {
  constexpr std::string_view between = " = ";
  constexpr std::size_t most_quoted = 80;
  const std::size_t at = line.find(between);
  if (at == std::string_view::npos) return {};
  const std::string_view name = line.substr(0, at);
  std::optional<double>* const place = name == "time"                      ? &time_
                                       : name == "length_cm"               ? &length_
                                       : name == "mass_g"                  ? &mass_
                                       : name == "velocity_cm_s"           ? &velocity_
                                       : name == "formation_scale_factors" ? &formation_scale_factors_
                                                                           : nullptr;
  if (!place) return {};
  *place = parsed_number<double>(line.substr(at + between.size()));
  if (place == &time_ && !time_) {  // such as "0.5 Myr", by another program
    notes_.push_back("comment '" + std::string{line.substr(0, most_quoted)} +
                     "' is not read: its value is no number alone");
    return {};
  }
  if (!*place || !std::isfinite(**place)) return std::string{name} + ": not a finite number";
  constexpr Units usable{1, 1, 1};
  Units units = usable;
  if (place == &length_) units.length_cm = **place;
  if (place == &mass_) units.mass_g = **place;
  if (place == &velocity_) units.velocity_cm_s = **place;
  return units.usable() ? "" : std::string{name} + ": not a usable unit";
}

void SnapshotFacts::give(Snapshot& snapshot) const {
  if (time_) snapshot.time = *time_;
  snapshot.notes.insert(snapshot.notes.end(), notes_.begin(), notes_.end());
  snapshot.properties.formation_scale_factors = formation_scale_factors_.value_or(0) != 0;
  if (!length_ || !mass_) return;
  snapshot.units = gravity_units(*length_, *mass_);
  if (velocity_) snapshot.units->velocity_cm_s = *velocity_;
}

}  // namespace orrery
