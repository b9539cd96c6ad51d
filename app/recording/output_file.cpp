#include "app/recording/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

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

/// The first write: the file gets its name once it holds `text`.
std::string OutputFile::begin(std::string_view text) {
  try {
    pending_->write(text);
    path_ = pending_->commit().string();
    descriptor_ = pending_->release();
  } catch (const std::runtime_error& error) {
    return error.what();
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
  std::size_t done = 0;
  while (done < text.size()) {
    const std::string_view rest = text.substr(done);
    const auto offset = at + static_cast<std::int64_t>(done);
    const ssize_t wrote = rewritable_ ? pwrite(descriptor_.number(), rest.data(), rest.size(), offset)
                                      : ::write(descriptor_.number(), rest.data(), rest.size());
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote == 0 || errno != EINTR) {
      std::string error = cannot_write(path_, wrote == 0 ? ENOSPC : errno);
      const std::size_t line_end = text.substr(0, done).rfind('\n');
      size_ = at + (line_end == std::string_view::npos ? 0 : static_cast<std::int64_t>(line_end) + 1);
      if (rewritable_ && ftruncate(descriptor_.number(), size_) != 0) error += ", and its last line is torn";
      return error;
    }
  }
  const std::int64_t end = at + static_cast<std::int64_t>(done);
  if (end < size_ && ftruncate(descriptor_.number(), end) != 0) return cannot_write(path_, errno);
  size_ = end;
  return {};
}

}  // namespace orrery
