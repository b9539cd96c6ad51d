#include "app/process/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "app/process/parent.h"
#include "app/text/lines.h"
#include "compute/core/descriptor.h"
#include "compute/core/write_all.h"

namespace orrery {
namespace {

/// A pipe whose ends close with it; no child inherits them except as its standard output.
struct Pipe {
  Pipe() { made = pipe2(ends, O_CLOEXEC) == 0; }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(int end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }

  int ends[2] = {-1, -1};
  bool made = false;
};

/// A file in memory with this text, to be read from its beginning. Empty if it cannot be made.
Descriptor memory_file(std::string_view text) {
  Descriptor file{memfd_create("input", MFD_CLOEXEC)};
  if (file && (!write_all(file.number(), text).empty() || lseek(file.number(), 0, SEEK_SET) != 0)) return {};
  return file;
}

/// Starts the program with these as its standard streams. Returns 0, or what went wrong.
int start(pid_t& child, const std::string& program, const std::vector<std::string>& arguments, const Descriptor& input,
          const Pipe& output, const Pipe& errors) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  std::string parent = std::string{parent_variable} + '=' + std::to_string(getpid());
  std::vector<char*> variables{parent.data()};
  for (char** variable = environ; *variable; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  if (const int failed = posix_spawn_file_actions_init(&actions); failed != 0) return failed;
  posix_spawn_file_actions_adddup2(&actions, input.number(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.ends[1], STDERR_FILENO);
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

/// Reads what there is. Returns whether more may come.
bool read_some(Pipe& pipe, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t size = read(pipe.ends[0], buffer.data(), buffer.size());
  if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
  if (size < 0 && errno == EINTR) return true;
  return size > 0;
}

/// Everything until both other ends close. Returns false where `stopped` said so before, or looking failed.
bool read_all(Pipe& output, Pipe& errors, ChildResult& result, const std::function<bool()>& stopped) {
  constexpr int look_ms = 10;
  while (!stopped()) {
    if (output.ends[0] < 0 && errors.ends[0] < 0) return true;
    std::array<pollfd, 2> wanted{pollfd{.fd = output.ends[0], .events = POLLIN, .revents = 0},
                                 pollfd{.fd = errors.ends[0], .events = POLLIN, .revents = 0}};
    const int ready = poll(wanted.data(), wanted.size(), look_ms);
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    if (wanted[0].revents != 0 && !read_some(output, result.text)) output.close_end(0);
    if (wanted[1].revents != 0 && !read_some(errors, result.error)) errors.close_end(0);
  }
  return false;
}

}  // namespace

std::optional<std::filesystem::path> find_program(std::string_view name,
                                                  const std::vector<std::filesystem::path>& folders) {
  std::vector<std::filesystem::path> searched;
  const char* const path = std::getenv("PATH");
  std::istringstream list{path ? path : ""};
  for (std::string folder; std::getline(list, folder, ':');) {
    if (!folder.empty()) searched.emplace_back(folder);
  }
  searched.insert(searched.end(), folders.begin(), folders.end());
  for (const std::filesystem::path& folder : searched) {
    const std::filesystem::path file = folder / name;
    std::error_code ignored;
    if (access(file.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(file, ignored)) return file;
  }
  return std::nullopt;
}

std::filesystem::path this_program() {
  return "/proc/self/exe";
}

ChildResult child_result(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                         const std::function<bool()>& stopped, std::optional<std::chrono::milliseconds> limit,
                         std::string_view input) {
  const auto begin = std::chrono::steady_clock::now();
  ChildResult result;
  Pipe output, errors;
  pid_t child = 0;
  const Descriptor text = memory_file(input);
  const bool ready = text && output.made && errors.made;
  const int failed = ready ? start(child, program, arguments, text, output, errors) : errno;
  output.close_end(1);
  errors.close_end(1);
  if (failed != 0) {
    result.not_started = "'" + program.string() + "' cannot be started: " + std::strerror(failed);
    return result;
  }
  const auto ended = [&] {
    if (stopped()) return true;
    result.timed_out = limit && std::chrono::steady_clock::now() - begin >= *limit;
    return result.timed_out;
  };
  if (!read_all(output, errors, result, ended)) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

std::string last_complaint(const ChildResult& result) {
  std::string_view errors = result.error;
  std::string last;
  while (!errors.empty()) {
    const std::string_view line = trimmed(take_line(errors));
    if (!line.empty()) last = line;
  }
  constexpr std::string_view name = "orrery: ";
  return last.starts_with(name) ? last.substr(name.size()) : last;
}

std::optional<std::string> child_output(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                        const std::stop_token& stop) {
  ChildResult result = child_result(program, arguments, [&] { return stop.stop_requested(); });
  if (result.status != 0) return std::nullopt;
  return std::move(result.text);
}

}  // namespace orrery
