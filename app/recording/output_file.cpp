#include "app/recording/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

namespace orrery {

OutputFile OutputFile::create(const std::string& path, Existing existing) {
  if (path.empty()) throw std::runtime_error("cannot write a file without a name");
  if (is_stream(path)) return {open_stream(path), path, false, false};
  return existing == Existing::keep ? create_numbered(path) : open_over(path);
}

OutputFile OutputFile::create_numbered(const std::string& path) {
  for (int number = 0;; ++number) {
    std::string name = numbered_path(path, number).string();
    Descriptor file{open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
    if (file) return {std::move(file), std::move(name), true, false};
    if (errno != EEXIST) throw std::runtime_error(cannot_write(name, errno));
  }
}

OutputFile OutputFile::open_over(const std::string& path) {
  const bool exists = access(path.c_str(), F_OK) == 0;
  if (exists) check_writable(path);
  Descriptor file{open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)};
  if (!file) throw std::runtime_error(cannot_write(path, errno));
  return {std::move(file), path, true, exists};
}

OutputFile::OutputFile(Descriptor descriptor, std::string path, bool rewritable, bool has_old_content)
    : descriptor_{std::move(descriptor)},
      path_{std::move(path)},
      rewritable_{rewritable},
      has_old_content_{has_old_content} {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  path_.swap(other.path_);
  std::swap(rewritable_, other.rewritable_);
  std::swap(has_old_content_, other.has_old_content_);
  std::swap(size_, other.size_);
  return *this;
}

OutputFile::~OutputFile() {
  if (descriptor_ && rewritable_ && size_ == 0 && !has_old_content_) unlink(path_.c_str());
}

std::string OutputFile::append(std::string_view text) {
  return replace_tail(size_, text);
}

std::string OutputFile::replace_tail(std::int64_t at, std::string_view text) {
  if (std::exchange(has_old_content_, false) && ftruncate(descriptor_.number(), 0) != 0) {
    return cannot_write(path_, errno);
  }
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
