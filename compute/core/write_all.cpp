#include "compute/core/write_all.h"

#include <sys/poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "compute/core/stop_signal.h"

namespace orrery {
namespace {

constexpr std::chrono::milliseconds look{50};
constexpr std::chrono::milliseconds patience{2000};
constexpr std::size_t most_bytes = 4096;  // a pipe that poll() calls writable takes these without blocking

/// Returns true for a broken descriptor, too: write() knows the cause. `waited` since a stop was requested grows.
bool wait_until_writable(int descriptor, std::chrono::milliseconds& waited) {
  while (waited < patience) {
    pollfd wanted{.fd = descriptor, .events = POLLOUT, .revents = 0};
    const int ready = poll(&wanted, 1, static_cast<int>(look.count()));
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    if (stop_requested()) waited += look;
  }
  return false;
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

}  // namespace orrery
