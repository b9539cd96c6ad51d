#include "app/process/compiler_process.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

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
#include "compute/kernels/runtime/compile_kernel.h"

namespace orrery {
namespace {

// The only word of the process's command line.
constexpr std::string_view compiler_word = "compile-for-parent";
constexpr rlim_t most_bytes = rlim_t{2} << 30;

/// Returns the input of the process: lines with the function and the options, then the source.
std::string packed(const CompilerInput& input) {
  std::string text = fmt::format("{}\n{}\n", input.function, input.options.size());
  for (const std::string& option : input.options) text += option + '\n';
  return text + input.source;
}

/// Reads the whole input; blocks until the stream ends.
CompilerInput read_input(std::istream& stream) {
  constexpr std::size_t most_options = 100;
  CompilerInput input;
  std::size_t options = 0;
  std::getline(stream, input.function);
  stream >> options;
  stream.ignore();
  input.options.resize(std::min(options, most_options));
  for (std::string& option : input.options) std::getline(stream, option);
  input.source.assign(std::istreambuf_iterator<char>{stream}, {});
  return input;
}

/// Returns the output of the process: a line with the sizes of the parts, then the parts.
std::string packed(const cuda::Nvrtc::Result& result) {
  return fmt::format("{:d} {} {} {}\n", result.compiled, result.symbol.size(), result.log.size(),
                     result.binary.size()) +
         result.symbol + result.log + result.binary;
}

/// Returns the result in the output of the process. Throws CompilerFailure if `text` is incomplete.
cuda::Nvrtc::Result unpacked(const std::string& text) {
  std::size_t at = std::min(text.find('\n'), text.size());
  std::istringstream line{text.substr(0, at++)};
  cuda::Nvrtc::Result result;
  std::array<std::size_t, 3> sizes{};
  line >> result.compiled >> sizes[0] >> sizes[1] >> sizes[2];
  if (!line || at + sizes[0] + sizes[1] + sizes[2] != text.size()) {
    throw CompilerFailure("the compiler ended without a result and without a message: it cannot compile this text");
  }
  const std::array parts{&result.symbol, &result.log, &result.binary};
  for (std::size_t i = 0; i < parts.size(); at += sizes[i++]) *parts[i] = text.substr(at, sizes[i]);
  return result;
}

std::unique_ptr<ChildProcess> start_compiler(const std::filesystem::path& program) {
  return std::make_unique<ChildProcess>(program, std::vector{std::string{compiler_word}});
}

/// Loads what NVRTC needs for any text. Also packs the result: sanitizers check each type once, by opening a pipe.
void warm_up() {
  try {
    (void)packed(compile_here({.source = "__global__ void f() {}\n", .options = {"--std=c++20"}, .function = "f"}));
  } catch (const std::exception&) {
    // The first real text reports the same failure.
  }
}

/// Forbids opening files: a text can include the headers that it is compiled with, but neither #include nor
/// __has_include can open a file. The limit of one descriptor leaves standard input, because poll() watches no more
/// descriptors than the limit.
void leave_files() {
  const rlimit one{1, 1};
  (void)setrlimit(RLIMIT_NOFILE, &one);
}

}  // namespace

void SpareCompilers::fill() {
  constexpr std::size_t laws = 2;
  const std::lock_guard lock{mutex_};
  while (compiling_ == 0 && waiting_.size() < laws) waiting_.push_back(start_compiler(program_));
}

SpareCompilers::Compilation::Compilation(SpareCompilers* spares) : spares_{spares} {
  if (!spares_) return;
  const std::lock_guard lock{spares_->mutex_};
  ++spares_->compiling_;
  if (spares_->waiting_.empty()) return;
  process_ = std::move(spares_->waiting_.back());
  spares_->waiting_.pop_back();
}

SpareCompilers::Compilation::~Compilation() {
  if (!spares_) return;
  const std::lock_guard lock{spares_->mutex_};
  --spares_->compiling_;
}

cuda::Nvrtc::Result CompilerProcess::operator()(const CompilerInput& input) const {
  const std::string text = packed(input);
  bool stopped = false;
  const auto compile_in = [&](ChildProcess& process) {
    return process.result([&] { return stopped = cancelled && cancelled(); }, limit, text);
  };
  const SpareCompilers::Compilation compilation{spares.get()};
  ChildResult end;
  if (compilation.process()) end = compile_in(*compilation.process());
  const bool has_answered = end.status >= 0 || end.timed_out || stopped;
  if (!has_answered) end = compile_in(*start_compiler(program));  // there was no spare process, or it ended too early
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
  return words.size() == 1 && words.front() == compiler_word;
}

int run_compiler_process() {
  // Without this, NVRTC would end this process on these signals, and the result would look like that of a wrong text.
  sigset_t ignored;
  sigemptyset(&ignored);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ignored, signal);
  (void)pthread_sigmask(SIG_BLOCK, &ignored, nullptr);
#ifndef ORRERY_SANITIZED  // sanitizers reserve terabytes of address space
  const rlimit memory{most_bytes, most_bytes};
  (void)setrlimit(RLIMIT_AS, &memory);
#endif
  warm_up();
  const CompilerInput input = read_input(std::cin);  // before leave_files(): sanitizers open a pipe to check a stream
  leave_files();
  console::write_bytes(packed(compile_here(input)));
  return 0;
}

}  // namespace orrery
