#include "tests/app/support/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <system_error>

namespace orrery::test {
namespace {

void redirect(int descriptor, const std::string& file) {
  const int target = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (target < 0 || dup2(target, descriptor) < 0) _exit(126);
}

std::string read_to_end(int descriptor) {
  std::string text;
  char part[4096];
  for (ssize_t size; (size = read(descriptor, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(size));
  return text;
}

/// Sends SIGINT to `child` once `file` is not empty; or returns when the child has ended.
void interrupt_when_exists(pid_t child, const std::string& file) {
  std::error_code none;
  while (!std::filesystem::exists(file, none) || std::filesystem::file_size(file, none) == 0) {
    siginfo_t ended{};
    if (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  kill(child, SIGINT);
}

/// The folder of what one run of the program keeps for the next: never the user's own.
const std::filesystem::path& shared_cache() {
  static const TemporaryFolder folder;
  return folder.path();
}

/// `out` is where stdout goes unless the surroundings say otherwise.
[[noreturn]] void become_orrery(const Words& arguments, const Surroundings& surroundings, int out,
                                const std::string& err) {
  if (dup2(out, STDOUT_FILENO) < 0) _exit(126);
  if (!surroundings.stdout_to.empty()) redirect(STDOUT_FILENO, surroundings.stdout_to);
  redirect(STDERR_FILENO, err);
  if (!surroundings.folder.empty() && chdir(surroundings.folder.c_str()) != 0) _exit(126);
  const std::string cache = surroundings.cache_folder.empty() ? shared_cache().string() : surroundings.cache_folder;
  if (setenv("XDG_CACHE_HOME", cache.c_str(), 1) != 0) _exit(126);
  if (surroundings.most_file_bytes) {
    const rlimit limit{*surroundings.most_file_bytes, *surroundings.most_file_bytes};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(126);
  }
  if (!surroundings.io_fault.empty()) {
    if (setenv("LD_PRELOAD", ORRERY_IO_FAULTS, 1) != 0) _exit(126);
    if (setenv("ORRERY_IO_FAULT", surroundings.io_fault.c_str(), 1) != 0) _exit(126);
  }
  std::vector<std::string> words{ORRERY_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(ORRERY_PROGRAM, argv.data());
  _exit(127);
}

}  // namespace

Outcome run_orrery(const Words& arguments, const Surroundings& surroundings) {
  const TemporaryFolder folder;
  const std::string err = (folder / "err").string();
  int out[2];  // a pipe: a limit on the size of files leaves it alone
  if (pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  (void)shared_cache();  // of this process, not of the child
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) become_orrery(arguments, surroundings, out[1], err);
  close(out[1]);
  if (!surroundings.interrupt_when_exists.empty()) interrupt_when_exists(child, surroundings.interrupt_when_exists);
  std::string printed = read_to_end(out[0]);
  close(out[0]);
  int status = 0;
  if (waitpid(child, &status, 0) != child) throw std::runtime_error("cannot wait for the program");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, std::move(printed), contents(err)};
}

void expect_refused(const Outcome& outcome, int status, const Words& said) {
  EXPECT_EQ(outcome.out, "");
  expect_complaint(outcome, status, said);
}

bool says(const Outcome& outcome, const std::string& words) {
  return outcome.out.find(words) != std::string::npos;
}

void expect_complaint(const Outcome& outcome, int status, const Words& said) {
  EXPECT_EQ(outcome.status, status) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.err.find("orrery: "), 0u) << outcome.err;
  for (const std::string& part : said) expect_holds(outcome.err, {part});
}

}  // namespace orrery::test
