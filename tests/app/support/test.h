#pragma once

// Tests of app/ have these in common: GoogleTest, the standard library, texts, failures, a folder.
#include <sstream>

#include "compute/core/temporary_folder.h"
#include "tests/test.h"

namespace orrery::test {

using Words = std::vector<std::string>;
using TextParts = std::initializer_list<std::string_view>;

/// A command line: "bench -n 8"_words.
inline Words operator""_words(const char* text, std::size_t) {
  std::istringstream stream{text};
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream{file}.rdbuf();
  return text.str();
}

inline std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

/// Sets a variable of the environment while it lives, or takes it away.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_{name} {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) const { value ? setenv(name_, value, 1) : unsetenv(name_); }

  const char* const name_;
  std::optional<std::string> before_;
};

inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// A test with a folder of its own.
struct InFolder : testing::Test {
  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::string read(const std::string& name) const { return contents(folder / name); }
  /// Returns the file's path.
  std::string write(const std::string& name, std::string_view text) const { return folder.write(name, text).string(); }

  const TemporaryFolder folder;
};

inline std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// Expects all of `parts` in the text.
inline void expect_holds(std::string_view text, TextParts parts, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE()) {
  for (const std::string_view part : parts) {
    if (!holds(text, part)) ADD_FAILURE_AT(file, line) << "'" << part << "' is not in: " << text;
  }
}

/// Expects none of `parts` in the text.
inline void expect_lacks(std::string_view text, TextParts parts, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE()) {
  for (const std::string_view part : parts) {
    if (holds(text, part)) ADD_FAILURE_AT(file, line) << "'" << part << "' is in: " << text;
  }
}

/// Expects one line, with all of `parts`.
template <class Action>
void expect_error(Failure::Kind kind, TextParts parts, Action&& action, const char* file, int line) {
  const Failure failure = failure_of(action);
  if (failure.kind != kind || failure.message.find('\n') != std::string::npos) {
    ADD_FAILURE_AT(file, line) << "another failure, or none: " << failure.message;
  }
  expect_holds(failure.message, parts, file, line);
}

/// Expects that the request cannot be met.
template <class Action>
void expect_usage_error(TextParts parts, Action&& action, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE()) {
  expect_error(Failure::usage, parts, action, file, line);
}

/// Expects a failure at run time.
template <class Action>
void expect_runtime_error(TextParts parts, Action&& action, const char* file = __builtin_FILE(),
                          int line = __builtin_LINE()) {
  expect_error(Failure::runtime, parts, action, file, line);
}

}  // namespace orrery::test
