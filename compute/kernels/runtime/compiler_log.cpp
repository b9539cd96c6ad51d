#include "compute/kernels/runtime/compiler_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <regex>
#include <string>

#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/kernels/runtime/kernel_sources.h"
#include "compute/kernels/runtime/plain_words.h"

namespace orrery {
namespace {

/// A regular expression takes stack for each byte.
constexpr std::size_t most_line_bytes = 4000;

std::string_view without_end(std::string_view line) {
  if (line.size() <= most_line_bytes) return line;
  std::size_t end = most_line_bytes;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;  // within a character of UTF-8
  return line.substr(0, end);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(without_end(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

int number_of(const std::string& text) {
  int number = 1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// The compiler does not list the includes that exist. It adds the cause after the name of a file that does exist,
/// since its process may open none.
std::optional<std::string> unknown_include(const std::string& text) {
  static const std::regex pattern{R"re((?:could not|cannot) open source file "([^"]*)")re"};
  std::smatch found;
  if (!std::regex_search(text, found, pattern)) return std::nullopt;
  const auto name_of = [](const SourceFile& header) { return header.name; };
  const std::string name = found[1], unknown = "unknown include '" + name + "'";
  if (const std::string_view why = why_no_device_header(name); !why.empty()) return unknown + ": " + std::string{why};
  return unknown + then_list(did_you_mean(name, device_headers(), name_of), "a kernel file can include") +
         joined(device_headers(), [](const SourceFile& header) { return std::string{header.name}; });
}

class LogReader {
 public:
  LogReader(std::string_view log, const KernelFile& file) : lines_{lines_of(log)}, file_{file} {}

  std::vector<FileMessage> read() {
    for (at_ = 0; at_ < lines_.size(); ++at_) {
      if (!read_message() && !read_end_of_source()) read_ptxas_error();
    }
    put_first([](const FileMessage& message) { return message.is_error; });
    // Wrong parameters cause most of the other errors.
    put_first([](const FileMessage& message) { return message.text.starts_with("the function must"); });
    return std::move(messages_);
  }

 private:
  template <class Test>
  void put_first(Test test) {
    std::stable_partition(messages_.begin(), messages_.end(), test);  // clang 14 cannot compile the one for ranges
  }

  /// With the types that a message lists in its next line.
  std::string with_types(std::string text) {
    static const std::regex pattern{R"(^\s+((?:argument|operand) types are: .*)$)"};
    std::smatch found;
    if (at_ + 1 >= lines_.size() || !std::regex_match(lines_[at_ + 1], found, pattern)) return text;
    ++at_;
    return text + "; " + found[1].str();
  }

  /// The text of a static assertion may have several lines.
  std::string with_further_lines(std::string text) {
    constexpr std::size_t most_lines = 10;
    if (!text.starts_with("static assertion failed with \"")) return text;
    for (std::size_t i = 0; i < most_lines && !text.ends_with('"') && at_ + 1 < lines_.size(); ++i) {
      text += ' ' + std::string{trimmed(lines_[++at_])};
    }
    return text;
  }

  /// NAME(LINE): error: text
  bool read_message() {
    static const std::regex pattern{R"(^(.*)\((\d+)\): (catastrophic error|error|warning)(?: #\S+)?: (.*)$)"};
    std::smatch found;
    if (!std::regex_match(lines_[at_], found, pattern)) return false;
    const std::string name = found[1];
    if (name.starts_with("__nv")) return true;  // follows from an error before it
    FileMessage message{number_of(found[2]), found[3] != "warning",
                        explained(with_types(with_further_lines(found[4])))};
    if (name != file_.name) {
      message.text += " (in " + name + ", line " + found[2].str() + ")";
      message.line = line_that_led_here().value_or(file_.function_line);
    }
    messages_.push_back(std::move(message));
    return true;
  }

  std::string explained(const std::string& text) const {
    if (text.find(wrong_parameters) != std::string::npos) {
      if (file_.function_nested) return "the function must not be in a namespace or a class";
      return "the function must be: __global__ void " + file_.function + kernel_file_parameters;
    }
    if (text == "out of memory") return "the compiler needs too much memory: " + std::string{endless_causes};
    return unknown_include(text).value_or(with_meaning(text));
  }

  /// The line of the kernel file in the lines about a template that follow a message about another file.
  std::optional<int> line_that_led_here() const {
    static const std::regex pattern{R"re(at line (\d+) of "?(.*?)"?$)re"};
    for (std::size_t next = at_ + 1; next < lines_.size() && !lines_[next].empty(); ++next) {
      std::smatch found;
      if (std::regex_search(lines_[next], found, pattern) && found[2] == file_.name) return number_of(found[1]);
    }
    return std::nullopt;
  }

  bool read_end_of_source() {
    constexpr std::string_view start = "At end of source: error: ";
    if (!lines_[at_].starts_with(start)) return false;
    const auto ends = std::ranges::count(file_.text, '\n');
    const int last = static_cast<int>(ends) + (file_.text.ends_with('\n') ? 0 : 1);
    messages_.push_back({last, true, "at the end of the file: " + with_meaning(lines_[at_].substr(start.size()))});
    return true;
  }

  void read_ptxas_error() {
    static const std::regex error{R"(^ptxas (?:.*, line \d+; )?(?:error|fatal)\s*: (.*)$)"};
    static const std::regex shared{R"(uses too much shared data \(0x([0-9a-f]{1,8}) bytes, 0x([0-9a-f]{1,8}) max\))"};
    static const std::regex unresolved{R"(^Unresolved extern function '(.*)'$)"};
    std::smatch found, sizes, symbol;
    if (!std::regex_match(lines_[at_], found, error)) return;
    std::string text = found[1];
    const bool is_sum = text.starts_with("Ptx assembly aborted");  // of the errors before it
    if (is_sum && std::ranges::any_of(messages_, &FileMessage::is_error)) return;
    if (std::regex_search(text, sizes, shared)) {
      text = "the function uses " + std::to_string(std::stoul(sizes[1], nullptr, 16)) +
             " bytes of shared memory per block, and __shared__ arrays can have " +
             std::to_string(std::stoul(sizes[2], nullptr, 16)) +
             "; more is possible as dynamic shared memory, see shared-per-thread";
    }
    if (std::regex_match(text, symbol, unresolved)) {
      const std::string name = source_name(symbol[1]);
      messages_.push_back({line_of(name.substr(0, name.find('('))), true,
                           "the function " + name + " is declared, but has no body: write one in this file"});
      return;
    }
    messages_.push_back({file_.function_line, true, with_meaning(text)});
  }

  /// Where a function of this name is declared: at its first parenthesis.
  int line_of(const std::string& function) const {
    const std::size_t at = file_.text.find(function + '(');
    if (at == std::string::npos) return file_.function_line;
    const auto end = file_.text.begin() + static_cast<std::ptrdiff_t>(at);
    return static_cast<int>(std::count(file_.text.begin(), end, '\n')) + 1;
  }

  std::vector<std::string> lines_;
  const KernelFile& file_;
  std::size_t at_ = 0;
  std::vector<FileMessage> messages_;
};

}  // namespace

std::vector<FileMessage> read_compiler_log(std::string_view log, const KernelFile& file) {
  return LogReader{log, file}.read();
}

}  // namespace orrery
