#include <climits>

#include "compute/cuda/launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/tree/lock_kernels.h"
#include "compute/kernels/tree/tree_tunables.h"

namespace orrery {
namespace {

constexpr int warp = 32;
using cuda::all_lanes;

/// A cell's eight places. If `cell` < 0, all are null.
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

/// The center of mass, relative to the first node with a mass. If all nodes coincide, it is exact, so they do not pull
/// each other. Without a mass, it is a point anywhere.
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

/// What a thread can sum in a cell without waiting: its bodies, which it stores in the cell's members.
struct Found {
  int bodies = 0, cells = 0;
  Center center;  ///< of the bodies

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

/// Returns the center of members that other threads stored: reads them past the L1 cache.
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

/// No thread waits for another. The thread that adds the last part of a cell (its bodies or a child cell) computes the
/// cell's center and continues with its parent.
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

/// The number of bodies in each place of a cell.
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

/// A cell as a thread of sort_all holds it, or no cell.
struct SortedCell {
  int cell;  ///< < 0: none
  Places places;
  Vec4 nodes[8];  ///< of the places with one body
  Numbers numbers;

  __device__ __forceinline__ SortedCell(const LockTree& tree, int sorted_cell)
      : cell{sorted_cell}, places{tree, cell}, nodes{}, numbers{read_nodes(tree)} {}

  /// Publishes the offset of each child cell, if this cell begins at `begin`. Publishes all before other work, since
  /// other threads wait for them.
  __device__ __forceinline__ void publish_begins(const LockTree& tree, int begin) const {
    int at = begin;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if (places.nodes[k] >= tree.count) publish(tree.first + (places.nodes[k] - tree.count), at);
      at += numbers.bodies[k];
    }
  }

  /// Stores the cell's own bodies in the range that begins at `begin`. The bodies of child cells lie between them.
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

/// Waits for the cell's offset from its parent, then publishes the offsets of its children. Returns the offset; 0 for
/// no cell. The lanes of a warp wait in one loop, since one lane's cell may be the parent of another's.
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
/// offset; the parent has a lower number, so a running warp has claimed it.
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

}  // namespace

void sum_cells(const LockTree& tree, const LockLaunch& launch) {
  sum_all<<<launch.blocks, launch.block, 0, launch.stream>>>(tree);
  ORRERY_CUDA_CHECK_LAUNCH(sum_all);
}

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

}  // namespace orrery
