#include "compute/kernels/runtime/compile_kernel.h"

#include <chrono>
#include <future>
#include <string_view>
#include <utility>

#include "compute/kernels/runtime/compiler_log.h"
#include "compute/kernels/runtime/kernel_sources.h"

namespace orrery {
namespace {

/// <cstdint> for NVRTC: its numbers are those of the host.
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

/// Compiles. Reports a failure of the compiler as an error of the file.
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
      .headers = {{"cmath", ""},  // its functions are built in
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
  auto gravity = compile(LawId::gravity);  // the future waits if this throws
  return {std::move(gravity), beside.get()};
}

}  // namespace orrery
