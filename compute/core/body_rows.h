#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/core/vec.h"

namespace orrery {

/// The float32 arrays that hold bodies in a file, with one row per body.
enum class RowArray : std::uint8_t { positions, velocities, masses };

/// How many numbers a row has.
constexpr std::size_t columns_of(RowArray array) {
  return array == RowArray::masses ? 1 : 3;
}

/// Cuts bodies into blocks of rows. It takes its memory when it is made: 768 KiB.
class BodyRows {
 public:
  static constexpr std::size_t at_once = 65536;  ///< rows of a block

  BodyRows() { block_.reserve(3 * at_once); }

  /// Calls put(RowArray, number of the first row, values row by row) for each block of each array. `first`: the row of
  /// the first body. Masses are in positions.w; with_masses: the file has an array of them. Throws what `put` throws.
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

}  // namespace orrery
