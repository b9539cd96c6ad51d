#include "app/recording/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "app/recording/unique_path.h"

namespace orrery {
namespace {

std::string cannot_write(const std::string& path, int error) {
  return fmt::format("cannot write '{}': {}", path, std::generic_category().message(error));
}

bool is_device_or_pipe(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

OutputFile OutputFile::create(const std::string& path) {
  if (path.empty()) throw std::runtime_error("cannot write a file without a name");
  if (is_device_or_pipe(path)) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) throw std::runtime_error(cannot_write(path, errno));
    return {descriptor, path, false};
  }
  for (int number = 0;; ++number) {
    std::string name = numbered_path(path, number);
    const int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return {descriptor, std::move(name), true};
    if (errno != EEXIST) throw std::runtime_error(cannot_write(name, errno));
  }
}

OutputFile::OutputFile(int descriptor, std::string path, bool rewritable)
    : descriptor_{descriptor}, path_{std::move(path)}, rewritable_{rewritable} {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_{std::exchange(other.descriptor_, -1)},
      path_{std::move(other.path_)},
      rewritable_{other.rewritable_},
      size_{other.size_} {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  path_.swap(other.path_);
  std::swap(rewritable_, other.rewritable_);
  std::swap(size_, other.size_);
  return *this;
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  if (rewritable_ && size_ == 0) unlink(path_.c_str());
  close(descriptor_);
}

std::string OutputFile::append(std::string_view text) {
  return replace_tail(size_, text);
}

std::string OutputFile::replace_tail(std::int64_t at, std::string_view text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const std::string_view rest = text.substr(done);
    const auto offset = at + static_cast<std::int64_t>(done);
    const ssize_t wrote = rewritable_ ? pwrite(descriptor_, rest.data(), rest.size(), offset)
                                      : ::write(descriptor_, rest.data(), rest.size());
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote == 0 || errno != EINTR) {
      std::string error = cannot_write(path_, wrote == 0 ? ENOSPC : errno);
      const std::size_t line_end = text.substr(0, done).rfind('\n');
      size_ = at + (line_end == std::string_view::npos ? 0 : static_cast<std::int64_t>(line_end) + 1);
      if (rewritable_ && ftruncate(descriptor_, size_) != 0) error += ", and its last line is torn";
      return error;
    }
  }
  const std::int64_t end = at + static_cast<std::int64_t>(done);
  if (end < size_ && ftruncate(descriptor_, end) != 0) return cannot_write(path_, errno);
  size_ = end;
  return {};
}

}  // namespace orrery
