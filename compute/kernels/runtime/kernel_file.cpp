#include "compute/kernels/runtime/kernel_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/kernels/runtime/file_kernel.h"
#include "compute/kernels/runtime/kernel_sources.h"

namespace orrery {
namespace {

/// A __global__ function in CUDA C++.
struct FoundFunction {
  std::string name;     ///< empty if no function follows __global__
  int line = 1;         ///< line of __global__, from 1
  bool nested = false;  ///< true: between braces, so in a namespace or a class
};

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// Returns the source with comments, strings and characters replaced by blanks. Line breaks remain.
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
    } else if (code[i] == '"' || (code[i] == '\'' && (i == 0 || !is_letter(code[i - 1])))) {  // not the one of 1'000
      std::size_t end = i + 1;
      while (end < code.size() && code[end] != code[i] && code[end] != '\n') end += code[end] == '\\' ? 2 : 1;
      i = blank(i, end + 1);
    } else {
      ++i;
    }
  }
  return code;
}

/// Returns the name of the function whose declaration begins at `at`. Words such as void and __launch_bounds__(256) may
/// precede the name.
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

/// Returns the __global__ functions in their order. Ignores comments and string literals.
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

constexpr std::array<std::string_view, 6> header_keys{"id",      "title",     "notes",
                                                      "tunable", "tolerance", "shared-per-thread"};

constexpr int largest_block = 1024;
constexpr int most_shared_per_thread = 1024;

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trimmed(text); !text.empty();) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, end));
    text = trimmed(text.substr(end));
  }
  return words;
}

template <class Number>
bool reads_as(std::string_view text, Number& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc{} && end == text.data() + text.size();
}

class FileReader {
 public:
  explicit FileReader(KernelFile& file) : file_{file} {}

  void read() {
    std::string_view rest = file_.text;
    for (line_ = 1; !rest.empty(); ++line_) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = trimmed(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (!line.starts_with("//") || trimmed(line.substr(2)).empty()) break;
      read_entry(trimmed(line.substr(2)));
    }
    if (file_.id.empty()) fail(1, "no header: the file must begin with the lines '// id: NAME' and '// notes: ...'");
    if (file_.notes.empty()) fail(file_.id_line, "no notes: the header needs a line '// notes: ...'");
    if (file_.title.empty()) file_.title = file_.id;
  }

 private:
  [[noreturn]] void fail(int line, const std::string& cause) const {
    throw KernelFileError{file_.name, {{line, true, cause}}};
  }
  [[noreturn]] void fail(const std::string& cause) const { fail(line_, cause); }

  void read_entry(std::string_view entry) {
    const std::size_t end = std::min(entry.find_first_of(" \t:"), entry.size());
    const std::string_view key = entry.substr(0, end);
    if (key == "tunable") return read_tunable(entry.substr(end));
    const std::size_t colon = entry.find(':');
    if (colon == std::string_view::npos || trimmed(entry.substr(0, colon)) != key ||
        std::ranges::find(header_keys, key) == header_keys.end()) {
      if (line_ == 1) fail("no header: the file must begin with the lines '// id: NAME' and '// notes: ...'");
      fail("'" + std::string{entry.substr(0, 40)} + "' is no line of a header; it has the keys " + joined(header_keys) +
           ", and ends with an empty line" + did_you_mean(key, header_keys));
    }
    read_value(key, trimmed(entry.substr(colon + 1)));
  }

  void read_value(std::string_view key, std::string_view value) {
    if (value.empty()) fail(std::string{key} + " has no value");
    if (!given_.insert(key).second) fail(std::string{key} + " is given twice");
    if (key == "id") {
      if (!is_kernel_id(value))
        fail("the id cannot be '" + std::string{value} + "'; it must be at most 64 lower-case letters, digits and '-'");
      file_.id = value;
      file_.id_line = line_;
    } else if (key == "title") {
      file_.title = value;
    } else if (key == "notes") {
      file_.notes = value;
    } else if (key == "tolerance") {
      read_tolerance(value);
    } else if (file_.shared_line = line_; !reads_as(value, file_.shared_per_thread) || file_.shared_per_thread < 0 ||
                                          file_.shared_per_thread > most_shared_per_thread) {
      fail("shared-per-thread cannot be '" + std::string{value} + "'; it must be bytes, 0 to " +
           std::to_string(most_shared_per_thread));
    }
  }

  void read_tolerance(std::string_view value) {
    const std::vector<std::string_view> words = words_of(value);
    Tolerance& tolerance = file_.tolerance;
    if (words.size() == 2 && reads_as(words[0], tolerance.median) && reads_as(words[1], tolerance.max) &&
        tolerance.median > 0 && tolerance.median < 1 && tolerance.median <= tolerance.max && tolerance.max <= 1) {
      return;  // MAX is at most 1, because accelerations of zero have the error 1
    }
    fail("tolerance cannot be '" + std::string{value} +
         "'; it must be MEDIAN MAX, the largest errors |da|/|a|, such as 5e-6 5e-3: MEDIAN below 1, MAX at most 1");
  }

  /// Reads "NAME = VALUE [VALUE] ...: notes". The value in brackets is the initial one.
  void read_tunable(std::string_view text) {
    const std::size_t equals = text.find('='), colon = text.find(':');
    if (equals == std::string_view::npos || colon == std::string_view::npos || colon < equals) {
      fail("a tunable is written as in 'tunable block = 64 [128] 256: Threads in a block.'");
    }
    FileTunable tunable{.name = std::string{trimmed(text.substr(0, equals))},
                        .notes = std::string{trimmed(text.substr(colon + 1))},
                        .values = {},
                        .initial = {},
                        .line = line_};
    if (!is_kernel_id(tunable.name)) {
      fail("a tunable cannot be named '" + tunable.name + "'; names are at most 64 lower-case letters, digits and '-'");
    }
    if (file_.tunable(tunable.name)) fail("the tunable " + tunable.name + " is given twice");
    for (std::string_view word : words_of(text.substr(equals + 1, colon - equals - 1)))
      read_tunable_value(tunable, word);
    if (tunable.initial.empty()) {
      fail("the tunable " + tunable.name + " has no initial value: put one of its values in brackets, such as [256]");
    }
    file_.tunables.push_back(std::move(tunable));
    if (file_.tunables.size() > KernelFile::most_tunables)
      fail("there are more than " + std::to_string(KernelFile::most_tunables) + " tunables");
  }

  void read_tunable_value(FileTunable& tunable, std::string_view word) const {
    const bool initial = word.starts_with('[') && word.ends_with(']');
    if (initial) word = word.substr(1, word.size() - 2);
    int number = 0;
    if (!reads_as(word, number) || number < 0) {
      fail("the tunable " + tunable.name + " cannot be '" + std::string{word} + "'; values are whole numbers");
    }
    if (tunable.name == "block" && (number < 1 || number > largest_block)) {
      fail("block cannot be " + std::to_string(number) + "; it must be threads, 1 to " + std::to_string(largest_block));
    }
    if (tunable.name == "bodies-per-thread" && number < 1) fail("bodies-per-thread cannot be 0");
    const std::string text = std::to_string(number);
    if (std::ranges::find(tunable.values, text) != tunable.values.end()) {
      fail("the tunable " + tunable.name + " lists " + text + " twice");
    }
    if (initial && !tunable.initial.empty()) fail("the tunable " + tunable.name + " has two initial values");
    if (initial) tunable.initial = text;
    tunable.values.push_back(text);
    if (tunable.values.size() > FileTunable::most_values) {
      fail("the tunable " + tunable.name + " has more than " + std::to_string(FileTunable::most_values) + " values");
    }
  }

  KernelFile& file_;
  std::set<std::string_view> given_;  // keys that were read
  int line_ = 1;
};

std::string first_error(const std::string& file, const std::vector<FileMessage>& messages) {
  const auto first = std::ranges::find_if(messages, &FileMessage::is_error);
  const auto errors = std::ranges::count_if(messages, &FileMessage::is_error);
  std::string text = file + "(" + std::to_string(first->line) + "): " + first->text;
  if (errors > 1) text += " (and " + std::to_string(errors - 1) + (errors > 2 ? " more errors)" : " more error)");
  return text;
}

}  // namespace

bool is_kernel_id(std::string_view text) {
  constexpr std::size_t most_id_bytes = 64;  // short enough for a file name
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.size() <= most_id_bytes && text.front() >= 'a' && text.front() <= 'z' &&
         std::ranges::all_of(text, allowed);
}

KernelFileError::KernelFileError(const std::string& file, std::vector<FileMessage> messages)
    : UsageError{first_error(file, messages)}, file_{file}, messages_{std::move(messages)} {}

std::string FileTunable::constant() const {
  std::string text = name;
  std::ranges::replace(text, '-', '_');
  return text;
}

const FileTunable* KernelFile::tunable(std::string_view wanted) const {
  const auto found = std::ranges::find(tunables, wanted, &FileTunable::name);
  return found == tunables.end() ? nullptr : &*found;
}

void require_kernel_file_size(const std::string& name, std::size_t bytes) {
  if (bytes <= KernelFile::most_bytes) return;
  throw KernelFileError{name,
                        {{1, true,
                          "the file has " + std::to_string(bytes) + " bytes; a kernel file has at most " +
                              std::to_string(KernelFile::most_bytes)}}};
}

void require_shared_memory(const KernelFile& file, int block, std::size_t static_bytes, std::size_t most) {
  const std::size_t needed = file.dynamic_bytes(block) + static_bytes;
  if (needed <= most) return;
  throw KernelFitError{file.name,
                       {{file.shared_line > 0 ? file.shared_line : file.function_line, true,
                         "a block of " + std::to_string(block) + " threads needs " + std::to_string(needed) +
                             " bytes of shared memory; this GPU has " + std::to_string(most) + " per block"}}};
}

KernelFile parse_kernel_file(std::string name, std::string text) {
  KernelFile file;
  file.name = std::move(name);
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // some editors write it; compilers refuse it
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  file.text = std::move(text);
  const auto fail = [&](int line, const std::string& cause) {
    throw KernelFileError{file.name, {{line, true, cause}}};
  };
  require_kernel_file_size(file.name, file.text.size());
  if (const std::size_t zero = file.text.find('\0'); zero != std::string::npos) {
    const auto lines = std::count(file.text.begin(), file.text.begin() + static_cast<std::ptrdiff_t>(zero), '\n');
    fail(static_cast<int>(lines) + 1, "the file is no text: it has a byte 0");
  }
  FileReader{file}.read();
  const std::vector<FoundFunction> functions = find_global_functions(file.text);
  if (functions.empty()) {
    fail(1, std::string{"there is no __global__ function; the file needs one: __global__ void NAME"} +
                kernel_file_parameters);
  }
  if (functions.size() > 1) {
    fail(functions[1].line, "a second __global__ function; a kernel file has one, and any number of other functions");
  }
  if (functions.front().name.empty()) fail(functions.front().line, "__global__ stands before no function");
  file.function = functions.front().name;
  file.function_line = functions.front().line;
  file.function_nested = functions.front().nested;
  return file;
}

std::span<const SourceFile> embedded_starting_points();

namespace {

constexpr std::string_view shortest = "tiled";
constexpr std::string_view before_file = "// The code of ", after_file = " stands here.\n";
constexpr std::string_view begins = "// 'orrery new-kernel' copies from here\n", ends = "// to here.\n";

/// A CUDA kernel that no kernel file can start from.
struct NoStart {
  std::string_view id, why;
};

/// CUDA kernels that have no file in assets/kernels: a kernel file is one function that gets positions, and each of its
/// threads has bodies of its own.
constexpr NoStart no_starts[] = {
    {"cuda-atomic", "its function adds to the sums of all bodies, which another pass finishes"},
    {"cuda-constant", "the host fills its constant memory in rounds, and launches it once for each"},
    {"cuda-fp16", "another pass packs its positions as half-precision numbers"},
    {"cuda-hostloop", "it copies the bodies to the host and back before its function runs"},
    {"cuda-hybrid", "it is two functions in two streams"},
    {"cuda-jerk", "it needs velocities, which a kernel file does not get"},
    {"cuda-symmetric", "its function adds to the sums of all bodies, which another pass finishes"},
    {"cuda-tensor", "other passes make its matrices and finish its sums"},
    {"cuda-tree", "many functions build its tree and walk it"},
    {"cuda-tree-lock", "many functions build its tree and walk it"},
};

/// Returns the text between the marks `begins` and `ends` of an embedded source.
std::string_view device_code(std::string_view name) {
  const SourceFile* const source = find_source(name);
  const std::string_view text = source ? source->bytes : std::string_view{};
  const std::size_t begin = text.find(begins), end = text.find(ends, begin == std::string_view::npos ? 0 : begin);
  if (begin != std::string_view::npos && end != std::string_view::npos) {
    return text.substr(begin + begins.size(), end - begin - begins.size());
  }
  throw std::logic_error("no marks in " + std::string{name} + " say where a new kernel starts");
}

void replace_value(std::string& text, std::string_view key, std::string_view value) {
  const std::size_t begin = text.find(key) + key.size();
  text.replace(begin, text.find('\n', begin) - begin, value);
}

}  // namespace

std::vector<std::string> starting_points() {
  std::vector<std::string> ids{std::string{shortest}};
  for (const SourceFile& file : embedded_starting_points()) {
    if (kernel_id_of(file) != shortest) ids.push_back(kernel_id_of(file));
  }
  return ids;
}

std::string why_no_start(std::string_view id) {
  const std::vector<std::string> starts = starting_points();
  const auto known = [&](const KernelSource& kernel) { return kernel.id == id; };
  if (std::ranges::find(starts, id) != starts.end() || std::ranges::none_of(kernel_sources(), known)) return {};
  const auto listed = std::ranges::find(no_starts, id, &NoStart::id);
  const std::string_view why = id.starts_with("cpu-")          ? "it runs on the CPU, and a kernel file is CUDA"
                               : listed == std::end(no_starts) ? "it is more than one function"
                                                               : listed->why;
  return "no kernel file can start from " + std::string{id} + ": " + std::string{why} +
         "; choose one of: " + joined(starts);
}

std::string new_kernel_text(const std::string& id, std::string_view from) {
  const auto found = std::ranges::find(embedded_starting_points(), from, kernel_id_of);
  if (found == embedded_starting_points().end()) {
    if (const std::string why = why_no_start(from); !why.empty()) throw UsageError(why);
    const std::vector<std::string> known = starting_points();
    const std::vector<std::string_view> names{known.begin(), known.end()};
    throw unknown_name("starting point", from, names);
  }
  std::string text{found->bytes};
  replace_value(text, "// id: ", id);
  replace_value(text, "// title: ", id);
  if (const std::size_t at = text.find(before_file); at != std::string::npos) {
    const std::size_t name = at + before_file.size(), end = text.find(after_file, name);
    text.replace(at, end + after_file.size() - at, device_code(text.substr(name, end - name)));
  }
  return text;
}

KernelFile new_kernel_file(const KernelCatalog& kernels, const std::string& id, std::string_view from) {
  if (!is_kernel_id(id)) {
    throw UsageError("a kernel cannot be named '" + id +
                     "'; a name is at most 64 lower-case letters, digits and '-', and begins with a letter");
  }
  KernelFile file = parse_kernel_file(id + ".cu", new_kernel_text(id, from));
  require_free_id(kernels, file);
  return file;
}

}  // namespace orrery
