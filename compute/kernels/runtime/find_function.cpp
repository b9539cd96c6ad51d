#include "compute/kernels/runtime/find_function.h"

#include <algorithm>
#include <cctype>

namespace orrery {
namespace {

/// The source with blanks for comments, texts and characters; the lines stay.
std::string without_comments(std::string_view source) {
  std::string code{source};
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, code.size()); ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
    return end;
  };
  for (std::size_t i = 0; i < code.size();) {
    if (code.compare(i, 2, "//") == 0) {
      i = blank(i, std::min(code.find('\n', i), code.size()));
    } else if (code.compare(i, 2, "/*") == 0) {
      const std::size_t end = code.find("*/", i + 2);
      i = blank(i, end == std::string::npos ? code.size() : end + 2);
    } else if (code[i] == '"') {
      std::size_t end = i + 1;
      while (end < code.size() && code[end] != '"' && code[end] != '\n') end += code[end] == '\\' ? 2 : 1;
      i = blank(i, end + 1);
    } else {
      ++i;
    }
  }
  return code;
}

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// The name before the parameters of the function that begins at `at`: words such as void and __launch_bounds__(256)
/// may precede it.
std::string function_name(std::string_view code, std::size_t at) {
  std::string word;
  while (at < code.size()) {
    if (is_letter(code[at])) {
      const std::size_t begin = at;
      while (at < code.size() && is_letter(code[at])) ++at;
      word = code.substr(begin, at - begin);
    } else if (code[at] == '(') {
      if (!word.starts_with("__")) return word;
      int depth = 0;
      do {
        depth += code[at] == '(' ? 1 : code[at] == ')' ? -1 : 0;
        ++at;
      } while (at < code.size() && depth > 0);
    } else if (std::isspace(static_cast<unsigned char>(code[at]))) {
      ++at;
    } else {
      break;
    }
  }
  return {};
}

}  // namespace

std::vector<FoundFunction> find_global_functions(std::string_view source) {
  constexpr std::string_view word = "__global__";
  const std::string code = without_comments(source);
  std::vector<FoundFunction> functions;
  for (std::size_t at = code.find(word); at != std::string::npos; at = code.find(word, at + word.size())) {
    if (at > 0 && is_letter(code[at - 1])) continue;
    const std::string_view before{code.data(), at};
    const auto count = [&](char c) { return std::ranges::count(before, c); };
    functions.push_back(
        {function_name(code, at + word.size()), static_cast<int>(count('\n')) + 1, count('{') > count('}')});
  }
  return functions;
}

}  // namespace orrery
