#include "compute/core/descriptor.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "compute/core/process.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds between_looks{50};
constexpr std::chrono::milliseconds patience{2000};
constexpr std::size_t most_bytes = 4096;  // bytes that a pipe takes without blocking if poll() calls it writable

/// Waits until a descriptor can be written. Returns false if that takes 2 s after a stop request; `waited` adds up this
/// time. Returns true for a broken descriptor too: write() reports the cause.
bool wait_until_writable(int descriptor, std::chrono::milliseconds& waited) {
  while (waited < patience) {
    pollfd wanted{.fd = descriptor, .events = POLLOUT, .revents = 0};
    const int ready = poll(&wanted, 1, static_cast<int>(between_looks.count()));
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    if (stop_requested()) waited += between_looks;
  }
  return false;
}

[[noreturn]] void fail(const fs::path& file, int error) {
  throw std::runtime_error(cannot_write(file, error));
}

/// Opens a pipe after waiting for its reader. Throws if a stop is requested first.
Descriptor open_pipe(const fs::path& path) {
  constexpr std::chrono::milliseconds look{20};
  for (;;) {
    Descriptor pipe{open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)};
    if (pipe) return pipe;
    if (errno != ENXIO) fail(path, errno);
    if (stop_requested()) throw std::runtime_error(cannot_write(path, "nobody reads from it"));
    std::this_thread::sleep_for(look);
  }
}

}  // namespace

std::string write_all(int descriptor, std::string_view text) {
  std::chrono::milliseconds waited{0};
  while (!text.empty()) {
    if (!wait_until_writable(descriptor, waited)) return "nobody reads from it";
    const ssize_t wrote = write(descriptor, text.data(), std::min(text.size(), most_bytes));
    if (wrote >= 0) {
      text.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR && errno != EAGAIN) {
      return std::generic_category().message(errno);
    }
  }
  return {};
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

std::optional<Descriptor> locked_file(const fs::path& path, bool wait) {
  Descriptor file{open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!file) return Descriptor{};
  while (flock(file.number(), wait ? LOCK_EX : LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::nullopt;
    if (errno != EINTR) return Descriptor{};
  }
  return file;
}

std::string cannot_write(const fs::path& file, const std::string& cause) {
  return "cannot write '" + file.string() + "': " + cause;
}

std::string cannot_write(const fs::path& file, int error) {
  return cannot_write(file, std::generic_category().message(error));
}

std::optional<int> own_descriptor(fs::path path) {
  if (path == "-") return STDOUT_FILENO;
  std::error_code error;
  const fs::path descriptors = fs::canonical("/proc/self/fd", error);
  for (int link = 0; !error && link < most_symbolic_links; ++link) {
    const fs::path folder = fs::canonical(path.has_parent_path() ? path.parent_path() : ".", error);
    if (!error && folder == descriptors) return parsed_number<int>(path.filename().string());
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return std::nullopt;
}

bool is_stream(const fs::path& path) {
  if (own_descriptor(path)) return true;
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

Descriptor open_stream(const fs::path& path) {
  if (const std::optional<int> own = own_descriptor(path)) {
    Descriptor copy{fcntl(*own, F_DUPFD_CLOEXEC, 3)};
    if (!copy) fail(path, errno);
    return copy;
  }
  if (fs::is_fifo(path)) return open_pipe(path);
  Descriptor stream{open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY)};
  if (!stream) fail(path, errno);
  return stream;
}

void check_stream(const fs::path& path) {
  if (const std::optional<int> own = own_descriptor(path)) {
    const int flags = fcntl(*own, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) fail(path, EBADF);
  } else if (faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
    fail(path, errno);
  }
}

void check_writable(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) fail(path, errno);
  constexpr mode_t anyone_writes = 0222;
  if ((status.st_mode & anyone_writes) == 0) fail(path, EACCES);
}

}  // namespace orrery
