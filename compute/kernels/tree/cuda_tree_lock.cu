#include <cuda_runtime_api.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/law.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/block.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tree/cuda_tree_lock.h"
#include "compute/kernels/tree/tree_report.h"
#include "compute/kernels/tree/tree_tunables.h"

namespace orrery {
namespace {

using cuda::all_lanes;
constexpr int warp = 32;
static_assert(LockTree::max_level < CellPicker::most_levels);

struct LockLaunch {
  int blocks;
  int block;  ///< threads, a multiple of 32
  cudaStream_t stream;
};

/// The bounding box ignores bodies with a coordinate beyond this magnitude.
constexpr float farthest = 1e30f;

/// Returns the center of a cube around the box and, in w, half of its edge, > 0.
__device__ Vec4 cube_around(const cuda::Box& box) {
  const Vec3 &low = box.low, &high = box.high;
  if (!(low.x <= high.x)) return {0, 0, 0, 1};
  const Vec3 center{0.5f * (low.x + high.x), 0.5f * (low.y + high.y), 0.5f * (low.z + high.z)};
  const float edge = fmaxf(fmaxf(high.x - low.x, high.y - low.y), high.z - low.z);
  // The margin covers the rounding of the center. The minimum keeps the edge of the deepest cell above zero. Bodies in
  // one point get a cube of usual size: in units of a tiny one, the repulsion would not be finite.
  const float rounding = 1e-6f * fmaxf(fmaxf(fabsf(center.x), fabsf(center.y)), fabsf(center.z));
  return {center.x, center.y, center.z, edge > 0 ? fmaxf(0.500001f * edge + rounding, 1e-28f) : fmaxf(1, rounding)};
}

/// Returns the maximum over the block to all its threads, which must all call this. Values must be >= 0.
__device__ float greatest_of_block(float value) {
  __shared__ int greatest;
  if (threadIdx.x == 0) greatest = 0;
  __syncthreads();
  value = cuda::greatest_over(cuda::Warp{}, value);
  if (threadIdx.x % 32 == 0) atomicMax(&greatest, __float_as_int(value));
  __syncthreads();
  value = __int_as_float(greatest);
  __syncthreads();
  return value;
}

/// Makes an empty cell. `place`: the place that will point to it, as 8 * (parent cell) + octant.
__device__ void make_cell(const LockTree& tree, int cell, const Vec4& cube, int place) {
  const int4 empty = make_int4(LockTree::null, LockTree::null, LockTree::null, LockTree::null);
  auto* const places = reinterpret_cast<int4*>(tree.places_of(cell));
  places[0] = empty;
  places[1] = empty;
  tree.cubes[cell] = cube;
  tree.arrivals[cell] = 0;
  tree.first[cell] = ~place;
}

/// Number of cells that one pass of the inner loop tests.
constexpr int unroll = 4;

/// The eight places of a cell. If `cell` < 0, all are null.
struct Places {
  int nodes[8];

  __device__ Places(const LockTree& tree, int cell) {
    int4 lower = make_int4(LockTree::null, LockTree::null, LockTree::null, LockTree::null), upper = lower;
    if (cell >= 0) {
      const auto* const places = reinterpret_cast<const int4*>(tree.places_of(cell));
      lower = places[0];
      upper = places[1];
    }
    const int read[8] = {lower.x, lower.y, lower.z, lower.w, upper.x, upper.y, upper.z, upper.w};
#pragma unroll
    for (int k = 0; k < 8; ++k) nodes[k] = read[k];
  }
};

/// Number of bodies in each place of a cell.
struct Numbers {
  int bodies[8];

  __device__ Numbers(const LockTree& tree, int cell, const Places& places) {
    int sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int node = places.nodes[k];
      bodies[k] = node >= tree.count ? tree.bodies_in(node - tree.count) : node != LockTree::null ? 1 : 0;
      sum += bodies[k];
    }
    if (cell < 0 || sum == tree.bodies_in(cell)) return;
#pragma unroll
    for (int k = 0; k < 8; ++k) {  // the cell has lists: count their bodies
      const int node = places.nodes[k];
      if (node == LockTree::null || node >= tree.count) continue;
      bodies[k] = 0;
      for (int i = tree.head(node); i != LockTree::null; i = tree.next[i]) ++bodies[k];
    }
  }
};

/// A thread's cell in sort_all, or no cell.
struct SortedCell {
  int cell;  ///< < 0: none
  Places places;
  Vec4 nodes[8];  ///< nodes in the places with one body
  Numbers numbers;

  __device__ __forceinline__ SortedCell(const LockTree& tree, int sorted_cell)
      : cell{sorted_cell}, places{tree, cell}, nodes{}, numbers{read_nodes(tree)} {}

  /// Publishes the offset of each child cell, if this cell begins at `begin`. Call this before other work, because
  /// other threads wait for the offsets.
  __device__ __forceinline__ void publish_begins(const LockTree& tree, int begin) const {
    int at = begin;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if (places.nodes[k] >= tree.count) publish(tree.first + (places.nodes[k] - tree.count), at);
      at += numbers.bodies[k];
    }
  }

  /// Stores the cell's own bodies in its range, which begins at `begin`. The bodies of child cells lie between them.
  __device__ __forceinline__ void store_bodies(const LockTree& tree, int begin) const {
    int at = begin;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int node = places.nodes[k];
      if (numbers.bodies[k] == 1 && node < tree.count) {
        tree.order[at] = node;
        tree.sorted[at] = nodes[k];
      } else if (node != LockTree::null && node < tree.count) {
        int to = at;
        for (int i = tree.head(node); i != LockTree::null; i = tree.next[i], ++to) {
          tree.order[to] = i;
          tree.sorted[to] = tree.units().of_body(tree.bodies[i]);
        }
      }
      at += numbers.bodies[k];
    }
  }

 private:
  /// Issues all loads before the first value is used.
  __device__ __forceinline__ Numbers read_nodes(const LockTree& tree) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if (places.nodes[k] >= 0 && places.nodes[k] < tree.count) nodes[k] = tree.members[8 * cell + k];
    }
    return {tree, cell, places};
  }
};

/// Waits until the parent has published the cell's offset, then publishes the offsets of the children. Returns the
/// offset, or 0 for no cell. The lanes of a warp wait in one loop, since one lane's cell may be the parent of
/// another's.
__device__ __forceinline__ int wait_for_begin(const LockTree& tree, const SortedCell& cell) {
  int begin = cell.cell < 0 ? 0 : -1;
  while (__any_sync(all_lanes, begin < 0)) {
    if (begin >= 0) continue;
    begin = observed(tree.first + cell.cell);
    if (begin >= 0) cell.publish_begins(tree, begin);
  }
  return begin;
}

/// Stores the bodies in the order of the tree. Threads claim cells from the root on. A cell waits for its parent's
/// offset; the parent has a lower index, so a running warp has claimed it.
__global__ __launch_bounds__(max_tree_block) void sort_all(const __grid_constant__ LockTree tree) {
  const int lane = static_cast<int>(threadIdx.x) % warp, cells = tree.cells();
  for (;;) {
    const int first_claimed = claim(&tree.counters->sorted, warp);
    if (first_claimed >= cells) return;
    const SortedCell cell{tree, first_claimed + lane < cells ? first_claimed + lane : -1};
    const int begin = wait_for_begin(tree, cell);
    cell.store_bodies(tree, begin);
  }
}

/// Center of mass, computed relative to the first node with a mass. It is exact if all nodes coincide, so that they do
/// not pull each other. Without mass, it is arbitrary.
class Center {
 public:
  __device__ void add(const Vec4& node) {
    if (mass_ == 0) origin_ = {node.x, node.y, node.z};
    moment_ = {moment_.x + node.w * (node.x - origin_.x), moment_.y + node.w * (node.y - origin_.y),
               moment_.z + node.w * (node.z - origin_.z)};
    mass_ += node.w;
  }
  __device__ Vec4 get() const {
    if (mass_ == 0) return {origin_.x, origin_.y, origin_.z, 0};
    return {origin_.x + moment_.x / mass_, origin_.y + moment_.y / mass_, origin_.z + moment_.z / mass_, mass_};
  }

 private:
  Vec3 origin_, moment_;
  float mass_ = 0;
};

/// Stores the centers of a cell's lists in its members. Returns the number of bodies in these lists.
__device__ int sum_lists(const LockTree& tree, const TreeUnits& units, int cell) {
  int bodies = 0;
#pragma unroll 1
  for (int k = 0; k < 8; ++k) {
    int* const place = tree.places_of(cell) + k;
    if (*place > LockTree::last_list) continue;
    const int head = tree.head(*place);
    const Vec4 origin = tree.bodies[head];
    Center center;
    bool spread = false;
    for (int i = head; i != LockTree::null; i = tree.next[i], ++bodies) {
      const Vec4 body = tree.bodies[i];
      spread |= !(body.x == origin.x && body.y == origin.y && body.z == origin.z);
      center.add(units.of_body(body));
    }
    tree.members[8 * cell + k] = center.get();
    if (!spread) *place = head;  // the bodies coincide: the walk treats them as one
  }
  return bodies;
}

/// Sums over a cell's own bodies, which need no waiting. The thread also stores these bodies in the cell's members.
struct Found {
  int bodies = 0, cells = 0;
  Center center;  ///< center of mass of the bodies

  __device__ Found(const LockTree& tree, const TreeUnits& units, int cell) {
    const Places places{tree, cell};
    int least = INT_MAX;
#pragma unroll
    for (const int node : places.nodes) least = min(least, node);
    if (least <= LockTree::last_list) bodies = sum_lists(tree, units, cell);

    Vec4 nodes[8];  // all loads are issued before the first value is used
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int node = places.nodes[k];
      const Vec4* const read = node >= 0 ? tree.bodies + node : tree.members + (8 * cell + k);
      if (node != LockTree::null && node < tree.count) nodes[k] = *read;
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int node = places.nodes[k];
      if (node >= tree.count) {
        ++cells;
        continue;
      }
      if (node >= 0) nodes[k] = units.of_body(nodes[k]);
      if (node >= 0) ++bodies;
      tree.members[8 * cell + k] = nodes[k];
      center.add(nodes[k]);
    }
  }
};

/// Returns the center of a cell's members. Other threads stored them, so the loads bypass the L1 cache.
__device__ Vec4 center_of_members(const LockTree& tree, int cell) {
  float4 members[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) members[k] = __ldcg(reinterpret_cast<const float4*>(tree.members + 8 * cell) + k);
  Center center;
#pragma unroll
  for (const float4& member : members) center.add({member.x, member.y, member.z, member.w});
  return center.get();
}

__device__ bool complete(unsigned long long arrivals) {
  return arrivals >> 32 == 0;
}

/// Computes the centers of all cells; no thread waits for another. The thread that adds the last part of a cell (its
/// bodies or a child cell) computes the cell's center and continues with its parent.
__global__ __launch_bounds__(max_tree_block) void sum_all(const __grid_constant__ LockTree tree) {
  const int cells = tree.cells();
  const TreeUnits units = tree.units();
  for (int taken = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); taken < cells;
       taken += static_cast<int>(gridDim.x * blockDim.x)) {
    int cell = taken;
    const Found found{tree, units, cell};
    auto arrivals = static_cast<unsigned long long>(found.cells) << 32 | static_cast<unsigned>(found.bodies);
    Vec4 center;
    if (found.cells == 0) {
      tree.arrivals[cell] = arrivals;
      center = found.center.get();
    } else {
      arrivals = meet(tree.arrivals + cell, arrivals);
      if (!complete(arrivals)) continue;
      center = center_of_members(tree, cell);
    }
    while (cell > 0) {
      const int place = ~tree.first[cell];
      tree.members[place] = center;
      cell = place / 8;
      constexpr auto one_cell = 1ull << 32;
      arrivals = meet(tree.arrivals + cell, arrivals - one_cell);
      if (!complete(arrivals)) break;
      center = center_of_members(tree, cell);
    }
  }
}

__global__ void __launch_bounds__(max_tree_block) bounding_box(const __grid_constant__ LockTree tree) {
  cuda::Box box;
  float mass = 0;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < tree.count;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    const Vec4 body = tree.bodies[i];
    const bool counts = fabsf(body.x) <= farthest && fabsf(body.y) <= farthest && fabsf(body.z) <= farthest;
    if (counts) box.add({body.x, body.y, body.z}, {body.x, body.y, body.z});
    mass = fmaxf(mass, body.w);
  }
  cuda::join_over_block(box);
  mass = greatest_of_block(mass);

  LockCounters& counters = *tree.counters;
  __shared__ bool last;
  if (threadIdx.x == 0) {
    counters.least[blockIdx.x] = {box.low.x, box.low.y, box.low.z, 0};
    counters.greatest[blockIdx.x] = {box.high.x, box.high.y, box.high.z, mass};
    __threadfence();
    last = atomicAdd(&counters.blocks_done, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int i = static_cast<int>(threadIdx.x); i < static_cast<int>(gridDim.x); i += static_cast<int>(blockDim.x)) {
    const float4 low = __ldcg(reinterpret_cast<const float4*>(&counters.least[i]));
    const float4 high = __ldcg(reinterpret_cast<const float4*>(&counters.greatest[i]));
    box.add({low.x, low.y, low.z}, {high.x, high.y, high.z});
    mass = fmaxf(mass, high.w);
  }
  cuda::join_over_block(box);
  mass = greatest_of_block(mass);
  if (threadIdx.x > 0) return;
  make_cell(tree, 0, cube_around(box), 0);
  tree.first[0] = 0;
  counters.mass = mass;
  counters.blocks_done = 0;
  counters.counts = {.interactions = 0, .cells = 1, .depth = 0};
  counters.sorted = counters.walked = 0;
}

/// Returns the octant of the cube that contains the point. A NaN coordinate counts as the lower half.
__device__ int octant(const Vec4& cube, const Vec4& point) {
  return (point.x > cube.x ? 1 : 0) + (point.y > cube.y ? 2 : 0) + (point.z > cube.z ? 4 : 0);
}

__device__ Vec4 part(const Vec4& cube, int octant) {
  const float half = 0.5f * cube.w;
  return {cube.x + (octant & 1 ? half : -half), cube.y + (octant & 2 ? half : -half),
          cube.z + (octant & 4 ? half : -half), half};
}

/// Position of a body during its descent in the tree: a cell, and the octant to enter next.
struct Way {
  int cell = 0;
  int level = 0;
  Vec4 cube;
  int part_taken = 0;

  __device__ void enter(int child) {
    cube = part(cube, part_taken);
    cell = child;
    ++level;
  }
};

/// Makes the node for a place that bodies i and `other` share. The node is a chain of cells down to the first that
/// separates them; or a list, at the deepest level or if no cell is left. Returns the top node, which other threads
/// cannot see yet.
__device__ int node_for_both(const LockTree& tree, Way& way, int i, const Vec4& body, int other) {
  const Vec4 other_body = tree.bodies[other];
  int result = LockTree::null;
  int* place = &result;
  for (;;) {
    const int cell = way.level < LockTree::max_level ? atomicAdd(&tree.counters->counts.cells, 1) : tree.most_cells;
    if (cell >= tree.most_cells) {
      tree.next[i] = other;
      *place = LockTree::last_list - i;
      return result;
    }
    const int place_in_tree = 8 * way.cell + way.part_taken;
    way.enter(cell);
    make_cell(tree, cell, way.cube, place_in_tree);
    *place = tree.count + cell;
    int* const places = tree.places_of(cell);
    way.part_taken = octant(way.cube, body);
    const int other_part = octant(way.cube, other_body);
    if (way.part_taken != other_part) {
      places[way.part_taken] = i;
      places[other_part] = other;
      return result;
    }
    place = places + way.part_taken;
  }
}

/// Tries to insert body i below `way`. Returns false if another thread changed or locked the place first; then call
/// again.
__device__ bool insert(const LockTree& tree, Way& way, int i, const Vec4& body) {
  int* place;
  int found;
  for (;;) {
    way.part_taken = octant(way.cube, body);
    place = tree.places_of(way.cell) + way.part_taken;
    found = acquired(place);
    if (found < tree.count) break;
    way.enter(found - tree.count);
  }
  if (found == LockTree::null) return atomicCAS(place, LockTree::null, i) == LockTree::null;
  if (found <= LockTree::last_list) {  // a list stays a list, so it needs no lock
    tree.next[i] = LockTree::last_list - atomicExch(place, LockTree::last_list - i);
    return true;
  }
  if (found == LockTree::locked || atomicCAS(place, found, LockTree::locked) != found) return false;
  const int node = node_for_both(tree, way, i, body, found);
  release(place, node);  // unlocks the place; the new cells are visible first
  return true;
}

template <bool throttled>
__global__ void insert_all(const __grid_constant__ LockTree tree) {
  __shared__ int deepest;
  if (threadIdx.x == 0) deepest = 0;
  __syncthreads();

  const int stride = static_cast<int>(gridDim.x * blockDim.x);
  int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  int level = 0;
  bool begins = true;
  Vec4 body;
  Way way;
  for (;;) {
    if (i < tree.count) {
      if (begins) {
        body = tree.bodies[i];
        tree.next[i] = LockTree::null;
        way = {.cube = tree.cubes[0]};
      }
      begins = insert(tree, way, i, body);
      if (begins) {
        level = max(level, way.level);
        i += stride;
      }
    }
    if constexpr (throttled) {
      if (!__syncthreads_or(i < tree.count)) break;
    } else {
      if (i >= tree.count) break;
    }
  }

  atomicMax(&deepest, level);
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(&tree.counters->counts.depth, deepest);
}

// Kernels 1 to 5 of Zahran's lecture 13 at NYU (docs/literature.md). The caller launches the sixth, which updates the
// bodies. Each launch has separate parameters in constant memory, so trees on several streams do not share them.

/// Kernel 1: makes the root a cube around all bodies, and resets all counters. The cube ignores bodies with a
/// coordinate that is not finite or beyond 1e30; these go to a cell at the border. Launch at most
/// LockCounters::most_boxes blocks.
void find_bounding_box(const LockTree& tree, const LockLaunch& launch) {
  bounding_box<<<launch.blocks, launch.block, 0, launch.stream>>>(tree);
  ORRERY_CUDA_CHECK_LAUNCH(bounding_box);
}

/// Kernel 2: inserts every body. If `throttled`, the threads of a block wait for each other after each attempt.
void insert_bodies(const LockTree& tree, bool throttled, const LockLaunch& launch) {
  (throttled ? insert_all<true> : insert_all<false>)<<<launch.blocks, launch.block, 0, launch.stream>>>(tree);
  ORRERY_CUDA_CHECK_LAUNCH(insert_all);
}

/// Returns the function that insert_bodies() launches, for occupancy queries.
cudaKernel_t insert_bodies_function(bool throttled) {
  return cuda::kernel_handle(throttled ? insert_all<true> : insert_all<false>);
}

/// Kernel 3: computes each cell's center of mass, mass and number of bodies, from the leaves up.
void sum_cells(const LockTree& tree, const LockLaunch& launch) {
  sum_all<<<launch.blocks, launch.block, 0, launch.stream>>>(tree);
  ORRERY_CUDA_CHECK_LAUNCH(sum_all);
}

/// Kernel 4: sorts the bodies in the order of the tree, from the root down.
void sort_bodies(const LockTree& tree, const LockLaunch& launch) {
  sort_all<<<launch.blocks, launch.block, 0, launch.stream>>>(tree);
  ORRERY_CUDA_CHECK_LAUNCH(sort_all);
}

cudaKernel_t sum_cells_function() {
  return cuda::kernel_handle(sum_all);
}

cudaKernel_t sort_bodies_function() {
  return cuda::kernel_handle(sort_all);
}

/// Number of cells that a warp opens at once, eight lanes each.
constexpr int most_opened = warp / 8;

constexpr int padded(int cells) {
  return (cells + unroll - 1) / unroll * unroll;
}

/// Shared memory of one warp.
struct WarpWalk {
  /// Number of stack entries. Opening one cell adds at most 7 entries net per level; opening four adds at most 28.
  static constexpr int room = 392;
  static constexpr int single_from = room - 7 * LockTree::max_level - 7 * most_opened;  // above this height, one cell
                                                                                        // is opened at a time

  /// Members of the opened cells: first cells and lists, padded to a multiple of `unroll`, then bodies.
  Vec4 nodes[warp + unroll];
  Vec4 reach_sq[warp / unroll];  ///< squared reach of cells and lists, plus eps^2: nearer bodies open them
  unsigned links[warp];          ///< stack entry of each cell, node of each list
  unsigned stack[room];          ///< cells to open: the index, and the level above LockTree::cell_bits
};
static_assert(sizeof(WarpWalk) % warp == 0 && WarpWalk::single_from > warp && unroll == 4);
/// Bytes of dynamic shared memory that a walk needs per thread.
constexpr std::size_t walk_bytes_per_thread = sizeof(WarpWalk) / warp;

__device__ int lanes_before(unsigned lanes, int lane) {
  return __popc(lanes & ((1u << lane) - 1));
}

/// Adds the pulls of all bodies of a list to `sum`. Returns their number.
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
  Vec4 center;  ///< center of mass, and the mass in w
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

/// Returns the acceleration of each lane's body. Adds the number of nodes that the warp evaluated to `met`.
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

/// Walks the tree for all bodies. Warps claim 32 neighbouring bodies at a time.
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

/// Kernel 5: stores the accelerations in tree.sorted. A cell counts as one body if its edge is less than `theta` times
/// the distance of its center of mass from every body of the warp.
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

constexpr const char* theta_values[] = {"0.3", "0.4", "0.5", "0.6", "0.75", "1.0"};
constexpr Values<32, 64, 128, 256, 512> walk_block_values;
constexpr Values<true, false> throttle_values{"barrier", "none"};  // whether threads wait

constexpr Tunable tunables[] = {
    {.name = "theta",
     .notes = "A cell counts as one body where its edge is less than this times its distance: less is more exact.",
     .values = theta_values,
     .initial = "0.5",
     .numbers = Range<double>{0.1, 1.0}},
    {.name = "throttle",
     .notes = "barrier: a block's threads wait for each other after each attempt to insert a body; none: they do not.",
     .values = throttle_values.names(),
     .initial = "barrier"},
    {.name = "box-block",
     .notes = "Threads in a block that looks for the bounding box.",
     .values = tree_block_values.names(),
     .initial = "512"},
    {.name = "build-block",
     .notes = "Threads in a block that inserts bodies.",
     .values = tree_block_values.names(),
     .initial = "256"},
    {.name = "summary-block",
     .notes = "Threads in a block that sums up cells.",
     .values = tree_block_values.names(),
     .initial = "256"},
    {.name = "sort-block",
     .notes = "Threads in a block that sorts bodies.",
     .values = tree_block_values.names(),
     .initial = "256"},
    {.name = "walk-block",
     .notes = "Threads in a block that walks the tree, 32 neighbouring bodies per warp.",
     .values = walk_block_values.names(),
     .initial = "128"},
    {.name = "update-block",
     .notes = "Threads in a block that hands bodies their accelerations.",
     .values = tree_block_values.names(),
     .initial = "256"},
};

constexpr const char* phases[] = {"bounding box", "build", "summary", "sort", "force", "update"};

/// The cells of the tree, for CellPicker.
struct LockCells {
  LockTree tree;

  __device__ int count() const { return tree.cells(); }
  __device__ int level(int i) const { return ilogbf(tree.cubes[0].w) - ilogbf(tree.cubes[i].w); }
  __device__ TreeCell cell(int i) const {
    const Vec4 cube = tree.cubes[i];
    return {.center = {cube.x, cube.y, cube.z}, .half_size = cube.w, .level = level(i)};
  }
};

class TreeLock final : public ForceKernel, public TreeFacet {
 public:
  TreeLock(const Settings& settings, const cuda::Device& device)
      : device_{device},
        theta_{theta(settings)},
        throttled_{throttle_values.find(settings.text("throttle"))},
        box_block_{settings.integer("box-block")},
        build_block_{settings.integer("build-block")},
        summary_block_{settings.integer("summary-block")},
        sort_block_{settings.integer("sort-block")},
        walk_block_{settings.integer("walk-block")},
        update_block_{settings.integer("update-block")} {
    const std::string what = "cuda-tree-lock " + settings.to_string();
    cuda::require_block_fits(device, what, insert_bodies_function(throttled_), build_block_);
    cuda::require_block_fits(device, what, sum_cells_function(), summary_block_);
    cuda::require_block_fits(device, what, sort_bodies_function(), sort_block_);
    for (const LawInfo& law : laws()) cuda::require_block_fits(device, what, walk_tree_function(law.law), walk_block_);
  }

  void prepare(int count) override {
    if (count > LockTree::most_bodies) {
      throw UsageError("cuda-tree-lock takes at most " + std::to_string(LockTree::most_bodies) +
                       " bodies; choose cuda-tree");
    }
    const auto take = [this](auto& array, std::size_t size, const char* what) {
      take_scratch(device_, array, size, std::string{"cuda-tree-lock: "} + what, "cuda-tree or fewer bodies");
    };
    if (evaluated_.count != count) evaluated_ = {};
    const auto cells = static_cast<std::size_t>(LockTree::room_for_cells(count));
    if (places_.size() < LockTree::places_for(count)) cleared_ = false;
    take(places_, LockTree::places_for(count), "the nodes' indices");
    take(cubes_, cells, "the cells' cubes");
    take(members_, 8 * cells, "the nodes' centres");
    take(arrivals_, cells, "the cells' counts");
    take(first_, cells, "the cells' first bodies");
    if (counters_.size() == 0) {
      take(counters_, 1, "the counters");
      cleared_ = false;
    }
  }

  void do_evaluate(const ForceArgs& args) override {
    prepare(args.count);
    const cudaStream_t stream = args.stream;
    if (!cleared_) {
      ORRERY_CUDA_CHECK(cudaMemsetAsync(counters_.data(), 0, sizeof(LockCounters), stream));
      // Needed only for compute-sanitizer. The thread that makes a cell clears its places. But initcheck does not
      // notice this for a thread that learns of the cell through a release store.
      ORRERY_CUDA_CHECK(cudaMemsetAsync(places_.data(), 0xff, places_.size() * sizeof(int), stream));
    }
    cleared_ = true;
    const LockTree tree = tree_of(args);
    log_.begin(args);
    const int boxes = std::min(cuda::ceil_div(args.count, box_block_),
                               std::min(2 * device_.multiprocessors(), LockCounters::most_boxes));
    find_bounding_box(tree, {boxes, box_block_, stream});
    log_.next_phase();
    insert_bodies(tree, throttled_, resident(insert_bodies_function(throttled_), build_block_, args.count, stream));
    log_.next_phase();
    sum_cells(tree, resident(sum_cells_function(), summary_block_, args.count, stream));
    log_.next_phase();
    sort_bodies(tree, resident(sort_bodies_function(), sort_block_, args.count, stream));
    log_.next_phase();
    const MainLaunch walk = main_launch(args.law, args.count, args.masses);
    walk_tree(tree, args.law, theta_, {walk.blocks, walk.block, stream});
    log_.finish(args, tree.sorted, tree.order, &tree.counters->counts, update_block_);  // kernel 6
    evaluated_ = tree;
  }

  MainLaunch main_launch(const Law& law, int count, const MassRange& /*masses*/) const override {
    const cudaKernel_t function = walk_tree_function(law.id);
    return {.function = function,
            .block = walk_block_,
            .blocks = resident(function, walk_block_, count, nullptr, walk_bytes_per_thread).blocks,
            .shared_per_thread = walk_bytes_per_thread};
  }

  TreeFacet* tree() override { return this; }
  std::optional<TreeReport> report() const override { return log_.report(); }

  void prepare_cells(const CellRequest& request, int count) override {
    picker_.prepare(std::min(request.most, LockTree::room_for_cells(count)));
  }
  void pick_cells(const CellRequest& request, CUstream_st* stream) override {
    if (evaluated_.count == 0) return picker_.forget();
    picker_.pick(LockCells{evaluated_}, std::min(request.most, evaluated_.most_cells), request.level, stream);
  }
  std::optional<PickedCells> cells() const override { return picker_.cells(); }

 private:
  LockTree tree_of(const ForceArgs& args) const {
    LockTree tree{.count = args.count,
                  .most_cells = LockTree::room_for_cells(args.count),
                  .bodies = args.bodies,
                  .counters = counters_.data(),
                  .cubes = cubes_.data(),
                  .members = members_.data(),
                  .arrivals = arrivals_.data(),
                  .first = first_.data()};
    tree.divide(places_.data());
    return tree;
  }

  /// Returns a launch with as many blocks as the GPU holds at once, or as `threads` need if that is fewer.
  LockLaunch resident(cudaKernel_t function, int block, long long threads, cudaStream_t stream,
                      std::size_t shared_per_thread = 0) const {
    const int blocks =
        cuda::resident_blocks(device_, function, block, shared_per_thread * static_cast<std::size_t>(block));
    const long long needed = (threads + block - 1) / block;
    return {static_cast<int>(std::min<long long>(needed, static_cast<long long>(blocks) * device_.multiprocessors())),
            block, stream};
  }

  const cuda::Device& device_;
  float theta_;
  bool throttled_;
  int box_block_, build_block_, summary_block_, sort_block_, walk_block_, update_block_;
  cuda::DeviceArray<int> places_, first_;
  cuda::DeviceArray<Vec4> cubes_, members_;
  cuda::DeviceArray<unsigned long long> arrivals_;
  cuda::DeviceArray<LockCounters> counters_;
  bool cleared_ = false;
  LockTree evaluated_;  // latest tree; count 0: none
  TreeLog log_{device_, phases};
  CellPicker picker_{device_};
};

}  // namespace

ORRERY_KERNEL(
    cuda_tree_lock, .id = "cuda-tree-lock", .title = "CUDA tree with locks",
    .notes =
        "Barnes-Hut in six kernels: threads insert bodies into one octree under locks, and far cells count as one "
        "body. "
        "With repulsion too, a far cell acts from its centre of mass by the law of one body.",
    .source = "M. Zahran, GPUs, lecture 13, Barnes-Hut in six kernels; Burtscher and Pingali's scheme",
    .lesson =
        "A tree needs few interactions, but its kernels read memory at random, lock and wait for each other, so every "
        "one of them is arranged around that. Sorted bodies let a warp walk as one: it reads a node once and votes.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 1e-2, .max = 1.0}, .repeatable = false,
    .is_tree = true, .full_fp32 = false, .create = create_kernel<TreeLock>);

}  // namespace orrery
