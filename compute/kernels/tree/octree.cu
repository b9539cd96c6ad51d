#include <cooperative_groups.h>

#include <algorithm>
#include <cstddef>
#include <cub/device/device_radix_sort.cuh>

#include "compute/cuda/block.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/tree/multipole.h"
#include "compute/kernels/tree/octree.h"
#include "compute/kernels/tree/tree_cube.h"

namespace orrery {
namespace {

namespace cg = cooperative_groups;

constexpr int block = 256;

__global__ void clear(OctreeState* state) {
  *state = OctreeState::without_bodies();
}

__device__ void extent_of_axis(OctreeState* state, int axis, const Vec4* bodies, int count, float Vec4::*coordinate) {
  float least = INFINITY, most = -INFINITY;
  double sum = 0;
  for (int i = static_cast<int>(blockIdx.x * block + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * block)) {
    const float x = bodies[i].*coordinate;
    least = fminf(least, x);
    most = fmaxf(most, x);
    sum += x;
  }
  sum = cuda::block_sum<block>(sum);
  least = cuda::least_over(cuda::Warp{}, least);
  most = cuda::greatest_over(cuda::Warp{}, most);
  if (threadIdx.x % 32 == 0) {
    atomicMin(&state->least[axis], cuda::ordered_bits(least));
    atomicMax(&state->most[axis], cuda::ordered_bits(most));
  }
  if (threadIdx.x == 0) atomicAdd(&state->sum[axis], sum);
}

__device__ float distance_along_axes(const Vec4& body, const Vec3& center) {
  return fabsf(body.x - center.x) + fabsf(body.y - center.y) + fabsf(body.z - center.z);
}

__device__ void note_mass(OctreeState* state, float mass) {
  mass = cuda::greatest_over(cuda::Warp{}, mass);
  if (threadIdx.x % 32 == 0) atomicMax(&state->most_mass, cuda::ordered_bits(mass));
}

__device__ void greatest_mass(OctreeState* state, const Vec4* bodies, int count) {
  float mass = 0;
  for (int i = static_cast<int>(blockIdx.x * block + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * block)) {
    mass = fmaxf(mass, bodies[i].w);
  }
  note_mass(state, mass);
}

__global__ void add_extent(OctreeState* state, const Vec4* __restrict__ bodies, int count) {
  extent_of_axis(state, 0, bodies, count, &Vec4::x);
  extent_of_axis(state, 1, bodies, count, &Vec4::y);
  extent_of_axis(state, 2, bodies, count, &Vec4::z);
  greatest_mass(state, bodies, count);
}

/// Adds the deviation of the bodies from their mean to the state, which must have the sums of the coordinates.
__global__ void find_deviation(OctreeState* state, const Vec4* __restrict__ bodies, int count) {
  const auto mean = [&](int axis) { return static_cast<float>(state->sum[axis] / count); };
  const Vec3 center{mean(0), mean(1), mean(2)};
  double sum = 0;
  for (int i = static_cast<int>(blockIdx.x * block + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * block)) {
    sum += distance_along_axes(bodies[i], center);
  }
  sum = cuda::block_sum<block>(sum);
  if (threadIdx.x == 0) atomicAdd(&state->deviation, sum);
}

/// Adds the bodies' extent, and their deviation from a center, in one pass.
__global__ void add_extent_around(OctreeState* state, const Vec3* known_center, const Vec4* __restrict__ bodies,
                                  int count) {
  const Vec3 center = known_center ? *known_center : Vec3{};
  cuda::Box box;
  double x = 0, y = 0, z = 0, deviation = 0;
  float mass = 0;
  for (int i = static_cast<int>(blockIdx.x * block + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * block)) {
    const Vec4 body = bodies[i];
    const Vec3 place{body.x, body.y, body.z};
    box.add(place, place);
    x += body.x, y += body.y, z += body.z;
    deviation += distance_along_axes(body, center);
    mass = fmaxf(mass, body.w);
  }
  note_mass(state, mass);
  cuda::join_over_block(box);
  x = cuda::block_sum<block>(x), y = cuda::block_sum<block>(y), z = cuda::block_sum<block>(z);
  deviation = cuda::block_sum<block>(deviation);
  if (threadIdx.x > 0) return;
  const double sums[] = {x, y, z};
  const float least[] = {box.low.x, box.low.y, box.low.z}, most[] = {box.high.x, box.high.y, box.high.z};
  for (int axis = 0; axis < 3; ++axis) {
    atomicMin(&state->least[axis], cuda::ordered_bits(least[axis]));
    atomicMax(&state->most[axis], cuda::ordered_bits(most[axis]));
    atomicAdd(&state->sum[axis], sums[axis]);
  }
  atomicAdd(&state->deviation, deviation);
}

__device__ TreeCube cube_of(const OctreeState& state, int count) {
  constexpr float far = 1024;
  const float reach = far * static_cast<float>(state.deviation / count);
  const auto low = [&](int axis) {
    return fmaxf(cuda::from_ordered_bits(state.least[axis]), static_cast<float>(state.sum[axis] / count) - reach);
  };
  const auto high = [&](int axis) {
    return fminf(cuda::from_ordered_bits(state.most[axis]), static_cast<float>(state.sum[axis] / count) + reach);
  };
  return cube_around({low(0), low(1), low(2)}, {high(0), high(1), high(2)}, cuda::from_ordered_bits(state.most_mass));
}

/// Number of threads that work on one cell: one per child.
constexpr int team_size = 8;
using Team = cg::thread_block_tile<team_size>;

/// Returns the level of the coarsest cells that separate two keys.
__device__ int level_of_difference(std::uint64_t a, std::uint64_t b) {
  return key_levels - (63 - __clzll(static_cast<long long>(a ^ b))) / 3;
}

/// Returns the first body in [begin, end) that is in child `child` at `level`, or in a later child.
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

/// Makes the children of a cell in row `row`, which begins at cell `next_row`. Returns their level, or 0 if the cell
/// remains a leaf.
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

/// Divides the bodies of a cell's small children and leaves into groups. Nearly all groups are then full, and each
/// group's box stays within a small cell instead of stretching across the center of the system.
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

/// Parts of a cell: its children, or the bodies of a leaf. Each lane of a team takes every eighth part.
struct Parts {
  const TreeUnits& units;
  bool is_leaf;
  int begin, end;  ///< range of a leaf's bodies, or of cells

  __device__ Parts(const TreeUnits& of_tree, const OctreeLinks& cell)
      : units{of_tree},
        is_leaf{cell.children == 0},
        begin{is_leaf ? cell.begin : cell.first_child},
        end{is_leaf ? cell.end : cell.first_child + cell.children} {}

  /// Returns a body, or the test of a cell. Both begin with the coordinates of the part.
  __device__ Vec4 place(const Octree& tree, int i) const {
    return is_leaf ? units.of_body(tree.bodies[i]) : tree.tests[i];
  }
  /// Returns the center of mass and the mass of a part.
  __device__ Vec4 center(const Octree& tree, int i) const {
    const Vec4 at = place(tree, i);
    return {at.x, at.y, at.z, is_leaf ? at.w : tree.moments_a[i].x};
  }
};

/// A cell's box, mass and center of mass, on all lanes of a team.
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
    const float divisor = mass > 0 ? mass : 1;  // 1: the center of massless bodies is their origin
    center = {origin.x + cuda::sum_over(team, sum.x) / divisor, origin.y + cuda::sum_over(team, sum.y) / divisor,
              origin.z + cuda::sum_over(team, sum.z) / divisor};
  }
};

/// Returns -3 times the second moments of a cell about its center of mass, on all lanes of a team.
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

__device__ bool in_range(const high::Moments& moments) {
  float sum = 0;
  high::for_each<high::first_high_moment, high::moment_terms>(
      [&](auto constant) { sum += fabsf(moments.at[decltype(constant)::value]); });
  return sum < INFINITY;
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

/// Returns the moments of the third order and higher, on all lanes of a team.
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

/// Joins the extents of all devices. Runs as one block, with one thread per device. All devices get the same bits,
/// because they add in the same order.
__global__ void __launch_bounds__(most_devices)
    join_extents(const __grid_constant__ OnAll<const OctreeState> extents, int count, TreeCube* cube, Vec3* mean) {
  __shared__ double sums[most_devices][4];
  __shared__ int least[most_devices][3], most[most_devices][3], mass[most_devices];
  if (const auto own = static_cast<int>(threadIdx.x); own < extents.devices) {
    const OctreeState& extent = *extents.of[own];
    for (int axis = 0; axis < 3; ++axis) {
      sums[own][axis] = extent.sum[axis];
      least[own][axis] = extent.least[axis];
      most[own][axis] = extent.most[axis];
    }
    sums[own][3] = extent.deviation;
    mass[own] = extent.most_mass;
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  OctreeState all = OctreeState::without_bodies();
  for (int i = 0; i < extents.devices; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      all.sum[axis] += sums[i][axis];
      all.least[axis] = min(all.least[axis], least[i][axis]);
      all.most[axis] = max(all.most[axis], most[i][axis]);
    }
    all.deviation += sums[i][3];
    all.most_mass = max(all.most_mass, mass[i]);
  }
  *cube = cube_of(all, count);
  const auto mean_of = [&](int axis) { return static_cast<float>(all.sum[axis] / count); };
  *mean = {mean_of(0), mean_of(1), mean_of(2)};
}

/// Computes keys and numbers. `known`: the cube; null: finds the cube from the extent and the deviation in `state`.
__global__ void key_bodies(OctreeState* state, const TreeCube* known, const Vec4* __restrict__ bodies, int count,
                           std::uint64_t* __restrict__ keys, int* __restrict__ numbers) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  __shared__ TreeCube cube;
  if (threadIdx.x == 0) cube = known ? *known : cube_of(*state, count);
  __syncthreads();
  if (i == 0) state->cube = cube;
  if (i >= count) return;
  const Vec4 body = bodies[i];
  keys[i] = hilbert_key(cube, body.x, body.y, body.z);
  numbers[i] = i;
}

__global__ void gather(const Vec4* __restrict__ bodies, const int* __restrict__ order, int count,
                       Vec4* __restrict__ sorted) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i < count) sorted[i] = bodies[order[i]];
}

__global__ void mark(Targets targets, unsigned char* is_target) {
  const int place = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (place < targets.count) is_target[targets.body(place)] = 1;
}

cudaError_t sort(void* scratch, std::size_t& bytes, cub::DoubleBuffer<std::uint64_t>& keys,
                 cub::DoubleBuffer<int>& numbers, int count, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, numbers, count, 0, 3 * key_levels, stream);
}

void clear_state(OctreeState* state, cudaStream_t stream) {
  clear<<<1, 1, 0, stream>>>(state);
  ORRERY_CUDA_CHECK_LAUNCH(clear);
}

/// Returns the number of blocks for sums over bodies, at most two per multiprocessor.
int few_blocks(const cuda::Device& device, int count) {
  return std::min(cuda::ceil_div(count, block), 2 * device.multiprocessors());
}

void key_all(const Octree& tree, const TreeCube* known, const Vec4* bodies, std::uint64_t* keys, int* numbers,
             cudaStream_t stream) {
  key_bodies<<<cuda::ceil_div(tree.count, block), block, 0, stream>>>(tree.state, known, bodies, tree.count, keys,
                                                                      numbers);
  ORRERY_CUDA_CHECK_LAUNCH(key_bodies);
}

}  // namespace

void find_extent_around(const cuda::Device& device, const Vec3* center, OctreeState* state, const Vec4* bodies,
                        int count, cudaStream_t stream) {
  constexpr int blocks_per_processor = 4;  // keeps enough loads in flight
  const int blocks = std::min(cuda::ceil_div(count, block), blocks_per_processor * device.multiprocessors());
  add_extent_around<<<blocks, block, 0, stream>>>(state, center, bodies, count);
  ORRERY_CUDA_CHECK_LAUNCH(add_extent_around);
}

void find_cube(const OnAll<const OctreeState>& extents, int of_all, TreeCube* cube, Vec3* mean, cudaStream_t stream) {
  join_extents<<<1, most_devices, 0, stream>>>(extents, of_all, cube, mean);
  ORRERY_CUDA_CHECK_LAUNCH(join_extents);
}

void find_keys(const cuda::Device& device, const Octree& tree, const Vec4* bodies, std::uint64_t* keys, int* numbers,
               cudaStream_t stream) {
  const int blocks = few_blocks(device, tree.count);
  clear_state(tree.state, stream);
  add_extent<<<blocks, block, 0, stream>>>(tree.state, bodies, tree.count);
  ORRERY_CUDA_CHECK_LAUNCH(add_extent);
  find_deviation<<<blocks, block, 0, stream>>>(tree.state, bodies, tree.count);
  ORRERY_CUDA_CHECK_LAUNCH(find_deviation);
  key_all(tree, /*known=*/nullptr, bodies, keys, numbers, stream);
}

void find_keys_in(const TreeCube* cube, const Octree& tree, const Vec4* bodies, std::uint64_t* keys, int* numbers,
                  cudaStream_t stream) {
  clear_state(tree.state, stream);
  key_all(tree, cube, bodies, keys, numbers, stream);
}

std::size_t sort_bytes(const cuda::Device& device, int count) {
  device.activate();
  std::size_t bytes = 0;
  cub::DoubleBuffer<std::uint64_t> keys;
  cub::DoubleBuffer<int> numbers;
  ORRERY_CUDA_CHECK(sort(nullptr, bytes, keys, numbers, count, nullptr));
  return bytes;
}

void sort_keys(KeyBuffers& buffers, int count, void* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  cub::DoubleBuffer<std::uint64_t> keys{buffers.keys, buffers.other_keys};
  cub::DoubleBuffer<int> numbers{buffers.numbers, buffers.other_numbers};
  ORRERY_CUDA_CHECK(sort(scratch, scratch_bytes, keys, numbers, count, stream));
  buffers = {keys.Current(), keys.Alternate(), numbers.Current(), numbers.Alternate()};
}

void gather_bodies(const Vec4* bodies, const int* order, int count, Vec4* sorted, cudaStream_t stream) {
  gather<<<cuda::ceil_div(count, block), block, 0, stream>>>(bodies, order, count, sorted);
  ORRERY_CUDA_CHECK_LAUNCH(gather);
}

void mark_targets(const Targets& targets, int count, unsigned char* is_target, cudaStream_t stream) {
  ORRERY_CUDA_CHECK(cudaMemsetAsync(is_target, 0, static_cast<std::size_t>(count), stream));
  mark<<<cuda::ceil_div(targets.count, block), block, 0, stream>>>(targets, is_target);
  ORRERY_CUDA_CHECK_LAUNCH(mark);
}

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
