#pragma once

#include "compute/cuda/warp.h"
#include "compute/kernels/tree/multipole.h"
#include "compute/kernels/tree/octree.h"
#include "compute/kernels/tree/octree_moments.h"

#if defined(__CUDACC__)

// What the distant cells of a group of bodies add to, for CUDA sources.
namespace orrery::group_walk {

inline constexpr int lanes = 32;
/// Cells nearer than this many radii of the group join none of its expansions, whose series diverge there.
inline constexpr float least_radii = 1;

/// The expansion of a group's field around the center of its box, and which cells it takes. Each lane of a warp adds
/// other cells. Without an expansion: takes none.
template <FarField far>
struct GroupExpansion {
  struct Space {};
  explicit __device__ GroupExpansion(const Space& /*space*/) {}
  __device__ bool takes(const Octree& /*tree*/, int /*cell*/, float /*distance_sq*/) const { return false; }
};

/// Second moments, and the pull to third order in the offset.
template <>
class GroupExpansion<FarField::local> {
 public:
  struct Space {};
  explicit __device__ GroupExpansion(const Space& /*space*/) {}
  /// `error`: of a cell's pull, at most; 0: any.
  __device__ void find_range(const Octree& tree, float radius_sq, float error) {
    if (error > 0) distant_scale_ = radius_sq * sqrtf(local_safety / error);
    const float radii = error > 0 ? least_radii : local_radii / tree.theta;
    distant_least_ = radii * radii * radii * radius_sq * sqrtf(radius_sq);
  }
  __device__ bool takes(const Octree& tree, int cell, float distance_sq) const {
    const float mass = tree.moments_a[cell].x;
    return distance_sq * sqrtf(distance_sq) >= fmaxf(sqrtf(mass) * distant_scale_, distant_least_) &&
           distance_sq < farthest_local * farthest_local;
  }
  template <class PairLaw>
  __device__ void add(const Octree& tree, int cell, const PairLaw& law, float dx, float dy, float dz) {
    const Vec4 a = tree.moments_a[cell], b = tree.moments_b[cell];
    const Quadrupole<float> q{a.y, b.x, b.z, a.z, a.w, b.y, b.w};
    add_distant_cell(sum_, law.inverse_distance(dx, dy, dz), dx, dy, dz, a.x, q);
  }
  __device__ void sum_over_warp() {
#pragma unroll
    for (float& term : sum_.at) term = cuda::sum_over(cuda::Warp{}, term);
  }
  __device__ Vec3 pull(float x, float y, float z) const {
    return pull_at(sum_, x, y, z);
  }

 private:
  LocalExpansion<float> sum_{};
  // The distance of distant cells, cubed: at least this times the root of their mass, and at least that.
  float distant_scale_ = 0, distant_least_ = 0;
};

/// The sums of one lane in shared memory, one column of the terms of all lanes.
struct LaneSums {
  float* first;
  __device__ float& operator[](int term) const { return first[term * lanes]; }
};

/// Not inlined: one text for all calls, because the caches of instructions are small.
static __device__ __noinline__ void add_high_moments(LaneSums sums, float inverse, float dx, float dy, float dz,
                                                     StoredMoments stored) {
  high::add_distant_cell(sums, inverse, dx, dy, dz, moments_from(stored));
}

/// Moments and field of the orders in high_expansion.h.
template <>
class GroupExpansion<FarField::high> {
 public:
  struct Space {
    float sums[high::field_terms][lanes];
  };
  explicit __device__ GroupExpansion(Space& space) : sums_{&space.sums[0][threadIdx.x % lanes]} {
    for (int term = 0; term < high::field_terms; ++term) sums_[term] = 0;
  }
  __device__ void find_range(const Octree& tree, float radius_sq, float error) {
    radius_sq_ = radius_sq;
    radius_ = sqrtf(radius_sq);
    least_sq_ = fmaxf(least_radii * least_radii * radius_sq, high::nearest * high::nearest);
    if (error > 0) {
      inverse_error_ = 1 / error;
    } else {
      widest_ = local_radii * local_radii / (tree.theta * tree.theta);
    }
  }
  __device__ bool takes(const Octree& tree, int cell, float distance_sq) const {
    const float mass = tree.moments_a[cell].x, spread = tree.moments_b[cell].w;
    const float extent = spread + radius_, extent_sq = extent * extent;
    const float left_out = high::left_out(mass, extent_sq, radius_sq_, distance_sq);
    const float distance_8 = (distance_sq * distance_sq) * (distance_sq * distance_sq);
    return left_out * inverse_error_ <= distance_sq && extent_sq * widest_ <= distance_sq && distance_sq >= least_sq_ &&
           distance_sq < high::farthest * high::farthest && mass * (1 / high::most_pull) <= fminf(distance_8, 1);
  }
  template <class PairLaw>
  __device__ void add(const Octree& tree, int cell, const PairLaw& law, float dx, float dy, float dz) {
    add_high_moments(sums_, law.inverse_distance(dx, dy, dz), dx, dy, dz, {tree, cell});
  }
  __device__ void sum_over_warp() {
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    float* const all = sums_.first - lane;
    __syncwarp();
    for (int term = lane; term < high::field_terms; term += lanes) {
      float sum = 0;
      // Each lane in another column, so that no two lanes use one bank.
      for (int k = 0; k < lanes; ++k) sum += all[term * lanes + (lane + k) % lanes];
      all[term * lanes + lane] = sum;
    }
    __syncwarp();
    high::for_each<1, high::field_terms>([&](auto constant) {
      constexpr int term = decltype(constant)::value;
      whole_[term] = all[term * lanes + term % lanes];
    });
    __syncwarp();
  }
  __device__ Vec3 pull(float x, float y, float z) const { return high::pull_at(whole_, x, y, z); }

 private:
  LaneSums sums_;
  high::Expansion whole_;
  float radius_sq_ = 0, radius_ = 0, least_sq_ = 0;
  float inverse_error_ = 0, widest_ = 0;  // either is 0
};

}  // namespace orrery::group_walk

#endif
