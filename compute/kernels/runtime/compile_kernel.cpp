#include "compute/kernels/runtime/compile_kernel.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/kernels/runtime/kernel_sources.h"

namespace orrery {
namespace {

/// Replacement for <cstdint>, which NVRTC lacks. Its integer types have the sizes of the host's.
constexpr std::string_view fixed_widths =
    "#pragma once\n"
    "using int8_t = signed char; using uint8_t = unsigned char;\n"
    "using int16_t = short; using uint16_t = unsigned short;\n"
    "using int32_t = int; using uint32_t = unsigned;\n"
    "using int64_t = long; using uint64_t = unsigned long;\n"
    "namespace std {\n"
    "using ::int8_t; using ::uint8_t; using ::int16_t; using ::uint16_t;\n"
    "using ::int32_t; using ::uint32_t; using ::int64_t; using ::uint64_t;\n"
    "}\n";

std::string line_directive(int line, const std::string& file) {
  std::string quoted;
  for (const char c : file) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return "#line " + std::to_string(line) + " \"" + quoted + "\"\n";
}

/// Returns the text to compile: the settings as constants, the file, and a check of its function's parameters.
std::string program_text(const KernelFile& file, const Settings::Values& values) {
  std::string text = "#include \"compute/kernels/runtime/device_api.h\"\n";
  for (const FileTunable& tunable : file.tunables) {
    const auto value = values.find(tunable.name);
    text += line_directive(tunable.line, file.name) + "constexpr int " + tunable.constant() + " = " +
            (value == values.end() ? tunable.initial : value->second) + ";\n";
  }
  text += line_directive(1, file.name) + file.text + '\n' + line_directive(file.function_line, file.name);
  return text + "static_assert(orrery::is_force_kernel<decltype(&" + file.function + ")>, \"" +
         std::string{wrong_parameters} + "\");\n";
}

/// Calls `compiler`. Reports a CompilerFailure as a KernelFileError.
cuda::Nvrtc::Result result_of(const Compiler& compiler, const CompilerInput& input, const KernelFile& file) {
  try {
    return compiler(input);
  } catch (const CompilerFailure& failure) {
    throw KernelFileError{file.name, {{file.function_line, true, failure.what()}}};
  }
}

}  // namespace

cuda::Nvrtc::Result compile_here(const CompilerInput& input) {
  cuda::Nvrtc::Program program{
      .source = input.source,
      .headers = {{"cmath", ""},  // empty: NVRTC has its functions built in
                  {"cstddef", "#pragma once\nnamespace std { using size_t = decltype(sizeof 0); }\n"},
                  {"cstdint", fixed_widths}},
      .options = input.options,
      .function = input.function};
  for (const SourceFile& header : compiler_headers()) program.headers.push_back({header.name, header.bytes});
  return cuda::nvrtc().compile(program);
}

std::shared_ptr<const CompiledKernel> compile_kernel(const KernelFile& file, const Settings::Values& values, LawId law,
                                                     int architecture, const Compiler& compiler) {
  static CompiledCache cache;
  const CompilerInput input{
      .source = program_text(file, values),
      .options = {"--std=c++20", "--gpu-architecture=sm_" + std::to_string(architecture),
                  "--device-as-default-execution-space", "-DORRERY_LAW=" + std::to_string(static_cast<int>(law))},
      .function = file.function};
  std::string key = input.source;
  for (const std::string& option : input.options) key += option + '\n';
  if (auto known = cache.find(key)) return known;

  const auto begin = std::chrono::steady_clock::now();
  cuda::Nvrtc::Result result = result_of(compiler, input, file);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  std::vector<FileMessage> messages = read_compiler_log(result.log, file);
  if (!result.compiled) {
    if (messages.empty() || !messages.front().is_error) {
      messages.insert(messages.begin(), {file.function_line, true,
                                         "the compiler failed: " + result.log.substr(0, result.log.find('\n'))});
    }
    throw KernelFileError{file.name, std::move(messages)};
  }
  auto compiled = std::make_shared<const CompiledKernel>(
      CompiledKernel{std::move(result.binary), std::move(result.symbol), std::move(messages), taken.count()});
  cache.put(key, compiled);
  return compiled;
}

CompiledLaws compile_for_all_laws(const KernelFile& file, const Settings::Values& values, int architecture,
                                  const Compiler& compiler) {
  const auto compile = [&](LawId law) { return compile_kernel(file, values, law, architecture, compiler); };
  auto beside = std::async(std::launch::async, compile, LawId::attract_repel);
  auto gravity = compile(LawId::gravity);  // if this throws, the destructor of `beside` waits
  return {std::move(gravity), beside.get()};
}

namespace {

struct Meaning {
  const char* pattern;  ///< regular expression; in `failures`: name of an error
  const char* meaning;  ///< explanation, with $1, $2 for the groups of the expression
};

/// Explanations of compiler messages. The first pattern that matches is used.
constexpr Meaning meanings[] = {
    {R"re(identifier "[^"]*" is undefined)re",
     "nothing above this line declares the name; check its spelling, or declare it first"},
    {R"re(expected a ";")re",
     "the statement before has no end; often it is the end of the line above that lacks the ;"},
    {R"re(expected a "([)\]}])")re", "a bracket that was opened before has no $1"},
    {R"re(this declaration has no storage class)re",
     "a statement stands outside of every function; there may be one } too many above"},
    {R"re(expected (?:a|an) (?:statement|declaration|expression))re",
     "this cannot stand here; check the brackets and the end of the line above"},
    {R"re(no suitable .*conversion.* from "([^"]*)" to "([^"]*)" exists)re",
     "a $1 does not become a $2 by itself; a member such as .x may be missing"},
    {R"re(a value of type "([^"]*)" cannot be .* an entity of type "([^"]*)")re",
     "the types differ: this is a $1, and a $2 is needed"},
    {R"re(no operator "([^"]*)" matches these operands)re",
     "these types have no $1; compute with their members: x, y and z, and w of a Vec4"},
    {R"re(no instance of .* matches the argument list.*\bdouble\b)re",
     "the function takes other arguments; 1.0 is a double, and 1.0f is a float"},
    {R"re(no instance of .* matches the argument list)re",
     "the function takes another number of arguments, or arguments of other types"},
    {R"re(more than one instance of overloaded function)re",
     "the arguments have different types; give them the same one: 1.0f is a float, 1 an int, and 1.0 a double"},
    {R"re(too many arguments in function call)re", "the function takes fewer arguments"},
    {R"re(too few arguments in function call)re", "the function takes more arguments"},
    {R"re(class "Vec3[^"]*" has no member)re", "a Vec3 has x, y and z"},
    {R"re(class "Vec4" has no member)re", "a Vec4 has x, y, z and w; w of a body is its mass"},
    {R"re(namespace "std" has no member)re",
     "a kernel file has no standard library, but CUDA's functions, without std::, such as sqrtf and fminf"},
    {R"re(expression must be a modifiable lvalue)re",
     "what stands left of the = cannot be changed: it is const, or belongs to the sources"},
    {R"re(expression must have a constant value)re",
     "the compiler has to know this number: use a literal, a constexpr variable or a tunable"},
    {R"re(has already been declared in the current scope)re", "two variables have this name; choose another one"},
    {R"re(user-defined literal operator not found)re",
     "no number ends like this; a float has a point before its f, as in 1.0f"},
    {R"re(expression must have class type but it has type "[^"]*\*")re",
     "this is a pointer: read an element, as in bodies[j].x"},
    {R"re(operator -> or ->\* applied)re", "this is no pointer: write a point in place of ->"},
    {R"re(explicitly marked as a __host__ function)re", "a kernel file has code of the GPU only: leave out __host__"},
    {R"re(Not a name of any known instruction)re", "asm() has an instruction that this GPU does not know"},
};

constexpr Meaning failures[] = {
    {"cudaErrorIllegalAddress", "the kernel reads or writes memory outside of its arrays"},
    {"cudaErrorMisalignedAddress",
     "the kernel reads or writes at an address that does not fit the type; a cast of a pointer may be wrong"},
    {"cudaErrorInvalidAddressSpace",
     "the kernel uses a pointer for another kind of memory than it points to: global, shared or local memory"},
    {"cudaErrorLaunchFailure",
     "the GPU stopped the kernel: it met a trap, or left its arrays in shared or local memory"},
    {"cudaErrorAssert", "an assert() of the kernel failed"},
    {"cudaErrorIllegalInstruction", "the kernel met an instruction that the GPU cannot run; asm() may be wrong"},
    {"cudaErrorHardwareStackError", "the kernel needs too much stack: a function may call itself without end"},
    {"cudaErrorInvalidPc", "the kernel went on where there is no code; a pointer to a function may be wrong"},
    {"cudaErrorLaunchTimeout", "the kernel took longer than the system allows on a GPU that also draws"},
    {"cudaErrorLaunchOutOfResources",
     "a block needs more registers or shared memory than the GPU has; fewer threads per block need less"},
    {"cudaErrorMemoryAllocation", "the GPU is short of memory; arrays in a function take room for every thread"},
    {"cudaErrorNoKernelImageForDevice", "the kernel was compiled for another GPU"},
    {"cudaErrorInvalidKernelImage", "the driver cannot load the compiled kernel; it may be older than the compiler"},
    {"cudaErrorUnsupportedPtxVersion", "the driver is older than the compiler: install a newer driver"},
};

std::string without_namespace(std::string text) {
  constexpr std::string_view ours = "orrery::";
  for (std::size_t at = 0; (at = text.find(ours, at)) != std::string::npos;) text.erase(at, ours.size());
  return text;
}

/// Maximum bytes of a line in the log: std::regex takes stack for each byte.
constexpr std::size_t most_line_bytes = 4000;

std::string_view without_end(std::string_view line) {
  if (line.size() <= most_line_bytes) return line;
  std::size_t end = most_line_bytes;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;  // within a UTF-8 character
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

/// Returns a message that lists the headers that can be included, if `text` is about an unknown header. A cause may
/// follow the header's name in `text`: the compiler's process may not open files that exist.
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
    std::stable_partition(messages_.begin(), messages_.end(), test);  // clang 14 cannot compile the ranges version
  }

  /// Returns the message, followed by the types if the next line of the log lists them.
  std::string with_types(std::string text) {
    static const std::regex pattern{R"(^\s+((?:argument|operand) types are: .*)$)"};
    std::smatch found;
    if (at_ + 1 >= lines_.size() || !std::regex_match(lines_[at_ + 1], found, pattern)) return text;
    ++at_;
    return text + "; " + found[1].str();
  }

  /// Returns the message with the further lines that the text of a static assertion may have.
  std::string with_further_lines(std::string text) {
    constexpr std::size_t most_lines = 10;
    if (!text.starts_with("static assertion failed with \"")) return text;
    for (std::size_t i = 0; i < most_lines && !text.ends_with('"') && at_ + 1 < lines_.size(); ++i) {
      text += ' ' + std::string{trimmed(lines_[++at_])};
    }
    return text;
  }

  /// Reads a line "NAME(LINE): error: text". Returns false for other lines.
  bool read_message() {
    static const std::regex pattern{R"(^(.*)\((\d+)\): (catastrophic error|error|warning)(?: #\S+)?: (.*)$)"};
    std::smatch found;
    if (!std::regex_match(lines_[at_], found, pattern)) return false;
    const std::string name = found[1];
    if (name.starts_with("__nv")) return true;  // caused by an earlier error
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

  /// Returns the line of the kernel file that led to a message about another file, from the template lines after it.
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
    const bool is_sum = text.starts_with("Ptx assembly aborted");  // summary of earlier errors
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

  /// Returns the line that declares a function: the first with its name and a parenthesis.
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

std::string with_meaning(const std::string& message) {
  static const std::vector<std::regex> patterns = [] {
    std::vector<std::regex> all;
    for (const Meaning& known : meanings) all.emplace_back(known.pattern);
    return all;
  }();
  const std::string text = without_namespace(message);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    std::smatch found;
    if (std::regex_search(text, found, patterns[i])) return text + ": " + found.format(meanings[i].meaning);
  }
  return text;
}

std::string in_plain_words(const std::string& failure) {
  const std::size_t name = failure.rfind(" (cudaError"), end = failure.rfind(')');
  if (name == std::string::npos || end == std::string::npos || end < name) return failure;
  const std::string error = failure.substr(name + 2, end - name - 2);
  const auto known = std::ranges::find_if(failures, [&](const Meaning& each) { return error == each.pattern; });
  if (known != std::end(failures)) return std::string{known->meaning} + " (" + error + ")";
  const std::size_t call = failure.rfind(": ", name);
  return "CUDA reports: " + failure.substr(call == std::string::npos ? 0 : call + 2);
}

std::string source_name(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name{abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free};
  return status == 0 && name ? without_namespace(name.get()) : symbol;
}

std::vector<FileMessage> read_compiler_log(std::string_view log, const KernelFile& file) {
  return LogReader{log, file}.read();
}

}  // namespace orrery
