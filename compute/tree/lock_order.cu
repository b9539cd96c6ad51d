#include "compute/cuda/error.h"
#include "compute/tree/lock_kernels.h"

namespace orrery {
namespace {

constexpr unsigned all_lanes = 0xffffffff;
/// Eight lanes have a cell's eight places; a warp claims four cells at a time, and so often.
constexpr int cells_a_warp = 4, rounds_a_claim = 8;

/// Calls visit(item) with the number in claimed order of the cell that this lane's group of eight has, or with -1 where
/// there is none, until all are claimed. A visit may wait for cells before its own, which may be in the same warp: so
/// its groups must not wait for each other.
template <class Visit>
__device__ void for_claimed(int* claimed, int cells, Visit visit) {
  const int group = static_cast<int>(threadIdx.x) % 32 / 8;
  for (;;) {
    const int first = claim(claimed, cells_a_warp * rounds_a_claim);
    if (first >= cells) return;
    for (int round = 0; round < rounds_a_claim; ++round) {
      const int item = first + round * cells_a_warp + group;
      visit(item < cells ? item : -1);
    }
  }
}

template <class Number>
__device__ Number sum_of_group(Number value) {
  for (int distance = 4; distance > 0; distance /= 2) value += __shfl_xor_sync(all_lanes, value, distance);
  return value;
}

/// A list's center of mass and mass. `spread`: its bodies are not all in one point. The center counts from the first
/// body, so that it is exact where they are.
struct List {
  Vec4 center;
  int bodies = 0;
  bool spread = false;

  __device__ List(const LockTree& tree, int head) {
    const Vec4 origin = tree.bodies[head];
    Vec4 sum;
    for (int i = head; i != LockTree::null; i = tree.next[i]) {
      const Vec4 body = tree.bodies[i];
      const float x = body.x - origin.x, y = body.y - origin.y, z = body.z - origin.z;
      spread |= !(x == 0 && y == 0 && z == 0);
      sum = {sum.x + body.w * x, sum.y + body.w * y, sum.z + body.w * z, sum.w + body.w};
      ++bodies;
    }
    center = {origin.x + sum.x / sum.w, origin.y + sum.y / sum.w, origin.z + sum.z / sum.w, sum.w};
  }
};

__device__ Vec4 observed_center(const LockTree& tree, int cell) {
  const float4 center = __ldcg(reinterpret_cast<const float4*>(tree.centers + cell));
  return {center.x, center.y, center.z, center.w};
}

/// A cell needs its children, which have higher numbers: the highest are claimed first.
__global__ void sum_all(const __grid_constant__ LockTree tree) {
  const int lane = static_cast<int>(threadIdx.x) % 8, group = static_cast<int>(threadIdx.x) % 32 / 8;
  const int cells = tree.cells();
  for_claimed(&tree.counters->summed, cells, [&](int item) {
    const int cell = item < 0 ? -1 : cells - 1 - item;
    int* const place = cell < 0 ? nullptr : tree.places_of(cell) + lane;
    const int node = place ? *place : LockTree::null;
    const int child = node - tree.count;

    Vec4 center;
    int bodies = 0;
    if (node <= LockTree::last_list) {
      const List list{tree, tree.head(node)};
      center = list.center;
      bodies = list.bodies;
      if (!list.spread) *place = tree.head(node);  // which the walk takes for one body
    } else if (child < 0 && node != LockTree::null) {
      center = tree.bodies[node];
      bodies = 1;
    }

    const unsigned nodes = __ballot_sync(all_lanes, node != LockTree::null) >> (8 * group) & 0xff;
    const int first_lane = 8 * group + max(__ffs(static_cast<int>(nodes)) - 1, 0);
    bool missing = child >= 0, done = cell < 0;
    do {
      if (missing && observed(tree.bodies_in + child) > 0) {
        __threadfence();  // the number came after the center
        center = observed_center(tree, child);
        bodies = observed(tree.bodies_in + child);
        missing = false;
      }
      const bool complete = (__ballot_sync(all_lanes, missing) >> (8 * group) & 0xff) == 0;
      if (__any_sync(all_lanes, complete && !done)) {
        // From one of the nodes, so that the center of bodies in one point is exact: they must not pull each other.
        const Vec3 origin{__shfl_sync(all_lanes, center.x, first_lane), __shfl_sync(all_lanes, center.y, first_lane),
                          __shfl_sync(all_lanes, center.z, first_lane)};
        const float mass = sum_of_group(center.w);
        const Vec3 sum{sum_of_group(center.w * (center.x - origin.x)), sum_of_group(center.w * (center.y - origin.y)),
                       sum_of_group(center.w * (center.z - origin.z))};
        const int all_bodies = sum_of_group(bodies);
        if (complete && !done) {
          tree.members[8 * cell + lane] = center;
          if (lane == 0) {
            tree.centers[cell] = {origin.x + sum.x / mass, origin.y + sum.y / mass, origin.z + sum.z / mass, mass};
            __threadfence();
            publish(tree.bodies_in + cell, all_bodies);
          }
          done = true;
        }
      }
    } while (!__all_sync(all_lanes, done));
  });
}

/// A cell needs where its parent begins, which has a lower number: the lowest are claimed first.
__global__ void sort_all(const __grid_constant__ LockTree tree) {
  const int lane = static_cast<int>(threadIdx.x) % 8;
  for_claimed(&tree.counters->sorted, tree.cells(), [&](int cell) {
    const int node = cell < 0 ? LockTree::null : tree.places_of(cell)[lane];
    const int child = node - tree.count;
    int bodies = 0;
    if (child >= 0) {
      bodies = tree.bodies_in[child];
    } else if (node != LockTree::null) {
      for (int i = tree.head(node); i != LockTree::null; i = tree.next[i]) ++bodies;
    }
    int after = bodies;  // in this place and those before it
    for (int distance = 1; distance < 8; distance *= 2) {
      const int others = __shfl_up_sync(all_lanes, after, distance, 8);
      if (lane >= distance) after += others;
    }

    bool done = cell < 0;
    do {
      const int first = done ? -1 : observed(tree.first + cell);
      if (first < 0) continue;
      int at = first + after - bodies;
      if (child >= 0) {
        publish(tree.first + child, at);
      } else if (node != LockTree::null) {
        for (int i = tree.head(node); i != LockTree::null; i = tree.next[i], ++at) {
          tree.order[at] = i;
          tree.sorted[at] = tree.bodies[i];
        }
      }
      done = true;
    } while (!__all_sync(all_lanes, done));
  });
}

}  // namespace

void sum_cells(const LockTree& tree, const LockLaunch& launch) {
  sum_all<<<launch.blocks, launch.block, 0, launch.stream>>>(tree);
  ORRERY_CUDA_CHECK_LAUNCH(sum_all);
}

void sort_bodies(const LockTree& tree, const LockLaunch& launch) {
  sort_all<<<launch.blocks, launch.block, 0, launch.stream>>>(tree);
  ORRERY_CUDA_CHECK_LAUNCH(sort_all);
}

const void* sum_cells_function() {
  return reinterpret_cast<const void*>(sum_all);
}

const void* sort_bodies_function() {
  return reinterpret_cast<const void*>(sort_all);
}

}  // namespace orrery
