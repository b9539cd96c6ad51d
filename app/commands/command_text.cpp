#include "app/commands/command_text.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <vector>

#include "app/commands/words.h"
#include "app/text/lines.h"
#include "compute/core/names.h"

namespace orrery {
namespace {

std::vector<std::string_view> names() {
  std::vector<std::string_view> names;
  for_each_of(all_commands, [&](const auto& row) {
    names.emplace_back(row.name);
    for (const ShortForm& form : row.short_forms) {
      if (form.word) names.emplace_back(form.word);
    }
  });
  return names;
}

/// `text`, with a short form at its beginning written out.
std::string written_out(std::string_view text) {
  std::string_view rest = text;
  const std::string_view name = take_word(rest);
  std::string full{text};
  for_each_of(all_commands, [&](const auto& row) {
    for (const ShortForm& form : row.short_forms) {
      if (!form.word || name != form.word) continue;
      full = form.text;
      if (!full.ends_with('=') && !rest.empty()) full += ' ';
      full += rest;
    }
  });
  return full;
}

/// Reads the arguments of one command.
template <class Row>
class Reader {
 public:
  Reader(const Row& row, std::string_view rest) : row_{row}, all_{rest} {}

  Request read() {
    std::string_view rest = all_;
    while (!rest.empty()) {
      if (takes_rest_of_line() && !rest.starts_with("file=") && !rest.starts_with('"')) {
        put(0, std::string{rest});
        break;
      }
      const Word word = take_argument(rest);
      put(place_of(word), word.text);
    }
    std::size_t index = 0;
    for_each_of(row_.arguments, [&](const auto& argument) {
      if (!argument.optional && !given_[index]) refuse();
      ++index;
    });
    check_arguments(row_, command_);
    return as_request(std::move(command_));
  }

 private:
  static constexpr std::size_t size = std::tuple_size_v<decltype(Row::arguments)>;

  [[noreturn]] void refuse() const {
    throw UsageError(
        fmt::format("'{}' takes {}; it is given '{}'", row_.name, size == 0 ? "no argument" : usage_of(row_), all_));
  }

  /// A file's name may hold blanks if nothing else is on the line.
  bool takes_rest_of_line() const {
    bool takes = false;
    for_each_of(row_.arguments, [&](const auto& argument) { takes = size == 1 && argument.form == Form::file; });
    return takes;
  }

  std::size_t place_of(const Word& word) const {
    std::vector<std::string_view> known;
    std::size_t positional = size, index = 0;
    for_each_of(row_.arguments, [&](const auto& argument) {
      known.emplace_back(argument.name);
      const bool is_free = !given_[index] || is_list<std::remove_cvref_t<decltype(argument)>>;
      if (positional == size && is_free && is_positional(row_, index)) positional = index;
      ++index;
    });
    if (word.name.empty()) {
      if (positional == size) refuse();
      return positional;
    }
    const auto named = std::ranges::find(known, word.name);
    if (named == known.end() && size == 0) refuse();
    if (named == known.end()) throw unknown_name("argument", word.name, known, fmt::format(" of '{}'", row_.name));
    return static_cast<std::size_t>(named - known.begin());
  }

  void put(std::size_t place, const std::string& text) {
    std::size_t index = 0;
    for_each_of(row_.arguments, [&](const auto& argument) {
      using A = std::remove_cvref_t<decltype(argument)>;
      if (index++ != place) return;
      const std::string what = row_.label(argument.name);
      if (given_[place] && !is_list<A>) throw UsageError(what + " is given twice");
      read_argument(argument, what, text, A::of(command_));
      given_[place] = true;
    });
  }

  const Row& row_;
  std::string_view all_;
  typename Row::Command command_{};
  std::array<bool, size> given_{};
};

}  // namespace

std::string command_names() {
  return joined(names());
}

Request parse_command(std::string_view text) {
  const std::string full = written_out(trimmed(text));
  std::string_view rest = full;
  const std::string_view name = take_word(rest);
  if (name.empty()) throw UsageError("a command is missing; known commands: " + command_names());
  std::optional<Request> request;
  for_each_of(all_commands, [&](const auto& row) {
    if (name == row.name) request = Reader{row, rest}.read();
  });
  if (!request) throw unknown_name("command", name, names());
  return std::move(*request);
}

std::string command_text(const Request& request) {
  const auto text = [](const auto& command) {
    using C = std::remove_cvref_t<decltype(command)>;
    const auto& row = row_of<C>();
    const C initial{};
    std::string words = row.name;
    for_each_of(row.arguments, [&](const auto& argument) {
      using A = std::remove_cvref_t<decltype(argument)>;
      const auto& value = A::of(command);
      if (argument.optional && value == A::of(initial)) return;
      words += ' ' + argument_word(argument.optional ? argument.name : "", argument_text(argument, value));
    });
    return words;
  };
  return std::visit([&](const auto& commands) { return std::visit(text, commands); }, request);
}

}  // namespace orrery
