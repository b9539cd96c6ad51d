#include "compute/core/row_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace orrery {
namespace {

static_assert(std::endian::native == std::endian::little, "JointRows are written as they are in memory");

constexpr std::size_t rows_at_once = 65536;

void require(bool succeeded) {
  if (!succeeded) throw std::runtime_error(std::generic_category().message(errno));
}

}  // namespace

RowFile::RowFile(const JointRows& rows)
    : rows_{rows}, file_{open(rows.path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)} {
  require(static_cast<bool>(file_));
  struct stat status {};
  require(fstat(file_.number(), &status) == 0);
  if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) != rows.file_bytes) {
    throw std::runtime_error("another file has its name");
  }
  block_.reserve(3 * rows_at_once);
}

void RowFile::write(std::size_t first, std::span<const Vec4> positions, std::span<const Vec4> velocities) {
  for (std::size_t done = 0; done < positions.size(); done += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, positions.size() - done);
    write_vectors(rows_.positions, first + done, positions.subspan(done, count));
    write_vectors(rows_.velocities, first + done, velocities.subspan(done, count));
    if (rows_.masses) write_masses(*rows_.masses, first + done, positions.subspan(done, count));
  }
}

void RowFile::write_vectors(std::uint64_t array, std::size_t first, std::span<const Vec4> vectors) {
  block_.clear();
  for (const Vec4& v : vectors) block_.insert(block_.end(), {v.x, v.y, v.z});
  write_block(array + first * 3 * sizeof(float));
}

void RowFile::write_masses(std::uint64_t array, std::size_t first, std::span<const Vec4> positions) {
  block_.clear();
  for (const Vec4& position : positions) block_.push_back(position.w);
  write_block(array + first * sizeof(float));
}

void RowFile::write_block(std::uint64_t offset) const {
  for (std::span bytes = std::as_bytes(std::span{block_}); !bytes.empty();) {
    const ssize_t wrote = pwrite(file_.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    require(wrote >= 0 || errno == EINTR);
    if (wrote == 0) throw std::runtime_error("nothing was written");
    if (wrote < 0) continue;
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    offset += static_cast<std::uint64_t>(wrote);
  }
}

void RowFile::flush() const {
  int result = -1;
  do {
    result = fdatasync(file_.number());
  } while (result != 0 && errno == EINTR);
  require(result == 0 || errno == EINVAL);  // some file systems have no such call
}

}  // namespace orrery
