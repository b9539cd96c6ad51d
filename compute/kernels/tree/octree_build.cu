#include <cooperative_groups.h>

#include "compute/cuda/launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/tree/multipole.h"
#include "compute/kernels/tree/octree_kernels.h"
#include "compute/kernels/tree/octree_moments.h"

namespace orrery {
namespace {

namespace cg = cooperative_groups;

constexpr int block = 256;
/// Threads that work on one cell: one for each of its children.
constexpr int team_size = 8;
using Team = cg::thread_block_tile<team_size>;

/// The level of the coarsest cells that separate two keys.
__device__ int level_of_difference(std::uint64_t a, std::uint64_t b) {
  return key_levels - (63 - __clzll(static_cast<long long>(a ^ b))) / 3;
}

/// Returns the first body in [begin, end) whose child at `level` is `child` or a later one.
__device__ int first_in_child(const Octree& tree, int begin, int end, int level, int child) {
  while (begin < end) {
    const int middle = begin + (end - begin) / 2;
    if (child_of_key(tree.keys[middle], level) < child) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// Makes the children of a cell, in row `row`, which begins at cell `next_row`. Returns their level, or 0 if the cell
/// stays a leaf.
__device__ int divide(const Team& team, const Octree& tree, int cell, int next_row, int row) {
  const OctreeLinks links = tree.links[cell];
  if (links.end - links.begin <= tree.leaf) return 0;
  const std::uint64_t first_key = tree.keys[links.begin], last_key = tree.keys[links.end - 1];
  if (first_key == last_key) return 0;
  const int level = level_of_difference(first_key, last_key), child = static_cast<int>(team.thread_rank());
  const int begin = first_in_child(tree, links.begin, links.end, level, child);
  const int next = team.shfl_down(begin, 1), end = child == team_size - 1 ? links.end : next;
  const unsigned with_bodies = team.ballot(end > begin);
  const int children = __popc(with_bodies), before = __popc(with_bodies & ((1u << child) - 1));
  int first_child = 0;
  if (child == 0) first_child = next_row + atomicAdd(&tree.state->children_wanted[row], children);
  first_child = team.shfl(first_child, 0);
  const bool fits = first_child <= tree.end_cell - children;
  if (end > begin && first_child + before < tree.end_cell) {
    // If not all children fit, their places are left empty, and the cell stays a leaf.
    tree.links[first_child + before] =
        fits ? OctreeLinks{begin, end, 0, 0, static_cast<std::uint8_t>(level)} : OctreeLinks{};
    if (!fits) atomicAdd(&tree.state->empty_cells, 1);
  }
  if (child == 0 && fits) {
    tree.links[cell].first_child = first_child;
    tree.links[cell].children = static_cast<std::uint8_t>(children);
  }
  return fits ? level : 0;
}

/// Divides the bodies of a cell into groups, all full but the last.
__device__ void add_groups(const Octree& tree, const OctreeLinks& cell) {
  const int bodies = cell.end - cell.begin, groups = (bodies - 1) / tree.group + 1;
  const int first = atomicAdd(&tree.state->groups, groups);
  for (int i = 0; i < groups; ++i) {
    const int begin = cell.begin + i * tree.group;
    tree.groups[first + i] = {begin, min(begin + tree.group, cell.end)};
  }
}

/// Divides the bodies of those children that are small or leaves into groups. So nearly all groups are full, and each
/// box stays within a small cell instead of stretching across the center of the system.
__device__ void group_bodies(const Octree& tree, int cell) {
  constexpr int groups_in_small_cell = 32;
  const auto is_small = [&](const OctreeLinks& links) {
    return links.children == 0 || links.end - links.begin <= groups_in_small_cell * tree.group;
  };
  const OctreeLinks links = tree.links[cell];
  if (is_small(links)) {
    if (cell == tree.first_cell) add_groups(tree, links);
    return;
  }
  for (int child = links.first_child; child < links.first_child + links.children; ++child) {
    if (const OctreeLinks below = tree.links[child]; is_small(below)) add_groups(tree, below);
  }
}

/// What a cell consists of: its children, or the bodies of a leaf. The lanes of a team take them in turn.
struct Parts {
  const TreeUnits& units;
  bool is_leaf;
  int begin, end;  ///< bodies of a leaf, or cells

  __device__ Parts(const TreeUnits& of_tree, const OctreeLinks& cell)
      : units{of_tree},
        is_leaf{cell.children == 0},
        begin{is_leaf ? cell.begin : cell.first_child},
        end{is_leaf ? cell.end : cell.first_child + cell.children} {}

  /// A body, or the test of a cell: in both, the coordinates are those of the part.
  __device__ Vec4 place(const Octree& tree, int i) const {
    return is_leaf ? units.of_body(tree.bodies[i]) : tree.tests[i];
  }
  /// Center of mass and mass of a part.
  __device__ Vec4 center(const Octree& tree, int i) const {
    const Vec4 at = place(tree, i);
    return {at.x, at.y, at.z, is_leaf ? at.w : tree.moments_a[i].x};
  }
};

/// A cell's box, mass and center of mass. All lanes of a team get them.
struct FirstMoments {
  cuda::Box box;
  Vec3 center;
  float mass = 0;

  __device__ FirstMoments(const Team& team, const Octree& tree, const Parts& parts) {
    const Vec4 origin = parts.place(tree, parts.begin);
    Vec4 sum;  // relative to the origin, so that the center of coincident bodies is exact
    for (int i = parts.begin + static_cast<int>(team.thread_rank()); i < parts.end; i += team_size) {
      const Vec4 part = parts.center(tree, i);
      const Vec4 low = parts.is_leaf ? part : tree.low[i], high = parts.is_leaf ? part : tree.high[i];
      box.add({low.x, low.y, low.z}, {high.x, high.y, high.z});
      sum.x += part.w * (part.x - origin.x);
      sum.y += part.w * (part.y - origin.y);
      sum.z += part.w * (part.z - origin.z);
      sum.w += part.w;
    }
    box.join(team);
    mass = cuda::sum_over(team, sum.w);
    const float divisor = mass > 0 ? mass : 1;  // 1: bodies without mass are at their origin
    center = {origin.x + cuda::sum_over(team, sum.x) / divisor, origin.y + cuda::sum_over(team, sum.y) / divisor,
              origin.z + cuda::sum_over(team, sum.z) / divisor};
  }
};

/// -3 times the second moments of a cell about its center of mass. All lanes of a team get them.
__device__ SecondMoments<float> second_moments(const Team& team, const Octree& tree, const Parts& parts,
                                               const Vec3& center) {
  SecondMoments<float> q;
  for (int i = parts.begin + static_cast<int>(team.thread_rank()); i < parts.end; i += team_size) {
    Vec4 part = parts.center(tree, i);
    const float dx = part.x - center.x, dy = part.y - center.y, dz = part.z - center.z;
    part.w *= -3;
    add_second_moments(q, dx, dy, dz, part);
    if (parts.is_leaf) continue;
    const Vec4 a = tree.moments_a[i], b = tree.moments_b[i];
    q.xx += a.y;
    q.xy += a.z;
    q.xz += a.w;
    q.yy += b.x;
    q.yz += b.y;
    q.zz += b.z;
  }
  for (float* moment : {&q.xx, &q.xy, &q.xz, &q.yy, &q.yz, &q.zz}) *moment = cuda::sum_over(team, *moment);
  return q;
}

/// Stores a cell's data for the walk and for the sums of its parent.
__device__ void store_cell(const Octree& tree, int cell, const Parts& parts, const FirstMoments& first,
                           const SecondMoments<float>& q) {
  const Vec3 &low = first.box.low, &high = first.box.high, &center = first.center;
  const float side = fmaxf(fmaxf(high.x - low.x, high.y - low.y), high.z - low.z);
  const float apart =
      norm3df(center.x - (low.x + high.x) / 2, center.y - (low.y + high.y) / 2, center.z - (low.z + high.z) / 2);
  const float opens = side / tree.theta + apart;
  const int bodies = parts.is_leaf ? parts.end - parts.begin : 0,
            children = parts.is_leaf ? 0 : parts.end - parts.begin;
  // One or two bodies cost no more than a cell. A cell whose moments leave the range of float is always opened.
  const bool few = parts.is_leaf && bodies <= 2, in_range = fabsf(q.xx + q.yy + q.zz) < INFINITY;
  tree.tests[cell] = {center.x, center.y, center.z, few || !in_range ? INFINITY : opens * opens};
  const float variance = first.mass > 0 ? (q.xx + q.yy + q.zz) / (-3 * first.mass) : 0,
              left_out = first.mass * variance;
  tree.nodes[cell] = {
      .first = parts.begin,
      .bodies = bodies,
      .children = children,
      .reach = tree.far == FarField::monopole ? sqrtf(left_out) : powf(left_out * sqrtf(variance), 0.4f)};
  tree.moments_a[cell] = {first.mass, q.xx, q.xy, q.xz};
  tree.moments_b[cell] = {q.yy, q.yz, q.zz, 0.5f * (q.xx + q.yy + q.zz)};
  tree.low[cell] = {low.x, low.y, low.z, 0};
  tree.high[cell] = {high.x, high.y, high.z, 0};
}

/// Moments of the third order and higher. All lanes of a team get them.
__device__ high::Moments high_moments(const Team& team, const Octree& tree, const Parts& parts, const Vec3& center) {
  high::Moments sum;
  for (int i = parts.begin + static_cast<int>(team.thread_rank()); i < parts.end; i += team_size) {
    const Vec4 part = parts.center(tree, i);
    const float dx = part.x - center.x, dy = part.y - center.y, dz = part.z - center.z;
    if (parts.is_leaf) {
      high::add_body(sum, dx, dy, dz, part.w);
    } else {
      high::add_cell(sum, dx, dy, dz, moments_from({tree, i}));
    }
  }
  high::for_each<high::first_high_moment, high::moment_terms>([&](auto constant) {
    float& moment = sum.at[decltype(constant)::value];
    moment = cuda::sum_over(team, moment);
  });
  return sum;
}
__device__ bool in_range(const high::Moments& moments) {
  float sum = 0;
  high::for_each<high::first_high_moment, high::moment_terms>(
      [&](auto constant) { sum += fabsf(moments.at[decltype(constant)::value]); });
  return sum < INFINITY;
}

/// Computes the box and the moments of a cell from its children or its bodies.
template <bool with_high>
__device__ void sum_up(const Team& team, const Octree& tree, const TreeUnits& units, int cell) {
  const OctreeLinks links = tree.links[cell];
  if (links.end == links.begin) return;  // a place that divide() left empty
  const Parts parts{units, links};
  const FirstMoments first{team, tree, parts};
  const SecondMoments<float> q = second_moments(team, tree, parts, first.center);
  if (team.thread_rank() == 0) store_cell(tree, cell, parts, first, q);
  if constexpr (with_high) {
    high::Moments moments = high_moments(team, tree, parts, first.center);
    moments.at[0] = first.mass;
    if (team.thread_rank() == 0) {
      tree.moments_b[cell].w = high::spread_of(moments);
      store_high_moments({tree, cell}, moments);
      if (!in_range(moments)) tree.tests[cell].w = INFINITY;
    }
  }
}

template <bool with_high>
__global__ void __launch_bounds__(block) build(const __grid_constant__ Octree tree, bool keeps_cells) {
  const auto grid = cg::this_grid();
  const auto team = cg::tiled_partition<team_size>(cg::this_thread_block());
  const int first = static_cast<int>(grid.thread_rank()) / team_size;
  const int teams = static_cast<int>(grid.num_threads()) / team_size;
  OctreeState& state = *tree.state;
  const TreeUnits units{state.cube};
  if (!keeps_cells) {
    if (grid.thread_rank() == 0) {
      tree.links[tree.first_cell] = {tree.first_body, tree.first_body + tree.count, 0, 0, 0};
      state.row_begin[0] = tree.first_cell;
      state.row_begin[1] = tree.first_cell + 1;
    }
    grid.sync();
    int begin = tree.first_cell, end = tree.first_cell + 1, row = 0, deepest = 0;
    while (begin < end) {
      ++row;
      for (int cell = begin + first; cell < end; cell += teams) {
        deepest = max(deepest, divide(team, tree, cell, end, row));
      }
      grid.sync();
      begin = end;
      end = min(end + state.children_wanted[row], tree.end_cell);
      if (grid.thread_rank() == 0) {
        state.rows = row;
        state.row_begin[row + 1] = end;
      }
    }
    if (team.thread_rank() == 0 && deepest > 0) atomicMax(&state.found.depth, deepest);
    grid.sync();
    if (grid.thread_rank() == 0) state.found.cells = end - tree.first_cell - state.empty_cells;
    for (int cell = tree.first_cell + static_cast<int>(grid.thread_rank()); cell < end;
         cell += static_cast<int>(grid.num_threads())) {
      group_bodies(tree, cell);
    }
  }
  if (grid.thread_rank() == 0) {
    state.found.interactions = 0;
    state.next_share = 0;
  }
  for (int row = state.rows - 1; row >= 0; --row) {
    for (int cell = state.row_begin[row] + first; cell < state.row_begin[row + 1]; cell += teams) {
      sum_up<with_high>(team, tree, units, cell);
    }
    grid.sync();
  }
}

}  // namespace

void build_octree(const cuda::Device& device, const Octree& tree, bool keeps_cells, cudaStream_t stream) {
  const auto function = tree.high_moments ? build<true> : build<false>;
  const int resident = cuda::known_resident_blocks(device, function, block);
  const int wanted = cuda::ceil_div(tree.count, block);
  const int blocks = min(wanted, min(resident, 4) * device.multiprocessors());
  Octree argument = tree;
  void* arguments[] = {&argument, &keeps_cells};
  ORRERY_CUDA_CHECK(cudaLaunchCooperativeKernel(
      reinterpret_cast<const void*>(function), dim3(static_cast<unsigned>(blocks)), dim3(block), arguments, 0, stream));
}

}  // namespace orrery
