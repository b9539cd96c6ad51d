#include "app/process/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "app/text/parse_value.h"

namespace orrery {

void end_with_parent() {
  const char* const variable = std::getenv(parent_variable);
  if (!variable) return;
  const std::string parent = variable;
  unsetenv(parent_variable);  // the children of this process have another parent
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "orrery");  // otherwise the name is "exe" if /proc/self/exe was started
  if (parent == std::to_string(getppid())) return;
  // Either the parent has just ended and nobody reads this, or the variable was left in the environment.
  constexpr std::string_view why =
      "orrery: ORRERY_PARENT is set, but is not the process that started this one: unset it\n";
  (void)!write(STDERR_FILENO, why.data(), why.size());
  std::_Exit(1);
}

namespace {

/// Two connected ends, one for this program and one for a child. No other child inherits them.
struct Ends {
  Descriptor own, child;
};

Ends make_pipe() {
  int ends[2] = {-1, -1};
  (void)!pipe2(ends, O_CLOEXEC);
  return {Descriptor{ends[0]}, Descriptor{ends[1]}};
}

/// Makes a pair of sockets instead of a pipe: send() to a child that has ended then raises no signal.
Ends make_socket() {
  int ends[2] = {-1, -1};
  (void)!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
  return {Descriptor{ends[0]}, Descriptor{ends[1]}};
}

/// Starts the program with `streams` as its standard input, output and error. Returns 0 or an errno value.
int start(pid_t& child, const std::string& program, const std::vector<std::string>& arguments,
          const std::array<const Descriptor*, 3>& streams) {
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
  for (int stream = 0; stream < 3; ++stream) {
    posix_spawn_file_actions_adddup2(&actions, streams[static_cast<std::size_t>(stream)]->number(), stream);
  }
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

/// Reads the available bytes, and closes the descriptor at the end of the stream.
void read_some(Descriptor& from, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t size = read(from.number(), buffer.data(), buffer.size());
  if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
  if (size == 0 || (size < 0 && errno != EINTR)) from = {};
}

/// Writes as much as fits without blocking, and closes the descriptor after the last byte.
void send_some(Descriptor& to, std::string_view& text) {
  const ssize_t size = send(to.number(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (size >= 0) text.remove_prefix(static_cast<std::size_t>(size));
  if (text.empty() || (size < 0 && errno != EINTR && errno != EAGAIN)) to = {};
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

ChildProcess::ChildProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  Ends input = make_socket(), output = make_pipe(), errors = make_pipe();
  const bool ready = input.own && output.own && errors.own;
  const int failed = ready ? start(child_, program, arguments, {&input.child, &output.child, &errors.child}) : errno;
  if (failed != 0) {
    child_ = 0;
    not_started_ = "'" + program.string() + "' cannot be started: " + std::strerror(failed);
    return;
  }
  input_ = std::move(input.own);
  output_ = std::move(output.own);
  errors_ = std::move(errors.own);
}

ChildProcess::~ChildProcess() {
  if (child_ == 0) return;
  kill(child_, SIGKILL);
  (void)wait_for_end();
}

int ChildProcess::wait_for_end() {
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
  child_ = 0;
  return status;
}

/// Writes the input and reads until output and errors end. Returns false if `stopped` returned true or polling failed.
bool ChildProcess::exchange(std::string_view input, ChildResult& result, const std::function<bool()>& stopped) {
  constexpr int look_ms = 10;
  if (input.empty()) input_ = {};
  while (!stopped()) {
    if (!output_ && !errors_) return true;
    std::array<pollfd, 3> wanted{pollfd{.fd = input_.number(), .events = POLLOUT, .revents = 0},
                                 pollfd{.fd = output_.number(), .events = POLLIN, .revents = 0},
                                 pollfd{.fd = errors_.number(), .events = POLLIN, .revents = 0}};
    const int ready = poll(wanted.data(), wanted.size(), look_ms);
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    if (wanted[0].revents != 0) send_some(input_, input);
    if (wanted[1].revents != 0) read_some(output_, result.text);
    if (wanted[2].revents != 0) read_some(errors_, result.error);
  }
  return false;
}

ChildResult ChildProcess::result(const std::function<bool()>& stopped, std::optional<std::chrono::milliseconds> limit,
                                 std::string_view input) {
  const auto begin = std::chrono::steady_clock::now();
  const auto late = [&](const ChildResult&) { return limit && std::chrono::steady_clock::now() - begin >= *limit; };
  return result_within(late, stopped, input);
}

ChildResult ChildProcess::result_within(const std::function<bool(const ChildResult& so_far)>& late,
                                        const std::function<bool()>& stopped, std::string_view input) {
  ChildResult result{.not_started = not_started_};
  if (child_ == 0) return result;
  const auto ended = [&] {
    if (stopped()) return true;
    result.timed_out = late(result);
    return result.timed_out;
  };
  if (!exchange(input, result, ended)) kill(child_, SIGKILL);
  const int status = wait_for_end();
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

ChildResult child_result(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                         const std::function<bool()>& stopped, std::optional<std::chrono::milliseconds> limit,
                         std::string_view input) {
  return ChildProcess{program, arguments}.result(stopped, limit, input);
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

namespace {

// First word of a spare process's command line.
constexpr std::string_view spare_word = "prepare-for-parent";
// First output of a spare process, written when it has received its command.
constexpr std::string_view got_word = "got\n";

}  // namespace

std::unique_ptr<ChildProcess> start_spare(const std::filesystem::path& program,
                                          const std::vector<std::string>& preparation) {
  std::vector<std::string> words{std::string{spare_word}};
  words.insert(words.end(), preparation.begin(), preparation.end());
  return std::make_unique<ChildProcess>(program, words);
}

std::string packed_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  return text;
}

std::optional<std::vector<std::string>> preparation_in(const std::vector<std::string>& words) {
  if (words.empty() || words.front() != spare_word) return std::nullopt;
  return std::vector<std::string>{words.begin() + 1, words.end()};
}

std::vector<std::string> wait_for_words() {
  std::vector<std::string> words;
  for (std::string word; std::getline(std::cin, word, '\0');) words.push_back(word);
  if (!words.empty()) std::cout << got_word << std::flush;
  return words;
}

bool got_words(const ChildResult& end) {
  return end.text.starts_with(got_word);
}

}  // namespace orrery
