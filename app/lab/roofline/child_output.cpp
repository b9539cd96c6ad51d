#include "app/lab/roofline/child_output.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>

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

/// Starts the program with its standard output in the pipe; none where that fails.
std::optional<pid_t> start(const std::string& program, const std::vector<std::string>& arguments, const Pipe& pipe) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return std::nullopt;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return std::nullopt;
  return child;
}

/// Everything until the other end closes; none where `stop` was asked for before, or reading failed.
std::optional<std::string> read_all(int file, const std::stop_token& stop) {
  constexpr int look_ms = 50;
  std::string text;
  std::array<char, 65536> buffer;
  while (!stop.stop_requested()) {
    pollfd wanted{.fd = file, .events = POLLIN, .revents = 0};
    const int ready = poll(&wanted, 1, look_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t size = ready < 0 ? -1 : read(file, buffer.data(), buffer.size());
    if (size < 0) return std::nullopt;
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return std::nullopt;
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

std::optional<std::string> child_output(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                        const std::stop_token& stop) {
  Pipe pipe;
  if (!pipe.made) return std::nullopt;
  const std::optional<pid_t> child = start(program, arguments, pipe);
  pipe.close_end(1);
  if (!child) return std::nullopt;
  std::optional<std::string> text = read_all(pipe.ends[0], stop);
  if (!text) kill(*child, SIGKILL);
  int status = 0;
  while (waitpid(*child, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return text;
}

}  // namespace orrery
