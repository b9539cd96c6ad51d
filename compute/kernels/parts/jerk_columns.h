#pragma once

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <type_traits>

#include "compute/core/threads.h"
#include "compute/core/vec.h"
#include "compute/kernels/parts/body_columns.h"
#include "compute/kernels/parts/jerk_pair.h"

namespace orrery {

/// Bodies as a structure of aligned arrays, each a multiple of max_lanes long. Floats have low words.
template <class T>
struct JerkColumns {
  const T *x, *y, *z, *vx, *vy, *vz, *mass;
  const T *x_low, *y_low, *z_low;  // null for doubles
  int padded_count;
};

/// The arrays of one kernel object.
template <class T>
class JerkColumnsOf {
 public:
  /// Copies the bodies body_at(0 ... count - 1), padded by copies of the last one without mass. The arrays are valid
  /// until the next call.
  template <class BodyAt>
  JerkColumns<T> fill(int count, const BodyAt& body_at, int threads) {
    const std::size_t padded = (static_cast<std::size_t>(count) + max_lanes - 1) / max_lanes * max_lanes;
    if (padded != padded_) {
      memory_ = hwy::AllocateAligned<T>(column_count * padded);
      padded_ = memory_ ? padded : 0;
      if (!memory_) throw std::bad_alloc{};
    }
    const auto column = [&](std::size_t k) { return memory_.get() + k * padded; };
    for_each_chunk(static_cast<int>(padded), 1 << 14, threads, nullptr, [&](int first, int last) {
      for (int i = first; i < last; ++i) {
        PreciseBody body = body_at(std::min(i, count - 1));
        if (i >= count) body.mass = 0;
        const auto row = row_of(body);
        for (std::size_t k = 0; k < column_count; ++k) column(k)[i] = row[k];
      }
    });
    const auto low = [&](std::size_t k) { return column_count > 7 ? column(k) : nullptr; };
    return {column(0),
            column(1),
            column(2),
            column(3),
            column(4),
            column(5),
            column(6),
            low(7),
            low(8),
            low(9),
            static_cast<int>(padded)};
  }

 private:
  static constexpr std::size_t column_count = std::is_same_v<T, float> ? 10 : 7;

  static std::array<T, column_count> row_of(const PreciseBody& body) {
    constexpr JerkPrecision precision = std::is_same_v<T, float> ? JerkPrecision::mixed : JerkPrecision::fp64;
    const auto& [position, velocity, mass] = JerkBody<precision>::of(body);
    const auto& [x, y, z] = position;
    const auto& [vx, vy, vz] = velocity;
    if constexpr (precision == JerkPrecision::mixed) {
      return {x.high, y.high, z.high, vx, vy, vz, mass, x.low, y.low, z.low};
    } else {
      return {x, y, z, vx, vy, vz, mass};
    }
  }

  std::size_t padded_ = 0;
  hwy::AlignedFreeUniquePtr<T[]> memory_;
};

}  // namespace orrery
