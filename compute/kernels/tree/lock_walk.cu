#include "compute/cuda/launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/tree/lock_kernels.h"

namespace orrery {
namespace {

constexpr int warp = 32;
using cuda::all_lanes;
/// Cells that a warp opens at once, eight lanes each.
constexpr int most_opened = warp / 8;

/// Cells that are tested in one pass of the inner loop.
constexpr int unroll = 4;

constexpr int padded(int cells) {
  return (cells + unroll - 1) / unroll * unroll;
}

/// A warp's part of the shared memory.
struct WarpWalk {
  /// Stack entries. Opening one cell adds at most 7 entries net per level; opening four adds at most 28.
  static constexpr int room = 392;
  static constexpr int single_from = room - 7 * LockTree::max_level - 7 * most_opened;  // above it, open one at a time

  /// The members of the opened cells: first cells and lists, padded to a multiple of `unroll`, then bodies.
  Vec4 nodes[warp + unroll];
  Vec4 reach_sq[warp / unroll];  ///< of cells and lists, squared: opened if a body is nearer than this; includes eps^2
  unsigned links[warp];          ///< of cells and lists: the stack entry of a cell, the node of a list
  unsigned stack[room];          ///< cells to open: the number, and the level above LockTree::cell_bits
};
static_assert(sizeof(WarpWalk) % warp == 0 && WarpWalk::single_from > warp && unroll == 4);

__device__ int lanes_before(unsigned lanes, int lane) {
  return __popc(lanes & ((1u << lane) - 1));
}

/// Adds all bodies of a list.
template <class PairLaw>
__device__ int add_list(const LockTree& tree, const PairLaw& law, int place, const Vec4& me, Vec3& sum) {
  const TreeUnits units = tree.units();
  int bodies = 0;
  for (int i = tree.head(place); i != LockTree::null; i = tree.next[i], ++bodies) {
    add_pull(sum, law, me.x, me.y, me.z, units.of_body(tree.bodies[i]));
  }
  return bodies;
}

/// A node of an opened cell, read by one lane for the whole warp.
struct Member {
  int node = LockTree::null;
  unsigned level = 0;
  Vec4 center;  ///< and mass
};

/// Takes cells off the stack and reads their members, one per lane.
__device__ Member open_cells(const LockTree& tree, const WarpWalk& shared, int& height) {
  const int lane = static_cast<int>(threadIdx.x) % warp, group = lane / 8, place = lane % 8;
  const int opened = height <= WarpWalk::single_from ? min(height, most_opened) : 1;
  Member member;
  if (group < opened) {
    const unsigned entry = shared.stack[height - 1 - group];
    const int cell = static_cast<int>(entry & ((1u << LockTree::cell_bits) - 1));
    member = {.node = tree.places_of(cell)[place],
              .level = (entry >> LockTree::cell_bits) + 1,
              .center = tree.members[8 * cell + place]};
  }
  height -= opened;
  return member;
}

/// Returns the acceleration of each lane's body. Adds the number of nodes that the warp evaluates to `met`.
template <class PairLaw>
__device__ Vec3 walk(const LockTree& tree, const PairLaw& law, float root_reach_sq, WarpWalk& shared, const Vec4& me,
                     int& met) {
  const int lane = static_cast<int>(threadIdx.x) % warp;
  Vec3 sum;
  int height = 1;
  if (lane == 0) shared.stack[0] = 0;  // the root
  __syncwarp();
  Member member = open_cells(tree, shared, height);
  for (;;) {
    const int node = member.node;
    const bool is_cell = node >= tree.count, is_list = node <= LockTree::last_list;
    const bool may_open = is_cell || is_list;
    const unsigned cells = __ballot_sync(all_lanes, may_open);
    const unsigned bodies = __ballot_sync(all_lanes, node != LockTree::null && !may_open);
    const unsigned lists = __ballot_sync(all_lanes, is_list);
    const int cell_count = __popc(cells), body_count = __popc(bodies), first_body = padded(cell_count);
    float* const reach_sq = &shared.reach_sq[0].x;
    if (may_open) {
      const int to = lanes_before(cells, lane);
      shared.nodes[to] = member.center;
      // Each level halves the edge, which lowers the exponent of its square by two.
      reach_sq[to] = root_reach_sq * __int_as_float(static_cast<int>(127 - 2 * member.level) << 23) + law.softening_sq;
      shared.links[to] = is_cell ? static_cast<unsigned>(node - tree.count) | member.level << LockTree::cell_bits
                                 : static_cast<unsigned>(node);
    } else if (node != LockTree::null) {
      shared.nodes[first_body + lanes_before(bodies, lane)] = member.center;
    }
    if (lane < first_body - cell_count) {  // padding: massless and never near
      shared.nodes[cell_count + lane] = {};
      reach_sq[cell_count + lane] = -1;
    }
    __syncwarp();

    unsigned near = 0;
    for (int k = 0; k < first_body; k += unroll) {
      const Vec4 reaches = shared.reach_sq[k / unroll];
      const float reach[unroll] = {reaches.x, reaches.y, reaches.z, reaches.w};
      unsigned near_now = 0;
#pragma unroll
      for (int step = 0; step < unroll; ++step) {
        const Vec4 other = shared.nodes[k + step];
        const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        const float softened_sq = multiply_add(dz, dz, multiply_add(dy, dy, multiply_add(dx, dx, law.softening_sq)));
        // A NaN distance opens no cell.
        const bool opens = __any_sync(all_lanes, softened_sq <= reach[step]);
        if (opens) near_now |= 1u << step;
        // Four of five cells are far enough, so adding a zero pull is cheaper than a branch.
        add_pull_along(sum, law, dx, dy, dz, opens ? 0.0f : other.w);
      }
      near |= near_now << k;
    }
    met += cell_count - __popc(near) + body_count;

    if (lists != 0) {
      for (int k = 0; k < cell_count; ++k) {
        const int link = static_cast<int>(shared.links[k]);
        if ((near >> k & 1) == 0 || link > LockTree::last_list) continue;
        met += add_list(tree, law, link, me, sum);
        near &= ~(1u << k);
      }
    }
    if (near >> lane & 1) shared.stack[height + lanes_before(near, lane)] = shared.links[lane];
    height += __popc(near);
    __syncwarp();

    // The next cells load while the bodies are summed.
    const bool more = height > 0;
    if (more) member = open_cells(tree, shared, height);
#pragma unroll 2
    for (int k = 0; k < body_count; ++k) add_pull(sum, law, me.x, me.y, me.z, shared.nodes[first_body + k]);
    __syncwarp();
    if (!more) return sum;
  }
}

/// Warps claim 32 neighbouring bodies at a time.
template <class PairLaw>
__global__ void walk_all(const __grid_constant__ LockTree tree, const __grid_constant__ Law of_bodies,
                         float inverse_theta_sq) {
  extern __shared__ Vec4 dynamic_shared[];
  WarpWalk& shared = reinterpret_cast<WarpWalk*>(dynamic_shared)[threadIdx.x / warp];
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const TreeUnits units = tree.units();
  const auto law = pair_law_in<PairLaw>(units, of_bodies);
  const float edge = units.of_length(2 * tree.cubes[0].w);
  const float root_reach_sq = edge * edge * inverse_theta_sq;
  unsigned long long interactions = 0;
  for (;;) {
    const int first = claim(&tree.counters->walked, warp);
    if (first >= tree.count) break;
    const int mine = min(first + lane, tree.count - 1);  // idle lanes walk with the last body
    const Vec4 me = tree.sorted[mine];
    int met = 0;
    const Vec3 sum = walk(tree, law, root_reach_sq, shared, me, met);
    const Vec3 a = units.acceleration(sum);
    if (first + lane < tree.count) tree.sorted[mine] = {a.x, a.y, a.z, units.mass(me.w)};
    interactions += static_cast<unsigned long long>(met) * static_cast<unsigned>(min(warp, tree.count - first));
  }
  if (lane == 0) atomicAdd(&tree.counters->counts.interactions, interactions);
  if (blockIdx.x == 0 && threadIdx.x == 0) tree.counters->counts.cells = tree.cells();
}

}  // namespace

const std::size_t walk_bytes_per_thread = sizeof(WarpWalk) / warp;

void walk_tree(const LockTree& tree, const Law& law, float theta, const LockLaunch& launch) {
  const std::size_t shared_bytes = walk_bytes_per_thread * static_cast<std::size_t>(launch.block);
  visit_pair_law<float>(law, [&]<class PairLaw>(const PairLaw& /*pair*/) {
    walk_all<PairLaw><<<launch.blocks, launch.block, shared_bytes, launch.stream>>>(tree, law, 1 / (theta * theta));
  });
  ORRERY_CUDA_CHECK_LAUNCH(walk_all);
}

cudaKernel_t walk_tree_function(LawId law) {
  return law == LawId::attract_repel ? cuda::kernel_handle(walk_all<AttractRepel<float>>)
                                     : cuda::kernel_handle(walk_all<Gravity<float>>);
}

}  // namespace orrery
