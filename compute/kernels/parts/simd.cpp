#include "compute/kernels/parts/simd.h"

#include <algorithm>
#include <new>

#include "compute/core/threads.h"
#include "compute/kernels/parts/scalar_rows.h"

namespace orrery {

PaddedColumns BodyColumns::fill(const ForceArgs& args, int threads) {
  const std::size_t padded = (static_cast<std::size_t>(args.count) + max_lanes - 1) / max_lanes * max_lanes;
  if (padded != padded_) {
    columns_ = hwy::AllocateAligned<float>(4 * padded);
    padded_ = columns_ ? padded : 0;
    if (!columns_) throw std::bad_alloc{};
  }
  float *x = columns_.get(), *y = x + padded, *z = y + padded, *scaled_mass = z + padded;
  for_each_chunk(static_cast<int>(padded), 1 << 14, threads, args.cancelled, [&](int first, int last) {
    if (cancelled(args)) return;  // the columns are not read after a cancellation
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

}  // namespace orrery
