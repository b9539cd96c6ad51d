#include "app/process/spare_process.h"

#include <iostream>
#include <string_view>

namespace orrery {
namespace {

// The first word of the process's command line.
constexpr std::string_view spare_word = "prepare-for-parent";
// The first text that it writes once it has got its command.
constexpr std::string_view got_word = "got\n";

}  // namespace

std::unique_ptr<ChildProcess> start_spare(const std::filesystem::path& program,
                                          const std::vector<std::string>& preparation) {
  std::vector<std::string> words{std::string{spare_word}};
  words.insert(words.end(), preparation.begin(), preparation.end());
  return std::make_unique<ChildProcess>(program, words);
}

std::string packed_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  return text;
}

std::optional<std::vector<std::string>> preparation_in(const std::vector<std::string>& words) {
  if (words.empty() || words.front() != spare_word) return std::nullopt;
  return std::vector<std::string>{words.begin() + 1, words.end()};
}

std::vector<std::string> wait_for_words() {
  std::vector<std::string> words;
  for (std::string word; std::getline(std::cin, word, '\0');) words.push_back(word);
  if (!words.empty()) std::cout << got_word << std::flush;
  return words;
}

bool got_words(const ChildResult& end) {
  return end.text.starts_with(got_word);
}

}  // namespace orrery
