#include <cooperative_groups.h>

#include "compute/cuda/launch.h"
#include "compute/kernels/tree/multipole.h"
#include "compute/kernels/tree/octree_kernels.h"

namespace orrery {
namespace {

namespace cg = cooperative_groups;

constexpr int block = 256;
/// Threads that work on one cell: one for each of its children.
constexpr int team_size = 8;
using Team = cg::thread_block_tile<team_size>;

/// The level of the coarsest cells that tell two keys apart.
__device__ int level_of_difference(std::uint64_t a, std::uint64_t b) {
  return key_levels - (63 - __clzll(static_cast<long long>(a ^ b))) / 3;
}

/// The first body in [begin, end) that is in a child of `level` from `child` on.
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

/// Gives a cell children, in the row of cells that begins at `next_row` and is the `row`th. Returns their level, 0
/// where there are none.
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
  const bool fits = first_child <= tree.capacity - children;
  if (end > begin && first_child + before < tree.capacity) {
    // Where not all of them fit, the places of those that would are left empty, and the cell stays a leaf.
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

/// Groups of the bodies in small cells and of those in leaves, by the cell above. Nearly all groups are then full; but
/// the box around a group lies in a small cell, where it cannot hold the heart of the system between far bodies.
__device__ void group_bodies(const Octree& tree, int cell) {
  constexpr int groups_in_small_cell = 32;
  const auto is_small = [&](const OctreeLinks& links) {
    return links.children == 0 || links.end - links.begin <= groups_in_small_cell * tree.group;
  };
  const OctreeLinks links = tree.links[cell];
  if (is_small(links)) {
    if (cell == 0) add_groups(tree, links);
    return;
  }
  for (int child = links.first_child; child < links.first_child + links.children; ++child) {
    if (const OctreeLinks below = tree.links[child]; is_small(below)) add_groups(tree, below);
  }
}

template <class Combine>
__device__ float over_team(const Team& team, float value, Combine combine) {
  for (int apart = team_size / 2; apart > 0; apart /= 2) {
    value = combine(value, team.shfl_xor(value, static_cast<unsigned>(apart)));
  }
  return value;
}
__device__ float sum_over(const Team& team, float value) {
  return over_team(team, value, [](float a, float b) { return a + b; });
}

/// The box and the moments of a cell, from those of its children or from its bodies.
__device__ void sum_up(const Team& team, const Octree& tree, int cell) {
  const OctreeLinks links = tree.links[cell];
  if (links.end == links.begin) return;
  const bool is_leaf = links.children == 0;
  const int rank = static_cast<int>(team.thread_rank());
  const int first = (is_leaf ? links.begin : links.first_child) + rank;
  const int end = is_leaf ? links.end : links.first_child + links.children;

  const Vec4 origin = is_leaf ? tree.bodies[links.begin] : tree.tests[links.first_child];
  Vec3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
  Vec4 sum;
  const auto part = [&](int i) {
    const Vec4 at = is_leaf ? tree.bodies[i] : tree.tests[i];
    return Vec4{at.x, at.y, at.z, is_leaf ? at.w : tree.moments_a[i].x};
  };
  for (int i = first; i < end; i += team_size) {
    const Vec4 body = part(i), from = is_leaf ? body : tree.low[i], to = is_leaf ? body : tree.high[i];
    low = {fminf(low.x, from.x), fminf(low.y, from.y), fminf(low.z, from.z)};
    high = {fmaxf(high.x, to.x), fmaxf(high.y, to.y), fmaxf(high.z, to.z)};
    sum.x += body.w * (body.x - origin.x);
    sum.y += body.w * (body.y - origin.y);
    sum.z += body.w * (body.z - origin.z);
    sum.w += body.w;
  }
  const auto least = [](float a, float b) { return fminf(a, b); };
  const auto most = [](float a, float b) { return fmaxf(a, b); };
  low = {over_team(team, low.x, least), over_team(team, low.y, least), over_team(team, low.z, least)};
  high = {over_team(team, high.x, most), over_team(team, high.y, most), over_team(team, high.z, most)};
  const float mass = sum_over(team, sum.w);
  const Vec3 center{origin.x + sum_over(team, sum.x) / mass, origin.y + sum_over(team, sum.y) / mass,
                    origin.z + sum_over(team, sum.z) / mass};

  SecondMoments<float> q;  // times -3 what the children bring
  for (int i = first; i < end; i += team_size) {
    Vec4 body = part(i);
    const float dx = body.x - center.x, dy = body.y - center.y, dz = body.z - center.z;
    body.w *= -3;
    add_second_moments(q, dx, dy, dz, body);
    if (is_leaf) continue;
    const Vec4 a = tree.moments_a[i], b = tree.moments_b[i];
    q.xx += a.y;
    q.xy += a.z;
    q.xz += a.w;
    q.yy += b.x;
    q.yz += b.y;
    q.zz += b.z;
  }
  for (float* moment : {&q.xx, &q.xy, &q.xz, &q.yy, &q.yz, &q.zz}) *moment = sum_over(team, *moment);
  if (rank != 0) return;

  const float side = fmaxf(fmaxf(high.x - low.x, high.y - low.y), high.z - low.z);
  const float apart =
      norm3df(center.x - (low.x + high.x) / 2, center.y - (low.y + high.y) / 2, center.z - (low.z + high.z) / 2);
  const float opens = side / tree.theta + apart;
  // A body or two are no more work than a cell; and one whose moments leave the range of float stands for nothing.
  const bool few = is_leaf && links.end - links.begin <= 2, in_range = fabsf(q.xx + q.yy + q.zz) < INFINITY;
  tree.tests[cell] = {center.x, center.y, center.z, few || !in_range ? INFINITY : opens * opens};
  const float variance = (q.xx + q.yy + q.zz) / (-3 * mass), left_out = mass * variance;
  tree.nodes[cell] = {.first = is_leaf ? links.begin : links.first_child,
                      .bodies = is_leaf ? links.end - links.begin : 0,
                      .children = links.children,
                      .reach = tree.quadrupole ? powf(left_out * sqrtf(variance), 0.4f) : sqrtf(left_out)};
  tree.moments_a[cell] = {mass, q.xx, q.xy, q.xz};
  tree.moments_b[cell] = {q.yy, q.yz, q.zz, 0.5f * (q.xx + q.yy + q.zz)};
  tree.low[cell] = {low.x, low.y, low.z, 0};
  tree.high[cell] = {high.x, high.y, high.z, 0};
}

__global__ void __launch_bounds__(block) build(const __grid_constant__ Octree tree, bool keeps_cells) {
  const auto grid = cg::this_grid();
  const auto team = cg::tiled_partition<team_size>(cg::this_thread_block());
  const int first = static_cast<int>(grid.thread_rank()) / team_size;
  const int teams = static_cast<int>(grid.num_threads()) / team_size;
  OctreeState& state = *tree.state;
  if (!keeps_cells) {
    if (grid.thread_rank() == 0) {
      tree.links[0] = {0, tree.count, 0, 0, 0};
      state.row_begin[0] = 0;
      state.row_begin[1] = 1;
    }
    grid.sync();
    int begin = 0, end = 1, row = 0, deepest = 0;
    while (begin < end) {
      ++row;
      for (int cell = begin + first; cell < end; cell += teams) {
        deepest = max(deepest, divide(team, tree, cell, end, row));
      }
      grid.sync();
      begin = end;
      end = min(end + state.children_wanted[row], tree.capacity);
      if (grid.thread_rank() == 0) {
        state.rows = row;
        state.row_begin[row + 1] = end;
      }
    }
    if (team.thread_rank() == 0 && deepest > 0) atomicMax(&state.found.depth, deepest);
    grid.sync();
    if (grid.thread_rank() == 0) state.found.cells = end - state.empty_cells;
    for (int cell = static_cast<int>(grid.thread_rank()); cell < end; cell += static_cast<int>(grid.num_threads())) {
      group_bodies(tree, cell);
    }
  }
  if (grid.thread_rank() == 0) {
    state.found.interactions = 0;
    state.next_group = 0;
  }
  for (int row = state.rows - 1; row >= 0; --row) {
    for (int cell = state.row_begin[row] + first; cell < state.row_begin[row + 1]; cell += teams) {
      sum_up(team, tree, cell);
    }
    grid.sync();
  }
}

}  // namespace

void build_octree(const cuda::Device& device, const Octree& tree, bool keeps_cells, cudaStream_t stream) {
  const int resident = cuda::resident_blocks(device, cuda::kernel_handle(build), block);
  const int wanted = cuda::ceil_div(tree.count, block);
  const int blocks = min(wanted, min(resident, 4) * device.multiprocessors());
  Octree argument = tree;
  void* arguments[] = {&argument, &keeps_cells};
  ORRERY_CUDA_CHECK(cudaLaunchCooperativeKernel(
      reinterpret_cast<const void*>(build), dim3(static_cast<unsigned>(blocks)), dim3(block), arguments, 0, stream));
}

}  // namespace orrery
