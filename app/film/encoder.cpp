#include "app/film/encoder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "app/film/video_frame.h"
#include "compute/core/range.h"
#include "compute/core/start_thread.h"

namespace orrery {
namespace {

constexpr int file_number = 3;           // of the file in ffmpeg
constexpr int pipe_bytes = 1 << 20;      // as much as the system lets every user have
constexpr std::size_t most_kept = 1000;  // bytes of ffmpeg's last line

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(fmt::format("cannot make a pipe: {}", strerror(errno)));
    read = Descriptor{ends[0]};
    write = Descriptor{ends[1]};
  }
  Descriptor read, write;
};

/// H.264 as every player and browser shows it; colours are those of HD video.
std::vector<std::string> arguments_of(int width, int height, double fps) {
  return {"ffmpeg",
          "-hide_banner",
          "-loglevel",
          "error",
          "-nostdin",
          "-y",
          "-f",
          "rawvideo",
          "-pixel_format",
          "yuv420p",
          "-video_size",
          fmt::format("{}x{}", even_size(width), even_size(height)),
          "-framerate",
          shortest_text(fps),
          "-i",
          "pipe:0",
          "-c:v",
          "libx264",
          "-preset",
          "veryfast",
          "-crf",
          "18",
          "-colorspace",
          "bt709",
          "-color_primaries",
          "bt709",
          "-color_trc",
          "bt709",
          "-color_range",
          "tv",
          "-movflags",
          "+faststart",
          "-f",
          "mp4",
          fmt::format("/proc/self/fd/{}", file_number)};
}

/// The last line that is not empty; to the end of the stream.
void read_last_line(int from, std::string& last) {
  std::string line;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t size = read(from, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    for (const char c : std::string_view{part.data(), static_cast<std::size_t>(size)}) {
      if (c == '\n' || c == '\r') {
        line.clear();
      } else if (line.size() < most_kept) {
        line += c;
        last = line;
      }
    }
  }
}

}  // namespace

Encoder::Encoder(int width, int height, double fps, int file, std::string name)
    : width_{width}, height_{height}, name_{std::move(name)} {
  Pipe frames, errors;
  start(fps, file, frames.read, errors.write);
  frames_ = std::move(frames.write);
  (void)fcntl(frames_.number(), F_SETPIPE_SZ, pipe_bytes);  // fewer switches between the processes, where allowed
  reader_ = start_thread([this, from = std::move(errors.read)] { read_last_line(from.number(), last_line_); });
}

Encoder::~Encoder() {
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  (void)wait_for_end();
}

void Encoder::start(double fps, int file, const Descriptor& input, const Descriptor& errors) {
  std::vector<std::string> words = arguments_of(width_, height_, fps);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, input.number(), STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors.number(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, file, file_number);
  posix_spawn_file_actions_addclosefrom_np(&actions, file_number + 1);
  // In a group of its own, the terminal's Ctrl+C does not end it. It gets the usual signals.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  const int failed = posix_spawnp(&process_, argv.front(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return;
  process_ = -1;
  if (failed != ENOENT) fail("cannot start ffmpeg: " + std::generic_category().message(failed));
  fail("the program ffmpeg is not installed (Debian: ffmpeg); --out FOLDER saves PNG frames without it");
}

void Encoder::fail(const std::string& cause) const {
  throw std::runtime_error(cannot_write(name_, cause));
}

/// Returns ffmpeg's status as waitpid() does.
int Encoder::wait_for_end() {
  frames_ = {};
  int status = 0;
  while (waitpid(std::exchange(process_, -1), &status, 0) < 0 && errno == EINTR) continue;
  if (reader_.joinable()) reader_.join();
  return status;
}

void Encoder::check_end() {
  const int status = wait_for_end();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string how = WIFSIGNALED(status) ? fmt::format("signal {} ended ffmpeg", WTERMSIG(status))
                                              : fmt::format("ffmpeg ended with status {}", WEXITSTATUS(status));
  fail(last_line_.empty() ? how : how + ": " + last_line_);
}

void Encoder::write(std::span<const std::uint8_t> rgba, std::int64_t times) {
  write_video_frame(rgba, width_, height_, video_);
  for (std::int64_t time = 0; time < times; ++time) send_frame();
}

void Encoder::send_frame() {
  std::span<const std::uint8_t> rest = video_;
  while (!rest.empty()) {
    const ssize_t size = ::write(frames_.number(), rest.data(), rest.size());
    if (size > 0) {
      rest = rest.subspan(static_cast<std::size_t>(size));
    } else if (errno != EINTR) {
      const int error = errno;
      check_end();
      fail(error == EPIPE ? "ffmpeg ended too early" : std::generic_category().message(error));
    }
  }
}

void Encoder::finish() {
  check_end();
}

}  // namespace orrery
