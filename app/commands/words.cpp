#include "app/commands/words.h"

#include <algorithm>
#include <cctype>

#include "app/text/csv.h"
#include "app/text/parse_value.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

bool is_blank(char c) {
  return blanks.find(c) != std::string_view::npos;
}

/// The place after the quote that ends the text whose first quote is at `begin`; npos if there is none.
std::size_t end_of_quotes(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin + 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

/// Whether a quote at this place begins a quoted text.
bool may_begin_quotes(std::string_view text, std::size_t at) {
  return text[at] == '"' && (at == 0 || is_blank(text[at - 1]) || text[at - 1] == '=');
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::islower(c) || c == '-'; });
}

}  // namespace

std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(blanks), text.size());
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

Word take_argument(std::string_view& text) {
  Word word;
  std::string_view rest = text;
  const std::size_t equals = std::min(rest.find_first_of(" \t\r=\""), rest.size());
  if (equals < rest.size() && rest[equals] == '=' && is_name(rest.substr(0, equals))) {
    word.name = rest.substr(0, equals);
    rest.remove_prefix(equals + 1);
  }
  if (!rest.starts_with('"')) {
    word.text = take_word(rest);
    text = rest;
    return word;
  }
  const std::size_t end = end_of_quotes(rest, 0);
  const bool ends = end != std::string_view::npos && (end == rest.size() || is_blank(rest[end]));
  const Json read = ends ? Json::parse(rest.substr(0, end), nullptr, false) : Json(Json::value_t::discarded);
  if (!read.is_string()) throw UsageError("a text in quotes must end with a quote, and a backslash needs another one");
  word.text = read.get<std::string>();
  word.quoted = true;
  text = trimmed(rest.substr(end));
  return word;
}

std::string argument_word(std::string_view name, const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [&](unsigned char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '#' && (c != '=' || !name.empty());
  });
  std::string word{name};
  if (!name.empty()) word += '=';
  return word + (plain ? text : json_text(Json(text)));
}

std::string_view without_comment(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '#' && (at == 0 || is_blank(line[at - 1]))) return line.substr(0, at);
    if (!may_begin_quotes(line, at)) continue;
    if (const std::size_t end = end_of_quotes(line, at); end != std::string_view::npos) at = end - 1;
  }
  return line;
}

}  // namespace orrery
