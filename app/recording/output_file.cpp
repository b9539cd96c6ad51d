#include "app/recording/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "compute/core/atomic_file.h"
#include "compute/core/error.h"

namespace orrery {

OutputFile OutputFile::create(const std::string& path, Existing existing) {
  OutputFile file;
  file.path_ = path;
  file.rewritable_ = !is_stream(path);
  if (file.rewritable_) {
    file.pending_ = std::make_unique<AtomicFile>(path, existing);
  } else {
    file.descriptor_ = open_stream(path);
  }
  return file;
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  pending_.swap(other.pending_);
  std::swap(descriptor_, other.descriptor_);
  path_.swap(other.path_);
  std::swap(rewritable_, other.rewritable_);
  std::swap(size_, other.size_);
  return *this;
}

OutputFile::~OutputFile() {
  if (descriptor_ && rewritable_ && size_ == 0) unlink(path_.c_str());
}

/// Does the first write: the file gets its name once it holds `text`.
std::string OutputFile::begin(std::string_view text) {
  try {
    pending_->write(text);
    path_ = pending_->commit().string();
    descriptor_ = pending_->release();
  } catch (const std::runtime_error& error) {
    return failure_text(error);
  }
  pending_.reset();
  size_ = static_cast<std::int64_t>(text.size());
  return {};
}

std::string OutputFile::append(std::string_view text) {
  return replace_tail(size_, text);
}

std::string OutputFile::replace_tail(std::int64_t at, std::string_view text) {
  if (pending_) return begin(text);
  if (!rewritable_) {
    const std::string cause = write_all(descriptor_.number(), text);
    size_ = at + static_cast<std::int64_t>(text.size());
    return cause.empty() ? cause : cannot_write(path_, cause);
  }
  std::size_t done = 0;
  while (done < text.size()) {
    const std::string_view rest = text.substr(done);
    const auto offset = at + static_cast<std::int64_t>(done);
    const ssize_t wrote = pwrite(descriptor_.number(), rest.data(), rest.size(), offset);
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote == 0 || errno != EINTR) {
      std::string error = cannot_write(path_, wrote == 0 ? ENOSPC : errno);
      const std::size_t line_end = text.substr(0, done).rfind('\n');
      size_ = at + (line_end == std::string_view::npos ? 0 : static_cast<std::int64_t>(line_end) + 1);
      if (ftruncate(descriptor_.number(), size_) != 0) error += ", and its last line is torn";
      return error;
    }
  }
  const std::int64_t end = at + static_cast<std::int64_t>(done);
  if (end < size_ && ftruncate(descriptor_.number(), end) != 0) return cannot_write(path_, errno);
  size_ = end;
  return {};
}

std::string OutputFile::lost() const {
  struct stat own {};
  struct stat named {};
  if (!rewritable_ || fstat(descriptor_.number(), &own) != 0) return {};
  const bool there = stat(path_.c_str(), &named) == 0 && named.st_ino == own.st_ino && named.st_dev == own.st_dev;
  return there ? "" : "'" + path_ + "' was removed or replaced while it was written";
}

std::string new_output(const std::string& name) {
  const std::filesystem::path folder = "orrery-out";
  std::error_code cannot;  // ignored: the writer of the file reports the cause
  std::filesystem::create_directories(folder, cannot);
  return (folder / name).string();
}

}  // namespace orrery
