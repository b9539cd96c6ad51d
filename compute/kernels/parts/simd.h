#pragma once

#include <hwy/aligned_allocator.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "compute/core/threads.h"
#include "compute/core/vec.h"
#include "compute/kernels/dispatch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/jerk_pair.h"
#include "compute/kernels/parts/scalar_rows.h"
#include "compute/kernels/vector_units.h"

// Settings and columns of bodies of the CPU kernels that Highway compiles once per instruction set.
namespace orrery {

/// Values of the setting `rows` of the kernels that use Highway's vectors.
inline constexpr Values<1, 2, 4> simd_rows;
inline constexpr auto simd_rows_or_auto = simd_rows.names_after("auto");
inline constexpr int max_simd_rows = simd_rows.all.back();

/// Returns the number of rows for `auto`: only AVX-512 has enough registers for four. G pairs/s of cpu-simd with 1, 2
/// and 4 rows (one thread, 16,384 bodies, 2026-11-21): AVX-512 on a Xeon 3.96, 3.99, 4.20; AVX2 on an EPYC 3.09, 3.07,
/// 2.99.
inline int rows_for_this_processor() {
  return hwy::SupportedTargets() & HWY_AVX3 ? 4 : 2;
}

/// Number of float lanes of the longest vector that a CPU kernel uses. It is a multiple of all shorter ones.
inline constexpr int max_lanes = 16;

/// Scales of the pair laws on vectors. They compute i = lane_root_scale / r instead of 1 / r, which saves an
/// instruction per pair. Both laws are m i^3 f(H i^2), so lane_mass_scale for m and lane_repulsion_scale for H cancel
/// the scale. All three are powers of two, so the results have the same bits.
inline constexpr float lane_root_scale = 2;
inline constexpr float lane_mass_scale = 1 / (lane_root_scale * lane_root_scale * lane_root_scale);
inline constexpr float lane_repulsion_scale = 1 / (lane_root_scale * lane_root_scale);

/// All bodies as a structure of aligned arrays, each a multiple of max_lanes long.
struct PaddedColumns {
  const float *x, *y, *z;
  const float* scaled_mass;  ///< masses times lane_mass_scale
  int padded_count;
};

/// Owner of a kernel's PaddedColumns.
class BodyColumns {
 public:
  /// Copies the bodies and pads the arrays with massless copies of the last body, which pull nothing and whose
  /// distances stay in range. The arrays are valid until the next call. After a cancellation, their contents are
  /// undefined.
  PaddedColumns fill(const ForceArgs& args, int threads);

 private:
  std::size_t padded_ = 0;
  hwy::AlignedFreeUniquePtr<float[]> columns_;
};

inline PaddedColumns BodyColumns::fill(const ForceArgs& args, int threads) {
  const std::size_t padded = (static_cast<std::size_t>(args.count) + max_lanes - 1) / max_lanes * max_lanes;
  if (padded != padded_) {
    columns_ = hwy::AllocateAligned<float>(4 * padded);
    padded_ = columns_ ? padded : 0;
    if (!columns_) throw std::bad_alloc{};
  }
  float *x = columns_.get(), *y = x + padded, *z = y + padded, *scaled_mass = z + padded;
  for_each_chunk(static_cast<int>(padded), 1 << 14, threads, args.cancelled, [&](int first, int last) {
    if (cancelled(args)) return;  // nothing reads the columns after a cancellation
    for (int i = first; i < last; ++i) {
      const Vec4& body = args.bodies[std::min(i, args.count - 1)];
      x[i] = body.x;
      y[i] = body.y;
      z[i] = body.z;
      scaled_mass[i] = i < args.count ? body.w * lane_mass_scale : 0.0f;
    }
  });
  return {x, y, z, scaled_mass, static_cast<int>(padded)};
}

/// Bodies as a structure of aligned arrays, each a multiple of max_lanes long. With floats, positions have low words.
template <class T>
struct JerkColumns {
  const T *x, *y, *z, *vx, *vy, *vz, *mass;
  const T *x_low, *y_low, *z_low;  // low words; null for doubles
  int padded_count;
};

/// Owner of a kernel's JerkColumns.
template <class T>
class JerkColumnsOf {
 public:
  /// Copies the bodies body_at(0) to body_at(count - 1) and pads the arrays with massless copies of the last one. The
  /// arrays are valid until the next call.
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
