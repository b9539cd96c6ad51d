#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "compute/core/body_rows.h"
#include "compute/core/descriptor.h"
#include "compute/core/joint_rows.h"
#include "compute/core/vec.h"

namespace orrery {

/// One process's access to the file of JointRows. Waits for no other process. All failures throw std::runtime_error
/// with the cause alone.
class RowFile {
 public:
  /// Takes all memory that it needs. Fails unless there is a regular file of the right size that this process may
  /// write.
  explicit RowFile(const JointRows& rows);
  /// Writes the rows from `first` on: positions with masses in w, and as many velocities, in the units of the file.
  void write(std::size_t first, std::span<const Vec4> positions, std::span<const Vec4> velocities);
  /// Waits until all that was written is on the disk.
  void flush() const;

 private:
  std::uint64_t place_of(RowArray array) const;
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;

  const JointRows rows_;
  Descriptor file_;
  BodyRows blocks_;
};

}  // namespace orrery
