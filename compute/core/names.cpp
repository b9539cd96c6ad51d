#include "compute/core/names.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace orrery {
namespace {

constexpr std::size_t most_names = 3;
constexpr std::size_t longest_word = 64;  // no name is longer, so a longer word is not a mistyped name
constexpr std::size_t least_part = 3;     // fewest letters that can identify a name by a part of it
constexpr std::size_t far = std::numeric_limits<std::size_t>::max();

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

std::string lower_case(std::string_view text) {
  std::string lower{text};
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '_' ? '-' : c;
  return lower;
}

/// Returns the number of edits between two words: letters inserted, removed, replaced, or swapped with their neighbour
/// (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last.back();
}

/// Returns the number of edits from `word` to `name`; `far` if they are not alike. Both are in lower case.
std::size_t distance(const std::string& word, const std::string& name) {
  const auto& [shorter, longer] =
      std::minmax(word, name, [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const bool part = shorter.size() >= least_part && longer.find(shorter) != std::string::npos;
  const std::size_t letters = edit_distance(word, name);
  if (part) return std::min<std::size_t>(letters, 1);
  return letters <= longer.size() / 3 ? letters : far;
}

}  // namespace

std::vector<std::string> near_names(std::string_view word, std::span<const std::string_view> known) {
  const std::string lower = word.size() <= longest_word ? lower_case(word) : std::string{};
  if (std::ranges::none_of(lower, is_letter)) return {};
  std::size_t least = far;
  std::vector<std::string> nearest;
  for (const std::string_view name : known) {
    const std::size_t letters = distance(lower, lower_case(name));
    if (letters == far || letters > least) continue;
    if (letters < least) nearest.clear();
    least = letters;
    if (nearest.size() < most_names) nearest.emplace_back(name);
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known, std::string_view before) {
  std::string names;
  for (const std::string& name : near_names(word, known))
    names.append(names.empty() ? "" : " or ").append(before).append(name);
  return names.empty() ? names : "; did you mean " + names + "?";
}

std::string then_list(const std::string& meant, std::string title) {
  if (meant.empty()) return "; " + title + ": ";
  if (is_letter(title.front())) title.front() = static_cast<char>(title.front() - 'a' + 'A');
  return meant + ' ' + title + ": ";
}

}  // namespace orrery
