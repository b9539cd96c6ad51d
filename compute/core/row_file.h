#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/core/descriptor.h"
#include "compute/core/vec.h"

namespace orrery {

/// Factors that convert numbers of bodies from one system of units to another.
struct BodyScale {
  double length = 1, mass = 1, velocity = 1;

  /// Converts a position. The mass is in w.
  Vec4 of_position(const Vec4& p) const {
    return {static_cast<float>(p.x * length), static_cast<float>(p.y * length), static_cast<float>(p.z * length),
            static_cast<float>(p.w * mass)};
  }
  Vec4 of_velocity(const Vec4& v) const {
    return {static_cast<float>(v.x * velocity), static_cast<float>(v.y * velocity), static_cast<float>(v.z * velocity),
            0};
  }
};

/// Layout of arrays in a file, with one row per body. Several processes write them; one of them has created the file.
struct JointRows {
  std::string path{};            ///< absolute, with a random part: no other host has a file of this name
  std::uint64_t file_bytes = 0;  ///< size of the whole file
  std::uint64_t positions = 0;   ///< byte offset of the array; rows of 3 float32, little-endian
  std::uint64_t velocities = 0;  ///< byte offset; rows as above
  std::optional<std::uint64_t>
      masses{};                      ///< byte offset of the array with rows of 1 float32; empty: there is no such array
  std::optional<BodyScale> scale{};  ///< conversion to the units of the file; empty: none
};

/// The float32 arrays that hold bodies in a file, with one row per body.
enum class RowArray : std::uint8_t { positions, velocities, masses };

/// Returns the number of values in a row.
constexpr std::size_t columns_of(RowArray array) {
  return array == RowArray::masses ? 1 : 3;
}

/// Splits bodies into blocks of rows. The constructor allocates all memory that it needs, 768 KiB.
class BodyRows {
 public:
  static constexpr std::size_t at_once = 65536;  ///< number of rows in a block

  BodyRows() { block_.reserve(3 * at_once); }

  /// Calls put(RowArray, number of the first row, values row by row) for each block of each array. `first`: row of the
  /// first body. Masses are in positions.w, and are put only if `with_masses`. Throws what `put` throws.
  template <class Put>
  void each_block(std::size_t first, std::span<const Vec4> positions, std::span<const Vec4> velocities,
                  bool with_masses, const Put& put) {
    for (std::size_t done = 0; done < positions.size(); done += at_once) {
      const std::size_t count = std::min(at_once, positions.size() - done);
      const auto put_block = [&](RowArray array) { put(array, first + done, std::span<const float>{block_}); };
      take_vectors(positions.subspan(done, count));
      put_block(RowArray::positions);
      take_vectors(velocities.subspan(done, count));
      put_block(RowArray::velocities);
      if (!with_masses) continue;
      block_.clear();
      for (const Vec4& position : positions.subspan(done, count)) block_.push_back(position.w);
      put_block(RowArray::masses);
    }
  }

 private:
  void take_vectors(std::span<const Vec4> vectors) {
    block_.clear();
    for (const Vec4& v : vectors) block_.insert(block_.end(), {v.x, v.y, v.z});
  }

  std::vector<float> block_;
};

/// Access of one process to the file of JointRows. It does not wait for other processes. All failures throw
/// std::runtime_error whose text is only the cause.
class RowFile {
 public:
  /// Opens the file and allocates all memory that is needed. Throws unless it is a regular file of the right size that
  /// this process may write.
  explicit RowFile(const JointRows& rows);
  /// Writes rows, starting at row `first`: positions with masses in w, and velocities, in the units of the file.
  void write(std::size_t first, std::span<const Vec4> positions, std::span<const Vec4> velocities);
  /// Blocks until all written data is on the disk.
  void flush() const;

 private:
  std::uint64_t place_of(RowArray array) const;
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;

  const JointRows rows_;
  Descriptor file_;
  BodyRows blocks_;
};

}  // namespace orrery
