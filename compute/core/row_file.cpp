#include "compute/core/row_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace orrery {
namespace {

static_assert(std::endian::native == std::endian::little, "JointRows are written as they are in memory");

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
}

void RowFile::write(std::size_t first, std::span<const Vec4> positions, std::span<const Vec4> velocities) {
  blocks_.each_block(first, positions, velocities, rows_.masses.has_value(),
                     [&](RowArray array, std::size_t row, std::span<const float> values) {
                       write_at(place_of(array) + row * columns_of(array) * sizeof(float), std::as_bytes(values));
                     });
}

std::uint64_t RowFile::place_of(RowArray array) const {
  if (array == RowArray::masses) return *rows_.masses;
  return array == RowArray::positions ? rows_.positions : rows_.velocities;
}

void RowFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
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
  require(result == 0 || errno == EINVAL);  // some file systems cannot flush
}

}  // namespace orrery
