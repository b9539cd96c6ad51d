#include "app/features/workshop/file_watch.h"

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

/// Returns the file and the targets of its links.
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

constexpr std::uint32_t of_file = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_MOVE_SELF | IN_MASK_ADD;
constexpr std::uint32_t of_folder = IN_CREATE | IN_MOVED_TO | IN_MOVE_SELF | IN_MASK_ADD;
constexpr std::chrono::milliseconds for_a_save{200};  // editors delete a file just before they write it

}  // namespace

FileWatch::FileWatch()
    : notify_{inotify_init1(IN_CLOEXEC | IN_NONBLOCK)}, wakes_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (!notify_ || !wakes_) throw std::runtime_error(std::string{"cannot watch files: "} + std::strerror(errno));
}

void FileWatch::watch(const std::string& file) {
  const std::lock_guard lock{mutex_};
  const fs::path path = fs::absolute(file);
  if (!fs::is_directory(path.parent_path())) {
    throw std::runtime_error("cannot watch the folder '" + path.parent_path().string() + "': there is none");
  }
  follow_links(path);
  file_ = path;
}

void FileWatch::follow_links(const fs::path& file) {
  std::vector<Place> places;
  for (fs::path path : with_targets(file)) {
    int folder = inotify_add_watch(notify_.number(), path.parent_path().c_str(), of_file);
    const bool missing = folder < 0;
    while (folder < 0 && errno == ENOENT) {
      path = path.parent_path();
      folder = inotify_add_watch(notify_.number(), path.parent_path().c_str(), of_folder);
    }
    if (folder < 0) {
      throw std::runtime_error("cannot watch the folder '" + path.parent_path().string() +
                               "': " + std::strerror(errno));
    }
    places.push_back({folder, path.filename().string(), missing});
  }
  for (const Place& old : std::exchange(places_, places)) {
    if (std::ranges::find(places, old.folder, &Place::folder) != places.end()) continue;
    (void)inotify_rm_watch(notify_.number(), old.folder);
  }
}

void FileWatch::wait() {
  int limit_ms = -1;
  if (const std::lock_guard lock{mutex_}; gone_) limit_ms = static_cast<int>(for_a_save.count());
  std::array<pollfd, 2> wanted{pollfd{.fd = notify_.number(), .events = POLLIN, .revents = 0},
                               pollfd{.fd = wakes_.number(), .events = POLLIN, .revents = 0}};
  while (poll(wanted.data(), wanted.size(), limit_ms) < 0 && errno == EINTR) continue;
}

bool FileWatch::take() {
  const std::lock_guard lock{mutex_};
  const bool saved = read_events(), woken = read_wakes();
  if (!saved && !woken && !(gone_ && Clock::now() - *gone_ >= for_a_save)) return false;
  gone_.reset();
  return true;
}

/// Whether the file was saved.
bool FileWatch::read_events() {
  bool saved = false, gone = false;
  alignas(inotify_event) std::array<char, 4096> buffer;
  for (ssize_t size = 0; (size = read(notify_.number(), buffer.data(), buffer.size())) > 0;) {
    for (const char* at = buffer.data(); at < buffer.data() + size;) {
      const auto* const event = reinterpret_cast<const inotify_event*>(at);
      saved |= (event->mask & IN_Q_OVERFLOW) != 0;
      for (const Place& place : places_) {
        const bool folder_itself = event->len == 0;
        if (event->wd != place.folder || !(folder_itself || place.name == event->name)) continue;
        const bool save = !folder_itself && !place.is_folder && (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0;
        (save ? saved : gone) = true;
      }
      at += sizeof(inotify_event) + event->len;
    }
  }
  if (gone && !gone_) gone_ = Clock::now();
  try {
    if (saved || gone) follow_links(file_);  // one of them may be new
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
