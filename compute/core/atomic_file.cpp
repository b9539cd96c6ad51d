#include "compute/core/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>

namespace orrery {
namespace {

namespace fs = std::filesystem;

/// Returns whether a symbolic link is safe to follow: it belongs to this user or to the owner of its folder, or the
/// folder is not shared.
bool may_follow(const fs::path& link) {
  struct stat own {};
  struct stat folder {};
  const fs::path parent = link.has_parent_path() ? link.parent_path() : fs::path{"."};
  if (lstat(link.c_str(), &own) != 0 || stat(parent.c_str(), &folder) != 0) return true;  // open() reports the error
  constexpr mode_t shared = S_ISVTX | S_IWOTH;
  return (folder.st_mode & shared) != shared || own.st_uid == geteuid() || own.st_uid == folder.st_uid;
}

constexpr std::size_t random_digits = 16;  // random digits of a temporary file's name

/// Returns the prefix of names of temporary files for `target`. NAME_MAX leaves room for the random digits.
std::string temporary_prefix(const fs::path& target) {
  return '.' + target.filename().string().substr(0, 200) + ".orrery-";
}

std::string random_name(const fs::path& target) {
  std::random_device random;
  char digits[random_digits + 1];
  std::snprintf(digits, sizeof digits, "%08x%08x", random(), random());
  return temporary_prefix(target) + digits;
}

/// Flushes to disk. Returns errno; 0 on success, and if the file system cannot flush.
int flush(const Descriptor& descriptor) {
  return fsync(descriptor.number()) == 0 || errno == EINVAL ? 0 : errno;
}

}  // namespace

fs::path numbered_path(const fs::path& path, int number) {
  if (number == 0) return path;
  fs::path name = path.stem();
  name += '-';
  name += std::to_string(number);
  name += path.extension();
  return path.parent_path() / name;
}

fs::path followed(fs::path path) {
  std::error_code none;
  for (int link = 0; link < most_symbolic_links && fs::is_symlink(path, none); ++link) {
    if (!may_follow(path)) break;
    path = path.parent_path() / fs::read_symlink(path, none);
  }
  return path;
}

AtomicFile::AtomicFile(const fs::path& file, Existing existing, Temporary temporary)
    : asked_{file}, stream_{existing != Existing::replace_here && is_stream(file)}, existing_{existing} {
  if (stream_) {
    file_ = open_stream(file);
    return;
  }
  target_ = existing == Existing::replace ? followed(file) : file;
  if (file.empty()) fail("it has no name");
  std::error_code none;
  const bool is_link = fs::is_symlink(target_, none);
  if (is_link && existing == Existing::replace) fail("it is a symbolic link of another user in a shared folder");
  if ((!is_link && fs::is_directory(target_, none)) || !target_.has_filename()) fail("it is a folder");
  const bool in_place = replaces(existing) && !is_link && fs::exists(target_, none);
  if (in_place) check_writable(file);
  folder_ = Descriptor{open(folder_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!folder_) fail(errno);
  remove_stale();
  open_temporary(in_place, temporary);
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) unlinkat(folder_.number(), temporary_.c_str(), 0);
}

void AtomicFile::fail(int error) const {
  throw std::runtime_error(cannot_write(asked_, error));
}

void AtomicFile::fail(const std::string& cause) const {
  throw std::runtime_error(cannot_write(asked_, cause));
}

fs::path AtomicFile::folder_path() const {
  return target_.has_parent_path() ? target_.parent_path() : fs::path{"."};
}

/// Removes temporary files of killed writers. A live writer holds a lock on its file: one that can be locked is stale.
void AtomicFile::remove_stale() const {
  const std::string prefix = temporary_prefix(target_);
  std::error_code unreadable;  // a folder that cannot be listed can still be written
  for (fs::directory_iterator at{folder_path(), unreadable}; !unreadable && at != fs::directory_iterator{};
       at.increment(unreadable)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(prefix) || name.size() != prefix.size() + random_digits) continue;
    const Descriptor file{openat(folder_.number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (file && flock(file.number(), LOCK_EX | LOCK_NB) == 0) unlinkat(folder_.number(), name.c_str(), 0);
  }
}

void AtomicFile::open_temporary(bool replaces, Temporary temporary) {
  const mode_t mode = replaces ? 0600 : 0666;  // a replacement is private until it gets the old file's mode
  if (temporary == Temporary::nameless && access("/proc/self/fd", X_OK) == 0) {
    file_ = Descriptor{openat(folder_.number(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode)};
    if (file_) {
      flock(file_.number(), LOCK_EX);
      return;
    }
  }
  do {
    temporary_ = random_name(target_);
    file_ = Descriptor{openat(folder_.number(), temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)};
    if (!file_ && errno != EEXIST) fail(errno);
  } while (!file_ || !locked_in_time());
}

/// Locks the temporary file and returns whether it still exists. Before that, another writer may take it for stale and
/// remove it.
bool AtomicFile::locked_in_time() const {
  struct stat status {};
  flock(file_.number(), LOCK_EX);
  return fstat(file_.number(), &status) == 0 && status.st_nlink > 0;
}

void AtomicFile::write(std::string_view bytes) {
  if (const std::string cause = write_all(file_.number(), bytes); !cause.empty()) fail(cause);
}

/// Some file systems cannot tell in advance: a later write fails then.
void AtomicFile::require_room(std::uint64_t bytes) const {
  if (stream_ || bytes == 0) return;
  if (fallocate(file_.number(), 0, 0, static_cast<off_t>(bytes)) != 0) {
    if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT) fail(errno);
    return;
  }
  if (ftruncate(file_.number(), 0) != 0) fail(errno);
}

std::string AtomicFile::present_path() const {
  return temporary_.empty() ? std::string{} : (folder_path() / temporary_).string();
}

fs::path AtomicFile::commit() {
  if (stream_) return asked_;
  if (const int error = flush(file_)) fail(error);
  return publish();
}

fs::path AtomicFile::commit_keeping(const std::string& previous) {
  if (stream_) return asked_;
  if (const int error = flush(file_)) fail(error);
  struct stat old {};
  if (fstatat(folder_.number(), target_.filename().c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(old.st_mode)) {
    give_second_name(previous);
  }
  return publish();
}

/// Gives the file at target_ the second name `name`: as a hard link under a random name, which is then renamed, or as a
/// copy if the file system has no hard links.
void AtomicFile::give_second_name(const std::string& name) const {
  const int folder = folder_.number();
  const std::string present = target_.filename().string();
  std::string fresh;
  do {
    fresh = random_name(target_);  // if this program is killed, the next writer removes it
    if (linkat(folder, present.c_str(), folder, fresh.c_str(), 0) == 0) {
      if (renameat(folder, fresh.c_str(), folder, name.c_str()) != 0) {
        const int error = errno;
        unlinkat(folder, fresh.c_str(), 0);
        fail(error);
      }
      unlinkat(folder, fresh.c_str(), 0);  // rename() leaves it if `name` was the same file already
      return;
    }
  } while (errno == EEXIST);
  AtomicFile copy{folder_path() / name, Existing::replace_here};
  const Descriptor from{openat(folder, present.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
  std::array<char, 65536> block;
  for (ssize_t got = 1; got != 0;) {
    got = read(from.number(), block.data(), block.size());
    if (got > 0) copy.write({block.data(), static_cast<std::size_t>(got)});
    if (got < 0 && errno != EINTR) fail(errno);
  }
  copy.commit();
}

/// Gives the flushed file its final name and returns it.
fs::path AtomicFile::publish() {
  const fs::path name = existing_ == Existing::keep ? publish_new() : publish_over();
  temporary_.clear();
  const Descriptor folder{openat(folder_.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!folder) return name;  // a folder that may be written but not read
  if (const int error = flush(folder)) fail(error);
  return name;
}

fs::path AtomicFile::publish_new() {
  for (int number = 0;; ++number) {
    const fs::path name = numbered_path(target_, number);
    if (publish_as(name.filename().string())) return name;
    if (errno != EEXIST) fail(errno);
  }
}

/// Gives the file a name that must be unused. Returns false, with errno, on failure.
bool AtomicFile::publish_as(const std::string& name) {
  const int folder = folder_.number();
  if (temporary_.empty()) {
    const std::string nameless = "/proc/self/fd/" + std::to_string(file_.number());
    return linkat(AT_FDCWD, nameless.c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  }
  if (renameat2(folder, temporary_.c_str(), folder, name.c_str(), RENAME_NOREPLACE) == 0) return true;
  // Some file systems, such as NFS, have no such rename: a hard link does the same.
  if (errno != EINVAL || linkat(folder, temporary_.c_str(), folder, name.c_str(), 0) != 0) return false;
  unlinkat(folder, temporary_.c_str(), 0);
  return true;
}

fs::path AtomicFile::publish_over() {
  adopt_owner_and_mode();
  while (temporary_.empty()) {
    const std::string name = random_name(target_);
    if (publish_as(name)) {
      temporary_ = name;
    } else if (errno != EEXIST) {
      fail(errno);
    }
  }
  const std::string name = target_.filename().string();
  if (renameat(folder_.number(), temporary_.c_str(), folder_.number(), name.c_str()) != 0) fail(errno);
  return asked_;
}

/// Copies owner and mode of the replaced file as far as permitted. If the group cannot be kept, the new group gets the
/// rights of others.
void AtomicFile::adopt_owner_and_mode() const {
  struct stat old {};
  if (fstatat(folder_.number(), target_.filename().c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(old.st_mode))
    return;
  mode_t mode = old.st_mode & 07777;
  if (fchown(file_.number(), old.st_uid, old.st_gid) != 0) {
    mode &= 0777;
    const bool same_group = fchown(file_.number(), static_cast<uid_t>(-1), old.st_gid) == 0;
    if (!same_group) mode = (mode & ~mode_t{070}) | ((mode & 07) << 3);
  }
  fchmod(file_.number(), mode);
}

std::string write_file(const fs::path& file, std::string_view bytes, Existing existing) {
  AtomicFile whole{file, existing};
  whole.write(bytes);
  return whole.commit().string();
}

void check_output(const fs::path& file, Existing existing) {
  if (is_stream(file)) {
    check_stream(file);
  } else {
    const AtomicFile unwritten{file, existing};
  }
}

}  // namespace orrery
