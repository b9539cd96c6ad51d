#include "app/process/kernel_processes.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <exception>
#include <future>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/text/console.h"
#include "app/text/input_file.h"
#include "compute/core/error.h"
#include "compute/core/temporary_folder.h"
#include "compute/core/text.h"
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

namespace {

namespace fs = std::filesystem;

const KernelCheck replaced_by_newer{.problem = "a newer text was saved", .cancelled = true};

/// Makes the other processes of a check end when the check returns.
struct EndsOthers {
  explicit EndsOthers(std::atomic<bool>& flag) : ended{flag} {}
  EndsOthers(const EndsOthers&) = delete;
  EndsOthers& operator=(const EndsOthers&) = delete;
  ~EndsOthers() { ended = true; }
  std::atomic<bool>& ended;
};

/// Returns the setup of a result, such as "33 bodies, gravity, block=64 unroll=8".
std::string setup_of(const Json& row) {
  std::string text = fmt::format("{}, {}", counted_bodies(row.at("n").get<int>()), row.at("law").get<std::string>());
  for (const auto& [name, value] : row.at("settings").items()) {
    text +=
        fmt::format("{} {}={}", name == row.at("settings").begin().key() ? "," : "", name, value.get<std::string>());
  }
  return text;
}

std::optional<double> finite(const Json& error, const char* part) {
  const Json& value = error.at(part);
  return value.is_number() ? std::optional{value.get<double>()} : std::nullopt;
}

constexpr std::string_view all_compiled = " compiled for both laws";

/// Adds the result of a check with the shown bodies.
void add_shown(KernelCheck& check, const KernelCheck& shown) {
  if (!shown.problem.empty()) {
    check.problem = (shown.cancelled ? "" : "with the bodies that are shown: ") + shown.problem;
    check.cancelled = shown.cancelled;
    check.line = shown.line;
  }
  if (check.largest_error && shown.largest_error) {
    check.largest_error = std::max(*check.largest_error, *shown.largest_error);
  }
}

std::string problem_of_row(const Json& row) {
  constexpr std::string_view fails = "FAIL: ";
  const std::string result = row.at("result");
  if (result.starts_with("skipped: ")) return fmt::format("{}: {}", setup_of(row), result.substr(9));
  if (result.starts_with(fails))
    return fmt::format("{}: {}", setup_of(row), in_plain_words(result.substr(fails.size())));
  return fmt::format(
      "{}: some accelerations are not finite: the kernel divides by zero, reads past the end of the "
      "bodies, or leaves bodies out",
      setup_of(row));
}

/// Returns `text` with `copy` replaced by `name`. Sets `line`, if empty, from the first "(LINE): " after a new name.
std::string renamed(std::string text, const std::string& copy, const std::string& name, std::optional<int>& line) {
  for (std::size_t at = 0; (at = text.find(copy, at)) != std::string::npos; at += name.size()) {
    text.replace(at, copy.size(), name);
    const char* const behind = text.data() + at + name.size();
    int number = 0;
    if (*behind != '(' || line) continue;
    const auto [end, code] = std::from_chars(behind + 1, text.data() + text.size(), number);
    if (code == std::errc{} && std::string_view{end}.starts_with("): ")) line = number;
  }
  return text;
}

}  // namespace

std::string compiled_note(const std::string& kernel_id, std::size_t settings) {
  return fmt::format("{}: {}{}", kernel_id, counted(static_cast<long>(settings), "setting"), all_compiled);
}

KernelCheck read_check(std::string_view json) {
  KernelCheck check;
  try {
    const Json document = parse_json(json, "the check's results");
    for (const Json& row : document.at("results")) {
      if (row.at("result") != "PASS") {
        check.problem = problem_of_row(row);
        return check;
      }
      if (const auto most = finite(row.at("error"), "max")) {
        check.largest_error = std::max(check.largest_error.value_or(0), *most);
      }
    }
    if (document.at("results").empty()) check.problem = "the check did not run";
  } catch (const std::exception& error) {
    check.problem = std::string{"the check's results cannot be read: "} + failure_text(error);
  }
  return check;
}

KernelCheck KernelChecker::run(const fs::path& file, const fs::path& results, const std::vector<std::string>& arguments,
                               const std::function<bool()>& cancelled) const {
  std::vector<std::string> words{"verify", "--kernel-file", file.string(), "--json", results.string()};
  if (device) words.insert(words.end(), {"--device", std::to_string(*device)});
  words.insert(words.end(), arguments.begin(), arguments.end());
  bool replaced = false, compiles = true;
  auto since = std::chrono::steady_clock::now();
  const auto late = [&](const ChildResult& so_far) {
    const auto now = std::chrono::steady_clock::now();
    if (compiles && so_far.error.find(all_compiled) != std::string::npos) compiles = false, since = now;
    return now - since >= (compiles ? compile_limit : limit);
  };
  const ChildResult end =
      ChildProcess{program, words}.result_within(late, [&] { return replaced = cancelled && cancelled(); });
  if (replaced) return replaced_by_newer;
  if (!end.not_started.empty()) return {.problem = "the check did not run: " + end.not_started};
  if (end.timed_out && compiles) {
    return {.problem =
                fmt::format("the values of the tunables were not compiled within {} s: there are too many, or {}",
                            std::chrono::duration<double>(compile_limit).count(), endless_causes)};
  }
  if (end.timed_out) {
    return {.problem = fmt::format("the check did not end within {} s: the kernel hangs, or is very slow",
                                   std::chrono::duration<double>(limit).count())};
  }
  std::error_code missing;
  if (fs::exists(results, missing)) return read_check(read_text(results.string()));
  if (const std::string why = last_complaint(end); !why.empty()) return {.problem = in_plain_words(why)};
  return {.problem = "the check ended without a result: the kernel ended its process"};
}

KernelCheck KernelChecker::named(KernelCheck check, const fs::path& copy, const KernelFile& file) const {
  check.problem = renamed(std::move(check.problem), copy.string(), file.name, check.line);
  return check;
}

KernelCheck KernelChecker::check(const KernelFile& file, const std::function<bool()>& cancelled,
                                 const WriteShown& write_shown) const {
  const TemporaryFolder folder;
  const fs::path copy = folder.write(fs::path{file.name}.filename(), file.text);
  Shown shown;
  try {
    if (write_shown) shown = write_shown(folder);
  } catch (const std::exception& error) {
    return {.problem = fmt::format("it could not be checked with the bodies that are shown: {}", failure_text(error))};
  }
  std::atomic<bool> ended{false};  // true: the other processes must end
  std::vector<std::future<KernelCheck>> others;
  const EndsOthers ends_others{ended};  // destroyed before the futures, which wait for the processes
  for (std::size_t i = 0; i < shown.runs.size(); ++i) {
    others.push_back(std::async(std::launch::async, [&, i] {
      return run(copy, folder / fmt::format("shown-{}.json", i), shown.runs[i], [&] { return ended.load(); });
    }));
  }
  KernelCheck check = named(run(copy, folder / "results.json", {}, cancelled), copy, file);
  for (std::future<KernelCheck>& other : others) {
    if (!check.problem.empty()) return check;
    while (other.wait_for(std::chrono::milliseconds{5}) != std::future_status::ready) {
      if (cancelled && cancelled()) ended = true;
    }
    add_shown(check, named(other.get(), copy, file));
  }
  check.remark = shown.remark;
  return check;
}

}  // namespace orrery
