#include "app/workshop/compiler_process.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "app/text/console.h"
#include "compute/kernels/runtime/compiler_log.h"

namespace orrery {
namespace {

// The command line of the process: this word, the function, the options. The source is its standard input.
constexpr std::string_view compiler_word = "compile-for-parent";
constexpr rlim_t most_bytes = rlim_t{2} << 30;

/// The process writes a line with the sizes of what follows it.
std::string packed(const cuda::Nvrtc::Result& result) {
  return fmt::format("{:d} {} {} {}\n", result.compiled, result.symbol.size(), result.log.size(),
                     result.binary.size()) +
         result.symbol + result.log + result.binary;
}

/// Throws CompilerFailure if this is not the whole text of a result.
cuda::Nvrtc::Result unpacked(const std::string& text) {
  std::size_t at = std::min(text.find('\n'), text.size());
  std::istringstream line{text.substr(0, at++)};
  cuda::Nvrtc::Result result;
  std::array<std::size_t, 3> sizes{};
  line >> result.compiled >> sizes[0] >> sizes[1] >> sizes[2];
  if (!line || at + sizes[0] + sizes[1] + sizes[2] != text.size()) {
    throw CompilerFailure("the compiler ended without a result: it cannot compile this text, and does not say why");
  }
  const std::array parts{&result.symbol, &result.log, &result.binary};
  for (std::size_t i = 0; i < parts.size(); at += sizes[i++]) *parts[i] = text.substr(at, sizes[i]);
  return result;
}

}  // namespace

cuda::Nvrtc::Result CompilerProcess::operator()(const CompilerInput& input) const {
  std::vector<std::string> words{std::string{compiler_word}, input.function};
  words.insert(words.end(), input.options.begin(), input.options.end());
  bool stopped = false;
  const ChildResult end = child_result(
      program, words, [&] { return stopped = cancelled && cancelled(); }, limit, input.source);
  if (stopped) throw std::runtime_error("the compiler was stopped");
  if (!end.not_started.empty()) throw std::runtime_error("the compiler did not run: " + end.not_started);
  if (end.timed_out) {
    throw CompilerFailure(fmt::format("the compiler did not end within {} s: {}",
                                      std::chrono::duration<double>(limit).count(), endless_causes));
  }
  if (end.status == 1) throw std::runtime_error(last_complaint(end));
  return unpacked(end.text);
}

bool is_compiler_process(const std::vector<std::string>& words) {
  return words.size() >= 2 && words.front() == compiler_word;
}

int run_compiler_process(const std::vector<std::string>& words) {
  // NVRTC would end this process on these, and its result would look like that of a wrong text.
  sigset_t ignored;
  sigemptyset(&ignored);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ignored, signal);
  (void)pthread_sigmask(SIG_BLOCK, &ignored, nullptr);
  const rlimit memory{most_bytes, most_bytes};
  (void)setrlimit(RLIMIT_AS, &memory);
  CompilerInput input{.source = {}, .options = {words.begin() + 2, words.end()}, .function = words[1]};
  input.source.assign(std::istreambuf_iterator<char>{std::cin}, {});
  console::write_out(packed(compile_here(input)));
  return 0;
}

}  // namespace orrery
