#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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
  void write_vectors(std::uint64_t array, std::size_t first, std::span<const Vec4> vectors);
  void write_masses(std::uint64_t array, std::size_t first, std::span<const Vec4> positions);
  void write_block(std::uint64_t offset) const;

  const JointRows rows_;
  Descriptor file_;
  std::vector<float> block_;
};

}  // namespace orrery
