#include <algorithm>
#include <type_traits>

#include "compute/cuda/launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/tree/multipole.h"
#include "compute/kernels/tree/octree.h"

namespace orrery {
namespace {

using cuda::all_lanes;
constexpr int lanes = 32;

/// Expansion of a group's far field, summed by the lanes of a warp.
template <FarField far>
class GroupExpansion;

/// Minimum distance of cells in a group's expansions, in radii of the group. The series of nearer cells diverge.
constexpr float least_radii = 1;

/// One lane's sums in shared memory, which holds each term for all lanes.
struct LaneSums {
  float* first;
  __device__ float& operator[](int term) const { return first[term * lanes]; }
};

/// Not inlined, so that the walk fits into the small instruction caches.
static __device__ __noinline__ void add_high_moments(LaneSums sums, float inverse, float dx, float dy, float dz,
                                                     StoredMoments stored) {
  high::add_distant_cell(sums, inverse, dx, dy, dz, moments_from(stored));
}

/// Expansion with the moments and the field of the orders in orrery::high.
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
      // Each lane reads a different column, so that no two lanes use one bank.
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
  float inverse_error_ = 0, widest_ = 0;  // one of them is 0
};

/// Expansion of the pull to third order in the offset, from masses and second moments.
template <>
class GroupExpansion<FarField::local> {
 public:
  struct Space {};
  explicit __device__ GroupExpansion(const Space& /*space*/) {}
  /// Sets the range of cells to take. `error`: largest allowed error of a cell's pull; 0: no limit.
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
  // A cell is distant if d^3 >= sqrt(mass) * distant_scale_ and d^3 >= distant_least_.
  float distant_scale_ = 0, distant_least_ = 0;
};

/// Expansion of a group's field around the center of its box. It decides which cells it takes, and each lane of a warp
/// adds different cells. This version is for far fields without an expansion and takes none.
template <FarField far>
struct GroupExpansion {
  struct Space {};
  explicit __device__ GroupExpansion(const Space& /*space*/) {}
  __device__ bool takes(const Octree& /*tree*/, int /*cell*/, float /*distance_sq*/) const { return false; }
};

constexpr int warps_per_block = walk_octree_block / lanes;
constexpr int most_own_bodies = OctreeGroup::most / lanes;  // maximum number of a group's bodies per lane

/// Number of low bits of a stack entry that hold the number of children, from 1 to 8, minus one.
constexpr int count_bits = 3;
static_assert(Octree::most_cells <= 1ll << (32 - count_bits));

__device__ unsigned entry_of(int first, int children) {
  return static_cast<unsigned>(first) << count_bits | static_cast<unsigned>(children - 1);
}

__device__ int children_of(unsigned entry) {
  return static_cast<int>(entry & ((1u << count_bits) - 1)) + 1;
}

/// Returns the owner of place `lane`, counted from the first lane that takes part. Consecutive lanes own consecutive
/// ranges of places. This lane's range begins at `start`; the first lane's begins at <= 0.
__device__ int owner_of_place(bool takes_part, int start, int lane) {
  const unsigned starts = cuda::or_over_warp(takes_part && start < lanes ? 1u << max(start, 0) : 0);
  return __popc(starts & (2u << lane) - 1) - 1;
}

/// Cells that a warp has not yet tested. An entry holds the children of an opened cell: index of the first child and
/// number of children. Initially, it holds the roots of all trees. All lanes must call the functions.
class CellStack {
 public:
  /// Maximum number of stack entries. A batch of tests takes at least four entries, or all, and adds at most 32 entries
  /// for deeper cells.
  static constexpr int most_entries = 28 * key_levels + 2 * lanes;
  static_assert(Octree::most_trees <= 2 * lanes);

  /// `stack`: most_entries entries in shared memory.
  explicit __device__ CellStack(unsigned* stack) : stack_{stack}, lane_{static_cast<int>(threadIdx.x) % lanes} {}

  __device__ bool has_cells() const { return entries_ > 0; }
  __device__ void begin_at_roots(const Octree& tree) {
#pragma unroll 1
    for (int i = lane_; i < tree.trees; i += lanes) stack_[i] = entry_of(tree.roots[i], 1);
    entries_ = tree.trees;
    __syncwarp();
  }
  /// Pops entries with at most 32 cells in total. Returns this lane's cell, or -1.
  __device__ int take_cell() {
    const int reach = min(entries_, lanes);
    const unsigned entry = lane_ < reach ? stack_[entries_ - 1 - lane_] : 0;
    const int children = lane_ < reach ? children_of(entry) : 0;
    const int end = cuda::sum_up_to(children, lane_);
    const bool taken = lane_ < reach && end <= lanes;
    const int entries = __popc(__ballot_sync(all_lanes, taken));
    const int total = __shfl_sync(all_lanes, end, entries - 1);
    const int owner = owner_of_place(taken, end - children, lane_);
    const int first = __shfl_sync(all_lanes, static_cast<int>(entry >> count_bits), owner);
    const int cell = first + lane_ - __shfl_sync(all_lanes, end - children, owner);
    entries_ -= entries;
    __syncwarp();
    return lane_ < total ? cell : -1;
  }
  __device__ void put_children(bool opens, const OctreeNode& node) {
    const unsigned opened = __ballot_sync(all_lanes, opens);
    if (opens) stack_[entries_ + rank(opened)] = entry_of(node.first, node.children);
    entries_ += __popc(opened);
    __syncwarp();
  }
  /// Returns the number of lanes in `with` before this lane.
  __device__ int rank(unsigned with) const {
    return __popc(with & ((1u << lane_) - 1));
  }

 private:
  unsigned* stack_;
  int lane_;
  int entries_ = 0;
};

/// Shared memory of a warp's walk.
template <FarField far>
struct WarpSpace : GroupExpansion<far>::Space {
  unsigned stack[CellStack::most_entries];
  int cells[2 * lanes];    ///< cells that count as a whole
  int2 leaves[2 * lanes];  ///< opened leaves: first body, number of bodies
  int distant[2 * lanes];  ///< cells for the local expansion
  Vec4 staged[3][lanes];
};

/// Power of 1 / error in the factor of a cell's `reach`, see Octree::tolerance.
template <FarField far>
constexpr float reach_power = far == FarField::monopole ? 0.5f : 0.4f;

template <FarField far>
__device__ float reach_scale_of_error(float error) {
  return far == FarField::monopole ? rsqrtf(error) : powf(error, -reach_power<far>);
}

/// Ignores the tests of walks that compute forces.
struct NoRecord {
  __device__ void add(int /*cell*/, bool /*stands*/, bool /*is_leaf*/, int /*bodies*/) const {}
};

/// A warp's walk for the bodies of one group, up to `own_bodies` per lane. If Octree::split warps share a group, each
/// of them tests all cells, and evaluates every split-th batch.
template <class PairLaw, FarField far, int own_bodies, class Record = NoRecord>
class Walk {
 public:
  /// `share`: this warp's share of the group, in [0, Octree::split).
  __device__ Walk(const Octree& tree, const Law& law, WarpSpace<far>& space, const OctreeGroup& group, int share,
                  const Record& record = {})
      : tree_{tree},
        space_{space},
        stack_{space.stack},
        lane_{static_cast<int>(threadIdx.x) % lanes},
        group_{group},
        units_{tree.state->cube},
        law_{pair_law_in<PairLaw>(units_, law)},
        record_{record},
        expansion_{space},
        batches_to_skip_{share} {
    cuda::Box box;
    for (int k = 0; k < own_bodies; ++k) {
      // Lanes without a body repeat the last one.
      own_[k] = units_.of_body(tree.bodies[min(group.begin + k * lanes + lane_, group.end - 1)]);
      const Vec3 at{own_[k].x, own_[k].y, own_[k].z};
      box.add(at, at);
    }
    box.join(cuda::Warp{});
    const Vec3 &low = box.low, &high = box.high;
    center_ = {(low.x + high.x) / 2, (low.y + high.y) / 2, (low.z + high.z) / 2};
    half_ = {(high.x - low.x) / 2, (high.y - low.y) / 2, (high.z - low.z) / 2};
  }

  __device__ void walk() {
    float error = 0;  // largest allowed error of a cell's pull
    if (tree_.tolerance > 0) {
      error = tree_.tolerance * acceleration_scale();
      reach_scale_ = reach_scale_of_error<far>(error);
      if (tree_.reach_scales) note_reach();
    }
    if constexpr (expands) find_distant_range(error);
    stack_.begin_at_roots(tree_);
    while (stack_.has_cells()) {
      test_batch();
      if constexpr (expands) {
        while (distant_ >= lanes) add_distant_cells(lanes);
      }
      while (cells_ >= lanes) pull_of_cells(lanes);
      while (leaves_ >= lanes) pull_of_leaves(lanes);
    }
    if (cells_ > 0) pull_of_cells(cells_);
    if (leaves_ > 0) pull_of_leaves(leaves_);
    if constexpr (expands) {
      if (distant_ > 0) add_distant_cells(distant_);
      pull_of_expansion();
    }
  }

  /// Stores the accelerations. `share`: as in the constructor. Warps that share a group add to the stored
  /// accelerations, which must be zero initially.
  __device__ void store(int share) const {
    const TreeUnits units{tree_.state->cube};
    for (int k = 0; k < own_bodies; ++k) {
      const int i = group_.begin + k * lanes + lane_;
      if (i >= group_.end) continue;
      if (tree_.split == 1) {
        const Vec3 a = units.acceleration(sum_[k]);
        tree_.accelerations[i] = {a.x, a.y, a.z, units.mass(own_[k].w)};
      } else {
        float* whole = &tree_.accelerations[i].x;
        const Vec3 a = units.acceleration(sum_[k]);
        atomicAdd(whole, a.x);
        atomicAdd(whole + 1, a.y);
        atomicAdd(whole + 2, a.z);
        if (share == 0) whole[3] = units.mass(own_[k].w);
      }
    }
  }

  /// Returns the number of interactions of the group, if `targets` of its bodies count.
  __device__ unsigned long long interactions(int targets) const {
    return static_cast<unsigned long long>(sources_) * static_cast<unsigned long long>(targets) +
           static_cast<unsigned long long>(expanded_);
  }

 private:
  static constexpr bool expands = far == FarField::local || far == FarField::high;

  /// Sums to which a batch adds its pulls. With expansions, errors can be far below those of long fp32 sums. Each batch
  /// then has separate sums, which are added to the whole ones at its end.
  class BatchSums {
   public:
    explicit __device__ BatchSums(Vec3 (&whole)[own_bodies]) : whole_{whole} {}
    __device__ Vec3& operator[](int k) {
      if constexpr (expands) return batch_[k];
      return whole_[k];
    }
    __device__ void finish() {
      if constexpr (expands) {
        for (int k = 0; k < own_bodies; ++k) {
          whole_[k] = {whole_[k].x + batch_[k].x, whole_[k].y + batch_[k].y, whole_[k].z + batch_[k].z};
        }
      }
    }

   private:
    Vec3 (&whole_)[own_bodies];
    Vec3 batch_[own_bodies];
  };

  /// Returns whether this warp evaluates the next batch. All warps of a group find the same batches in the same order.
  __device__ bool takes_batch() {
    const bool takes = batches_to_skip_ == 0;
    batches_to_skip_ = (takes ? tree_.split : batches_to_skip_) - 1;
    return takes;
  }

  /// Estimates the group's acceleration from the pulls of about a hundred coarse cells on a few of its bodies. One of
  /// these bodies is the heaviest, which may not feel the pull that it exerts on its neighbours. Several lanes share
  /// the cells for one body.
  __device__ float acceleration_scale() {
    constexpr float coarse = coarse_opening * coarse_opening;
    constexpr int lanes_of_body = lanes / estimate_bodies;
    const Vec4 at = sampled_body(lane_ / lanes_of_body);
    Vec3 sum;
    float size = 0;
    stack_.begin_at_roots(tree_);
    while (stack_.has_cells()) {
      const int cell = stack_.take_cell();
      OctreeNode node{};
      bool opens = false;
      Vec4 test;
      if (cell >= 0) {
        test = tree_.tests[cell];
        node = tree_.nodes[cell];
        const float opening = tree_.theta * tree_.theta * test.w;  // approximately the cell's squared extent
        opens = node.children > 0 && !(coarse * distance_sq_to(test) >= opening);
      }
      const bool pulls = cell >= 0 && !opens;
      const unsigned pulling = __ballot_sync(all_lanes, pulls);
      if (pulls) space_.staged[0][stack_.rank(pulling)] = Vec4{test.x, test.y, test.z, tree_.moments_a[cell].x};
      __syncwarp();
#pragma unroll 1
      for (int i = lane_ % lanes_of_body; i < __popc(pulling); i += lanes_of_body) {
        const Vec4 other = space_.staged[0][i];
        const float dx = other.x - at.x, dy = other.y - at.y, dz = other.z - at.z;
        const float factor = law_.factor(dx, dy, dz, other.w);
        sum = {sum.x + factor * dx, sum.y + factor * dy, sum.z + factor * dz};
        size += fabsf(factor) * sqrtf(dx * dx + dy * dy + dz * dz);
      }
      __syncwarp();
      stack_.put_children(opens, node);
    }
    // Not sum_over(), which would change the machine code of the inner loops.
    const auto other = [](float value, unsigned apart) { return cuda::Warp{}.shfl_xor(value, apart); };
#pragma unroll 1
    for (unsigned apart = lanes_of_body / 2; apart > 0; apart /= 2) {
      sum = {sum.x + other(sum.x, apart), sum.y + other(sum.y, apart), sum.z + other(sum.z, apart)};
      size += other(size, apart);
    }
    float mean = fmaxf(norm3df(sum.x, sum.y, sum.z), least_pull_part * size), least = mean;
#pragma unroll 1
    for (unsigned apart = lanes / 2; apart >= lanes_of_body; apart /= 2) {
      mean += other(mean, apart);
      least = fminf(least, other(least, apart));
    }
    return group_estimate(mean / estimate_bodies, least);
  }
  /// Returns body `i` of the estimate; body 0 is the heaviest.
  __device__ Vec4 sampled_body(int i) {
    float mass = 0;
    for (const Vec4& own : own_) mass = fmaxf(mass, own.w);
    float greatest = mass;
#pragma unroll 1
    for (unsigned apart = lanes / 2; apart > 0; apart /= 2) {
      greatest = fmaxf(greatest, cuda::Warp{}.shfl_xor(greatest, apart));
    }
    const int owner = __ffs(static_cast<int>(__ballot_sync(all_lanes, mass == greatest))) - 1;
    Vec4 heaviest = own_[0];
    for (const Vec4& own : own_) heaviest = own.w == greatest ? own : heaviest;
    const auto of_owner = [&](float value) { return __shfl_sync(all_lanes, value, owner); };
    heaviest = {of_owner(heaviest.x), of_owner(heaviest.y), of_owner(heaviest.z), greatest};
    if (i == 0) return heaviest;
    return units_.of_body(tree_.bodies[group_.begin + estimate_body(i, group_.size())]);
  }
  /// Notes the reach scale, see Octree::reach_scales. Scales are not negative, so comparing their bits compares them;
  /// NaN is above all others.
  __device__ void note_reach() const {
    if (lane_ > 0) return;
    float* const greatest = tree_.reach_scales + (group_.begin - tree_.first_body) / tree_.stretch;
    const auto unit = static_cast<float>(units_.acceleration_exponent());
    atomicMax(reinterpret_cast<int*>(greatest), __float_as_int(reach_scale_ * exp2f(-reach_power<far> * unit)));
  }

  /// Sets the range of distant cells. `error`: largest allowed error of a cell's pull; 0: no limit.
  __device__ void find_distant_range(float error) {
    float radius_sq = 0;
    for (const Vec4& own : own_) radius_sq = fmaxf(radius_sq, distance_sq_to(own));
    expansion_.find_range(tree_, cuda::greatest_over(cuda::Warp{}, radius_sq), error);
  }
  __device__ float distance_sq_to(const Vec4& at) const {
    const float dx = at.x - center_.x, dy = at.y - center_.y, dz = at.z - center_.z;
    return dx * dx + dy * dy + dz * dz;
  }

  /// Tests a batch of cells against the group's box.
  __device__ void test_batch() {
    const int cell = stack_.take_cell();
    bool stands = false, distant = false;
    OctreeNode node{};
    if (cell >= 0) {
      const Vec4 test = tree_.tests[cell];
      node = tree_.nodes[cell];
      const float dx = fmaxf(fabsf(test.x - center_.x) - half_.x, 0),
                  dy = fmaxf(fabsf(test.y - center_.y) - half_.y, 0),
                  dz = fmaxf(fabsf(test.z - center_.z) - half_.z, 0);
      const float outside_sq = dx * dx + dy * dy + dz * dz;
      stands = outside_sq >= fmaxf(test.w, node.reach * reach_scale_);
      // High moments have a separate error, and so a separate range.
      const bool may_be_distant = far == FarField::high ? outside_sq >= test.w : stands;
      distant = may_be_distant && expansion_.takes(tree_, cell, distance_sq_to(test));
      stands = stands || distant;
    }
    const bool is_leaf = cell >= 0 && !stands && node.children == 0;
    record_.add(cell, stands, is_leaf, node.bodies);
    if constexpr (expands) {
      const unsigned with_distant = __ballot_sync(all_lanes, distant);
      if (distant) space_.distant[distant_ + stack_.rank(with_distant)] = cell;
      distant_ += __popc(with_distant);
    }
    const bool acts = stands && !distant;  // adds its pull to each body
    const unsigned standing = __ballot_sync(all_lanes, acts), leaves = __ballot_sync(all_lanes, is_leaf);
    if (acts) space_.cells[cells_ + stack_.rank(standing)] = cell;
    if (is_leaf) space_.leaves[leaves_ + stack_.rank(leaves)] = {node.first, node.bodies};
    cells_ += __popc(standing);
    leaves_ += __popc(leaves);
    stack_.put_children(cell >= 0 && !stands && !is_leaf, node);
  }

  /// Adds the first `count` <= 32 distant cells to the lanes' expansions, one cell per lane, and removes them.
  __device__ void add_distant_cells(int count) {
    const bool mine = takes_batch();
    if (mine && lane_ < count) {
      const int cell = space_.distant[lane_];
      const Vec4 at = tree_.tests[cell];
      expansion_.add(tree_, cell, law_, at.x - center_.x, at.y - center_.y, at.z - center_.z);
    }
    __syncwarp();
    distant_ -= count;
    if (mine) expanded_ += count;
    if (lane_ < distant_) space_.distant[lane_] = space_.distant[count + lane_];
    __syncwarp();
  }
  /// Adds the pull of all distant cells to the sums of the lane's bodies.
  __device__ void pull_of_expansion() {
    expansion_.sum_over_warp();
#pragma unroll
    for (int k = 0; k < own_bodies; ++k) {
      const Vec4& own = own_[k];
      const Vec3 pull = expansion_.pull(own.x - center_.x, own.y - center_.y, own.z - center_.z);
      sum_[k] = {sum_[k].x + pull.x, sum_[k].y + pull.y, sum_[k].z + pull.z};
    }
  }

  /// Adds the pull of the first `count` <= 32 cells of the list, and removes them.
  __device__ void pull_of_cells(int count) {
    const bool mine = takes_batch();
    if (mine && lane_ < count) {
      const int cell = space_.cells[lane_];
      const Vec4 test = tree_.tests[cell], a = tree_.moments_a[cell];
      space_.staged[0][lane_] = Vec4{test.x, test.y, test.z, a.x};
      if constexpr (far != FarField::monopole) {
        const Vec4 b = tree_.moments_b[cell];
        // With high moments, the trace is not stored.
        space_.staged[1][lane_] = Vec4{a.y, a.z, a.w, far == FarField::high ? 0.5f * (a.y + b.x + b.z) : b.w};
        space_.staged[2][lane_] = b;
      }
    }
    __syncwarp();
    cells_ -= count;
    if (lane_ < cells_) space_.cells[lane_] = space_.cells[count + lane_];
    if (!mine) return __syncwarp();
    sources_ += count;
    BatchSums batch{sum_};
#pragma unroll 2
    for (int i = 0; i < count; ++i) {
      const Vec4 cell = space_.staged[0][i];
      Vec4 a, b;
      if constexpr (far != FarField::monopole) {
        a = space_.staged[1][i];
        b = space_.staged[2][i];
      }
#pragma unroll
      for (int k = 0; k < own_bodies; ++k) {
        const float dx = cell.x - own_[k].x, dy = cell.y - own_[k].y, dz = cell.z - own_[k].z;
        if constexpr (far != FarField::monopole) {
          const Quadrupole<float> q{a.x, b.x, b.z, a.y, a.z, b.y, a.w};
          add_cell_pull(batch[k], law_, scalar_units(), dx, dy, dz, cell.w, q);
        } else {
          add_pull_along(batch[k], law_, dx, dy, dz, cell.w);
        }
      }
    }
    batch.finish();
    __syncwarp();
  }

  /// Adds the pull of the bodies in the first `count` <= 32 leaves of the list, and removes the leaves.
  __device__ void pull_of_leaves(int count) {
    const int2 leaf = lane_ < count ? space_.leaves[lane_] : int2{0, 0};
    __syncwarp();
    leaves_ -= count;
    if (lane_ < leaves_) space_.leaves[lane_] = space_.leaves[count + lane_];
    const int end = cuda::sum_up_to(leaf.y, lane_), start = end - leaf.y;
    const int bodies = __shfl_sync(all_lanes, end, lanes - 1);
    for (int done = 0; done < bodies; done += lanes) {
      if (!takes_batch()) continue;
      const int owner = owner_of_place(leaf.y > 0 && end > done, start - done, lane_);
      // Lanes whose leaves are done come before the owners.
      const int skipped = __popc(__ballot_sync(all_lanes, leaf.y > 0 && end <= done));
      const int body = __shfl_sync(all_lanes, leaf.x - start, skipped + owner) + done + lane_;
      const int staged = min(bodies - done, lanes);
      sources_ += staged;
      if (lane_ < staged) space_.staged[0][lane_] = units_.of_body(tree_.bodies[body]);
      __syncwarp();
      BatchSums batch{sum_};
#pragma unroll 4
      for (int i = 0; i < staged; ++i) {
        const Vec4 source = space_.staged[0][i];
#pragma unroll
        for (int k = 0; k < own_bodies; ++k) add_pull(batch[k], law_, own_[k].x, own_[k].y, own_[k].z, source);
      }
      batch.finish();
      __syncwarp();
    }
  }

  const Octree& tree_;
  WarpSpace<far>& space_;
  CellStack stack_;
  int lane_;
  OctreeGroup group_;
  TreeUnits units_;
  PairLaw law_;
  Record record_;
  Vec4 own_[own_bodies];
  Vec3 sum_[own_bodies];
  Vec3 center_, half_;  // box around the group
  float reach_scale_ = 0;
  GroupExpansion<far> expansion_;  // expansion around center_ of this lane's distant cells
  int cells_ = 0, leaves_ = 0, distant_ = 0;
  int batches_to_skip_;  // number of batches to skip before this warp's next one
  int sources_ = 0;      // number of cells and bodies that this warp evaluated for each body of the group
  int expanded_ = 0;     // number of distant cells that this warp evaluated for the whole group
};

/// A warp's share of a group, in [0, Octree::split).
struct GroupShare {
  int group, share;
};

/// Claims the next share of a group for this warp. Returns a group beyond the last if none is left.
__device__ __forceinline__ GroupShare take_share(const Octree& tree, bool leads) {
  const int taken = __shfl_sync(all_lanes, leads ? atomicAdd(&tree.state->next_share, 1) : 0, 0);
  if (tree.split == 1) return {taken, 0};
  return {taken / tree.split, taken % tree.split};
}

/// Minimum number of resident blocks per multiprocessor: enough that one warp is ready in most cycles. 0: the compiler
/// decides.
constexpr int least_blocks(FarField far) {
  return far == FarField::local ? 10 : far == FarField::high ? 6 : 0;
}

/// Records the results of each lane's tests.
struct CellRecord {
  WalkRecord record;

  __device__ void add(int cell, bool stands, bool is_leaf, int bodies) const {
    if (stands) append(record.cells, record.found->cells, cell);
    if (!is_leaf) return;
    append(record.leaves, record.found->leaves, cell);
    atomicAdd(&record.found->bodies, bodies);
  }

 private:
  __device__ void append(int* list, int& count, int cell) const {
    if (const int place = atomicAdd(&count, 1); place < record.most) list[place] = cell;
  }
};

/// Records the walk of a group. Runs as one warp.
template <class PairLaw, FarField far>
__global__ void __launch_bounds__(lanes)
    record_group_walk(const __grid_constant__ Octree tree, const __grid_constant__ Law law, WalkRecord record) {
  alignas(WarpSpace<far>) __shared__ unsigned char space[sizeof(WarpSpace<far>)];
  const OctreeGroup group = record.found->group;
  if (group.end > group.begin) {
    Walk<PairLaw, far, most_own_bodies, CellRecord>{tree,
                                                    law,
                                                    reinterpret_cast<WarpSpace<far>&>(space),
                                                    group,
                                                    /*share=*/0,
                                                    CellRecord{record}}
        .walk();
  }
}

/// Returns the number of targets among a group's bodies.
__device__ int count_targets(const Octree& tree, const OctreeGroup& group, const unsigned char* is_target) {
  int targets = 0;
  for (int first = group.begin; first < group.end; first += lanes) {
    const int i = first + static_cast<int>(threadIdx.x) % lanes;
    targets += __popc(__ballot_sync(all_lanes, i < group.end && is_target[tree.order[i]]));
  }
  return targets;
}

/// Walks like walk_groups(), but skips groups without targets. A group with targets walks as a whole, so that the pulls
/// on a body do not depend on the other targets. The order of their addition does: the number of targets decides how
/// many warps share a group, and these warps add their sums in any order.
template <class PairLaw, FarField far>
__global__ void __launch_bounds__(walk_octree_block, least_blocks(far))
    walk_groups_with_targets(const __grid_constant__ Octree tree, const __grid_constant__ Law law,
                             const unsigned char* is_target) {
  alignas(WarpSpace<far>) __shared__ unsigned char spaces[warps_per_block * sizeof(WarpSpace<far>)];
  WarpSpace<far>& space = reinterpret_cast<WarpSpace<far>*>(spaces)[threadIdx.x / lanes];
  const bool leads = threadIdx.x % lanes == 0;
  unsigned long long interactions = 0;
  while (true) {
    const auto [group, share] = take_share(tree, leads);
    if (group >= tree.state->groups) break;
    const OctreeGroup bodies = tree.groups[group];
    const int targets = count_targets(tree, bodies, is_target);
    if (targets == 0) continue;
    const auto walk_with = [&, share = share](auto walk) {
      walk.walk();
      walk.store(share);
      interactions += walk.interactions(targets);
    };
    if (bodies.end - bodies.begin > lanes) {
      walk_with(Walk<PairLaw, far, most_own_bodies>{tree, law, space, bodies, share});
    } else {
      walk_with(Walk<PairLaw, far, 1>{tree, law, space, bodies, share});
    }
  }
  if (leads) atomicAdd(&tree.state->found.interactions, interactions);
}

template <class PairLaw, FarField far>
__global__ void __launch_bounds__(walk_octree_block, least_blocks(far))
    walk_groups(const __grid_constant__ Octree tree, const __grid_constant__ Law law) {
  // Raw bytes, because Vec4 would be initialized to zero.
  alignas(WarpSpace<far>) __shared__ unsigned char spaces[warps_per_block * sizeof(WarpSpace<far>)];
  WarpSpace<far>& space = reinterpret_cast<WarpSpace<far>*>(spaces)[threadIdx.x / lanes];
  const bool leads = threadIdx.x % lanes == 0;
  unsigned long long interactions = 0;
  while (true) {
    const auto [group, share] = take_share(tree, leads);
    if (group >= tree.state->groups) break;
    const OctreeGroup bodies = tree.groups[group];
    const auto walk_with = [&, share = share](auto walk) {
      walk.walk();
      walk.store(share);
      interactions += walk.interactions(bodies.size());
    };
    if (bodies.end - bodies.begin > lanes) {
      walk_with(Walk<PairLaw, far, most_own_bodies>{tree, law, space, bodies, share});
    } else {
      walk_with(Walk<PairLaw, far, 1>{tree, law, space, bodies, share});
    }
  }
  if (leads) atomicAdd(&tree.state->found.interactions, interactions);
}

/// Calls use(far) with the law's far field as a constant, and returns the result. Only gravity has expansions.
template <class PairLaw, class Use>
auto with_far_field(FarField far, const Use& use) {
  if constexpr (std::is_same_v<PairLaw, Gravity<float>>) {
    if (far == FarField::local) return use(std::integral_constant<FarField, FarField::local>{});
    if (far == FarField::high) return use(std::integral_constant<FarField, FarField::high>{});
  }
  if (far == FarField::monopole) return use(std::integral_constant<FarField, FarField::monopole>{});
  return use(std::integral_constant<FarField, FarField::quadrupole>{});
}

template <class PairLaw>
auto function_for(FarField far) {
  return with_far_field<PairLaw>(far, [](auto constant) { return walk_groups<PairLaw, decltype(constant)::value>; });
}

template <class PairLaw>
auto function_with_targets(FarField far) {
  return with_far_field<PairLaw>(
      far, [](auto constant) { return walk_groups_with_targets<PairLaw, decltype(constant)::value>; });
}

__global__ void find_place(const __grid_constant__ Octree tree, int body, WalkFound* found) {
  const int end = tree.first_body + tree.count;
  for (auto i = tree.first_body + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < end;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    if (tree.order[i] == body) found->place = i;
  }
}

__global__ void find_group(const __grid_constant__ Octree tree, WalkFound* found) {
  for (auto g = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); g < tree.state->groups;
       g += static_cast<int>(gridDim.x * blockDim.x)) {
    const OctreeGroup group = tree.groups[g];
    if (group.begin <= found->place && found->place < group.end) found->group = group;
  }
}

}  // namespace

cudaKernel_t walk_octree_function(LawId law, FarField far) {
  return law == LawId::attract_repel ? cuda::kernel_handle(function_for<AttractRepel<float>>(far))
                                     : cuda::kernel_handle(function_for<Gravity<float>>(far));
}

int walk_octree_blocks(const cuda::Device& device, LawId law, FarField far, int count, int split) {
  const int resident =
      law == LawId::attract_repel
          ? cuda::known_resident_blocks(device, function_for<AttractRepel<float>>(far), walk_octree_block)
          : cuda::known_resident_blocks(device, function_for<Gravity<float>>(far), walk_octree_block);
  const auto useful = static_cast<long long>(cuda::ceil_div(count, warps_per_block)) * split;  // as if every group had
                                                                                               // one body
  return static_cast<int>(std::min<long long>(resident * device.multiprocessors(), useful));
}

void walk_octree(const cuda::Device& device, const Octree& tree, const Law& law, const unsigned char* is_target,
                 cudaStream_t stream) {
  if (tree.split > 1) {
    const std::size_t bytes = static_cast<std::size_t>(tree.count) * sizeof *tree.accelerations;
    ORRERY_CUDA_CHECK(cudaMemsetAsync(tree.accelerations + tree.first_body, 0, bytes, stream));
  }
  const int blocks = walk_octree_blocks(device, law.id, tree.far, tree.count, tree.split);
  visit_pair_law<float>(law, [&]<class PairLaw>(const PairLaw& /*pair*/) {
    if (is_target) {
      function_with_targets<PairLaw>(tree.far)<<<blocks, walk_octree_block, 0, stream>>>(tree, law, is_target);
    } else {
      function_for<PairLaw>(tree.far)<<<blocks, walk_octree_block, 0, stream>>>(tree, law);
    }
  });
  ORRERY_CUDA_CHECK_LAUNCH(walk_groups);
}

void record_walk(const cuda::Device& device, const Octree& tree, const Law& law, int body, const WalkRecord& record,
                 cudaStream_t stream) {
  constexpr int block = 256;
  const int blocks = min(4 * device.multiprocessors(), cuda::ceil_div(tree.count, block));
  ORRERY_CUDA_CHECK(cudaMemsetAsync(record.found, 0, sizeof *record.found, stream));
  ORRERY_CUDA_CHECK(cudaMemsetAsync(&record.found->place, 0xff, sizeof record.found->place, stream));  // sets it to -1
  find_place<<<blocks, block, 0, stream>>>(tree, body, record.found);
  ORRERY_CUDA_CHECK_LAUNCH(find_place);
  find_group<<<blocks, block, 0, stream>>>(tree, record.found);
  ORRERY_CUDA_CHECK_LAUNCH(find_group);
  visit_pair_law<float>(law, [&]<class PairLaw>(const PairLaw& /*pair*/) {
    // A local expansion changes how cells act, but not which cells are opened. High moments change both.
    auto function = tree.far == FarField::monopole ? record_group_walk<PairLaw, FarField::monopole>
                                                   : record_group_walk<PairLaw, FarField::quadrupole>;
    if constexpr (std::is_same_v<PairLaw, Gravity<float>>) {
      if (tree.far == FarField::high) function = record_group_walk<PairLaw, FarField::high>;
    }
    function<<<1, lanes, 0, stream>>>(tree, law, record);
  });
  ORRERY_CUDA_CHECK_LAUNCH(record_group_walk);
}

}  // namespace orrery
