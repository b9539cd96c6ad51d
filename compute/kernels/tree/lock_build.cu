#include "compute/cuda/block.h"
#include "compute/cuda/launch.h"
#include "compute/kernels/tree/lock_kernels.h"
#include "compute/kernels/tree/tree_tunables.h"

namespace orrery {
namespace {

/// The bounding box ignores coordinates beyond this.
constexpr float farthest = 1e30f;

/// Returns the center of a cube around the box and, in w, half of its edge, > 0.
__device__ Vec4 cube_around(const cuda::Box& box) {
  const Vec3 &low = box.low, &high = box.high;
  if (!(low.x <= high.x)) return {0, 0, 0, 1};
  const Vec3 center{0.5f * (low.x + high.x), 0.5f * (low.y + high.y), 0.5f * (low.z + high.z)};
  const float edge = fmaxf(fmaxf(high.x - low.x, high.y - low.y), high.z - low.z);
  // The margin covers the rounding of the center. The minimum keeps the edge of the deepest cell above zero.
  const float rounding = 1e-6f * fmaxf(fmaxf(fabsf(center.x), fabsf(center.y)), fabsf(center.z));
  return {center.x, center.y, center.z, fmaxf(0.500001f * edge + rounding, 1e-28f)};
}

/// The values are >= 0. All threads of the block call it and get the result.
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

/// Makes an empty cell. `place`: the index of the place that will point to it, counted from cell 0's first.
__device__ void make_cell(const LockTree& tree, int cell, const Vec4& cube, int place) {
  const int4 empty = make_int4(LockTree::null, LockTree::null, LockTree::null, LockTree::null);
  auto* const places = reinterpret_cast<int4*>(tree.places_of(cell));
  places[0] = empty;
  places[1] = empty;
  tree.cubes[cell] = cube;
  tree.arrivals[cell] = 0;
  tree.first[cell] = ~place;
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

/// How far a body has descended in the tree: a cell, and the octant to enter next.
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

/// Makes the node for a place that bodies i and `other` share: cells down to the first that separates them, or a list
/// at the deepest level or if no cell is left. Returns the top node. Other threads cannot see it yet.
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

/// Tries to insert body i below `way`. Returns false if another thread changed or locked the place first: try again.
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

}  // namespace

void find_bounding_box(const LockTree& tree, const LockLaunch& launch) {
  bounding_box<<<launch.blocks, launch.block, 0, launch.stream>>>(tree);
  ORRERY_CUDA_CHECK_LAUNCH(bounding_box);
}

void insert_bodies(const LockTree& tree, bool throttled, const LockLaunch& launch) {
  (throttled ? insert_all<true> : insert_all<false>)<<<launch.blocks, launch.block, 0, launch.stream>>>(tree);
  ORRERY_CUDA_CHECK_LAUNCH(insert_all);
}

cudaKernel_t insert_bodies_function(bool throttled) {
  return cuda::kernel_handle(throttled ? insert_all<true> : insert_all<false>);
}

}  // namespace orrery
