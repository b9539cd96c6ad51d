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

enum class Errors { dropped, in_pipe };

/// Starts the program with its standard output in the pipe; none where that fails.
std::optional<pid_t> start(const std::string& program, const std::vector<std::string>& arguments, const Pipe& pipe,
                           Errors errors) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return std::nullopt;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDOUT_FILENO);
  if (errors == Errors::in_pipe) {
    posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDERR_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return std::nullopt;
  return child;
}

/// Everything until the other end closes; none where `stop` returns true before, or reading failed.
template <class Stop>
std::optional<std::string> read_all(int file, int look_ms, const Stop& stop) {
  std::string text;
  std::array<char, 65536> buffer;
  while (!stop()) {
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

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
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
  const std::optional<pid_t> child = start(program, arguments, pipe, Errors::dropped);
  pipe.close_end(1);
  if (!child) return std::nullopt;
  std::optional<std::string> text = read_all(pipe.ends[0], 50, [&] { return stop.stop_requested(); });
  if (!text) kill(*child, SIGKILL);
  const int status = wait_for(*child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return text;
}

ChildEnd run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                   std::chrono::milliseconds limit, const std::function<bool()>& cancelled) {
  ChildEnd end;
  Pipe pipe;
  if (!pipe.made) return end;
  const std::optional<pid_t> child = start(program, arguments, pipe, Errors::in_pipe);
  pipe.close_end(1);
  if (!child) return end;
  const auto latest = std::chrono::steady_clock::now() + limit;
  std::optional<std::string> text = read_all(pipe.ends[0], 5, [&] {
    end.timed_out = std::chrono::steady_clock::now() >= latest;
    end.cancelled = cancelled && cancelled();
    return end.timed_out || end.cancelled;
  });
  if (!text) kill(*child, SIGKILL);
  const int status = wait_for(*child);
  if (text && WIFEXITED(status)) end.status = WEXITSTATUS(status);
  end.output = std::move(text).value_or("");
  return end;
}

}  // namespace orrery
