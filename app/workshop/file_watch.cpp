#include "app/workshop/file_watch.h"

#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace orrery {
namespace {

namespace fs = std::filesystem;

/// The file, and what its links lead to.
std::vector<fs::path> with_targets(const fs::path& file) {
  constexpr std::size_t most_links = 40;  // as the system allows
  std::vector<fs::path> paths{file};
  std::error_code failure;
  while (paths.size() <= most_links && fs::is_symlink(paths.back(), failure)) {
    const fs::path target = fs::read_symlink(paths.back(), failure);
    if (failure) break;
    paths.push_back(paths.back().parent_path() / target);
  }
  return paths;
}

}  // namespace

FileWatch::FileWatch()
    : notify_{inotify_init1(IN_CLOEXEC | IN_NONBLOCK)}, wakes_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (!notify_ || !wakes_) throw std::runtime_error(std::string{"cannot watch files: "} + std::strerror(errno));
}

void FileWatch::watch(const std::string& file) {
  const std::lock_guard lock{mutex_};
  const fs::path path = fs::absolute(file);
  follow_links(path);
  file_ = path;
}

void FileWatch::follow_links(const fs::path& file) {
  std::vector<Place> places;
  for (const fs::path& path : with_targets(file)) {
    const int folder = inotify_add_watch(notify_.number(), path.parent_path().c_str(), IN_CLOSE_WRITE | IN_MOVED_TO);
    if (folder < 0) {
      throw std::runtime_error("cannot watch the folder '" + path.parent_path().string() +
                               "': " + std::strerror(errno));
    }
    places.push_back({folder, path.filename().string()});
  }
  for (const Place& old : std::exchange(places_, places)) {
    if (std::ranges::find(places, old.folder, &Place::folder) != places.end()) continue;
    (void)inotify_rm_watch(notify_.number(), old.folder);
  }
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
      const auto is_saved = [&](const Place& place) {
        return event->wd == place.folder && event->len > 0 && place.name == event->name;
      };
      saved = saved || lost || std::ranges::any_of(places_, is_saved);
      at += sizeof(inotify_event) + event->len;
    }
  }
  try {
    if (saved) follow_links(file_);  // one of them may be new
  } catch (const std::runtime_error&) {
    // It leads nowhere: the reader of the file says so.
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
