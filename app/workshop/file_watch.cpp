#include "app/workshop/file_watch.h"

#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace orrery {

FileWatch::FileWatch()
    : notify_{inotify_init1(IN_CLOEXEC | IN_NONBLOCK)}, wakes_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (!notify_ || !wakes_) throw std::runtime_error(std::string{"cannot watch files: "} + std::strerror(errno));
}

void FileWatch::watch(const std::string& file) {
  const std::filesystem::path path = std::filesystem::absolute(file);
  const int added = inotify_add_watch(notify_.number(), path.parent_path().c_str(), IN_CLOSE_WRITE | IN_MOVED_TO);
  if (added < 0) {
    throw std::runtime_error("cannot watch the folder '" + path.parent_path().string() + "': " + std::strerror(errno));
  }
  const std::lock_guard lock{mutex_};
  if (folder_ >= 0 && folder_ != added) (void)inotify_rm_watch(notify_.number(), folder_);
  folder_ = added;
  name_ = path.filename().string();
}

void FileWatch::wait() const {
  std::array<pollfd, 2> wanted{pollfd{.fd = notify_.number(), .events = POLLIN, .revents = 0},
                               pollfd{.fd = wakes_.number(), .events = POLLIN, .revents = 0}};
  while (poll(wanted.data(), wanted.size(), -1) < 0 && errno == EINTR) continue;
}

bool FileWatch::take() {
  const bool saved = read_events();
  return read_wakes() || saved;
}

bool FileWatch::read_events() {
  bool saved = false;
  const std::lock_guard lock{mutex_};
  alignas(inotify_event) std::array<char, 4096> buffer;
  for (ssize_t size = 0; (size = read(notify_.number(), buffer.data(), buffer.size())) > 0;) {
    for (const char* at = buffer.data(); at < buffer.data() + size;) {
      const auto* const event = reinterpret_cast<const inotify_event*>(at);
      const bool lost = (event->mask & IN_Q_OVERFLOW) != 0;
      saved = saved || lost || (event->wd == folder_ && event->len > 0 && name_ == event->name);
      at += sizeof(inotify_event) + event->len;
    }
  }
  return saved;
}

bool FileWatch::read_wakes() const {
  std::uint64_t count = 0;
  return read(wakes_.number(), &count, sizeof count) == sizeof count;
}

void FileWatch::wake() {
  const std::uint64_t one = 1;
  (void)!write(wakes_.number(), &one, sizeof one);
}

}  // namespace orrery
