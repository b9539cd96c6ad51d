#include <algorithm>
#include <cstddef>

#include "compute/cuda/launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tree/essential_trees.h"
#include "compute/kernels/tree/high_expansion.h"

namespace orrery {
namespace {

using cuda::all_lanes;
constexpr int lanes = 32;
/// Of a domain: stretches of bodies for which the walk notes how far cells are that it may open.
constexpr int stretches = 4096;

int stretch_length(const Octree& tree) {
  return cuda::ceil_div(tree.count, stretches);
}

/// The outline consists of the largest cells with at most this many bodies, or an equal part of all; where there is no
/// room for all of these, of larger ones. No group is in two of them.
constexpr int least_in_box = 32 * OctreeGroup::most;
constexpr int boxes_of_equal_bodies = 64;
constexpr int outline_block = 512;
constexpr int most_children = 8;
static_assert(outline_block == boxes_of_equal_bodies * most_children, "a thread for each child of a large cell");

/// The cells of an outline, found from the root down by one block.
struct OutlineCells {
  int large[2][boxes_of_equal_bodies];  ///< in turn: those of a row, and their large children
  int larges, boxes;
  int cells[DomainOutline::most];
  int begins[DomainOutline::most];

  __device__ static bool is_large(const Octree& tree, const OctreeLinks& cell) {
    return cell.children > 0 && cell.end - cell.begin > max(tree.count / boxes_of_equal_bodies, least_in_box);
  }
  __device__ void add(const OctreeLinks& links, int cell) {
    const int place = atomicAdd(&boxes, 1);
    cells[place] = cell;
    begins[place] = links.begin;
  }
  __device__ void find(const Octree& tree) {
    const auto thread = static_cast<int>(threadIdx.x);
    if (thread == 0) {
      const OctreeLinks root = tree.links[tree.first_cell];
      larges = boxes = 0;
      if (is_large(tree, root)) {
        large[0][larges++] = tree.first_cell;
      } else {
        add(root, tree.first_cell);
      }
    }
    for (int row = 0;; row ^= 1) {
      __syncthreads();
      const int in_row = larges;
      const bool have_room = boxes + most_children * in_row <= DomainOutline::most - boxes_of_equal_bodies;
      __syncthreads();
      if (in_row == 0) return;
      if (!have_room) {
        if (thread < in_row) add(tree.links[large[row][thread]], large[row][thread]);
        return __syncthreads();
      }
      if (thread == 0) larges = 0;
      __syncthreads();
      const int child = thread % most_children;
      if (thread / most_children >= in_row) continue;
      const OctreeLinks links = tree.links[large[row][thread / most_children]];
      if (child >= links.children) continue;
      const int cell = links.first_child + child;
      const OctreeLinks below = tree.links[cell];
      if (is_large(tree, below)) {
        large[row ^ 1][atomicAdd(&larges, 1)] = cell;
      } else {
        add(below, cell);
      }
    }
  }
  /// The place of a box in the order of the bodies.
  __device__ int place_of(int box) const {
    int place = 0;
    for (int other = 0; other < boxes; ++other) place += begins[other] < begins[box];
    return place;
  }
};

/// The greatest of the groups that begin among these bodies or near them; bodies have moved a bit since.
__device__ float reach_scale_of(const Octree& tree, const OctreeLinks& cell) {
  constexpr float change = 1.2f;  // from one evaluation to the next
  constexpr int shift = 4;        // of bodies in the order of their keys, in stretches; likewise
  const int first = (cell.begin - tree.first_body) / tree.stretch,
            last = (cell.end - 1 - tree.first_body) / tree.stretch;
  float scale = 0;
  for (int i = max(first - shift, 0); i <= min(last + shift, stretches - 1); ++i) {
    const float noted = tree.reach_scales[i];
    scale = noted >= 0 ? fmaxf(scale, noted) : INFINITY;
  }
  return scale > 0 ? change * scale : INFINITY;
}

/// One block.
__global__ void __launch_bounds__(outline_block)
    outline_domain(const __grid_constant__ Octree tree, bool knows_reach, DomainOutline* outline) {
  __shared__ OutlineCells found;
  const auto thread = static_cast<int>(threadIdx.x);
  found.find(tree);
  if (thread == 0) outline->boxes = found.boxes;
  for (int box = thread; box < found.boxes; box += outline_block) {
    const int cell = found.cells[box], place = found.place_of(box);
    Vec4 low = tree.low[cell];
    low.w = tree.tolerance == 0 ? 0 : knows_reach ? reach_scale_of(tree, tree.links[cell]) : INFINITY;
    outline->low[place] = low;
    outline->high[place] = tree.high[cell];
  }
  __syncthreads();
  for (int i = thread; i < stretches; i += outline_block) tree.reach_scales[i] = 0;
}

/// A domain's outline in shared memory. Its boxes are bundled, so that most tests end after the bundles.
struct Outlined {
  static constexpr int in_bundle = 16, most_bundles = DomainOutline::most / in_bundle;

  int boxes;
  Vec4 low[DomainOutline::most], high[DomainOutline::most];
  Vec4 bundle_low[most_bundles], bundle_high[most_bundles];

  /// All threads of a block call it.
  __device__ void load(const DomainOutline& outline) {
    const int thread = static_cast<int>(threadIdx.x), block = static_cast<int>(blockDim.x);
    if (thread == 0) boxes = outline.boxes;
    __syncthreads();
    for (int i = thread; i < boxes; i += block) {
      low[i] = outline.low[i];
      high[i] = outline.high[i];
    }
    __syncthreads();
    for (int bundle = thread; bundle * in_bundle < boxes; bundle += block) {
      Vec4 least = low[bundle * in_bundle], most = high[bundle * in_bundle];
      for (int i = bundle * in_bundle + 1; i < min((bundle + 1) * in_bundle, boxes); ++i) {
        least = {fminf(least.x, low[i].x), fminf(least.y, low[i].y), fminf(least.z, low[i].z),
                 fmaxf(least.w, low[i].w)};
        most = {fmaxf(most.x, high[i].x), fmaxf(most.y, high[i].y), fmaxf(most.z, high[i].z), 0};
      }
      bundle_low[bundle] = least;
      bundle_high[bundle] = most;
    }
    __syncthreads();
  }

  /// Whether a group in the box may open the cell: the test of the walk. Gives the same bits wherever it is called.
  __device__ static bool opens(const Vec4& low, const Vec4& high, const Vec4& test, float reach) {
    const float dx = fmaxf(fmaxf(low.x - test.x, test.x - high.x), 0),
                dy = fmaxf(fmaxf(low.y - test.y, test.y - high.y), 0),
                dz = fmaxf(fmaxf(low.z - test.z, test.z - high.z), 0);
    const float outside_sq = __fmaf_rn(dx, dx, __fmaf_rn(dy, dy, __fmul_rn(dz, dz)));
    return !(outside_sq >= fmaxf(test.w, __fmul_rn(reach, low.w)));
  }
  __device__ bool opens(const Vec4& test, float reach) const {
    for (int bundle = 0; bundle * in_bundle < boxes; ++bundle) {
      if (!opens(bundle_low[bundle], bundle_high[bundle], test, reach)) continue;
      for (int i = bundle * in_bundle; i < min((bundle + 1) * in_bundle, boxes); ++i) {
        if (opens(low[i], high[i], test, reach)) return true;
      }
    }
    return false;
  }
};

/// Calls use(i) for each i of the ranges [begin, begin + count) that the lanes of a warp have, a lane for each. All
/// lanes call it, those without an i with -1.
template <class Use>
__device__ void for_each_of_warp(int begin, int count, const Use& use) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int end = cuda::sum_up_to(count, lane), total = __shfl_sync(all_lanes, end, lanes - 1);
  for (int done = 0; done < total; done += lanes) {
    const int place = done + lane;
    int owner = 0;  // the first lane whose range does not end before this place
    for (int step = lanes / 2; step > 0; step /= 2) {
      if (__shfl_sync(all_lanes, end, owner + step - 1) <= place) owner += step;
    }
    const int i = __shfl_sync(all_lanes, begin - (end - count), owner) + place;
    use(place < total ? i : -1);
  }
}

struct Sending {
  Octree tree;
  TreePlaces to[most_devices];
  int receivers;
};

__device__ void send_cell(const Octree& tree, const TreePlaces& to, int cell, bool opened) {
  OctreeNode node = tree.nodes[cell];
  Vec4 test = tree.tests[cell];
  if (!opened) {
    node = {0, 0, 0, 0};
    test.w = 0;
  }
  to.nodes[cell] = node;
  to.tests[cell] = test;
  to.moments_a[cell] = tree.moments_a[cell];
  to.moments_b[cell] = tree.moments_b[cell];
  if (!tree.high_moments) return;
  const std::size_t first = static_cast<std::size_t>(cell) * high::stored_vectors;
  for (int i = 0; i < high::stored_vectors; ++i) to.high_moments[first + i] = tree.high_moments[first + i];
}

constexpr int send_block = 1024;  // few blocks, since each reads an outline from another device

/// Each block sends to one receiver; neighbouring blocks to different ones.
__global__ void __launch_bounds__(send_block) send_needed(const __grid_constant__ Sending sending) {
  // Raw bytes, because Vec4 would be initialized to zero.
  alignas(Outlined) __shared__ unsigned char space[sizeof(Outlined)];
  Outlined& outlined = reinterpret_cast<Outlined&>(space);
  const auto block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x) / sending.receivers;
  const Octree& tree = sending.tree;
  const TreePlaces& to = sending.to[block % sending.receivers];
  outlined.load(*to.outline);
  const auto opens = [&](int cell) { return outlined.opens(tree.tests[cell], tree.nodes[cell].reach); };
  const auto send = [&](int cell) {
    const bool opened = cell >= 0 && opens(cell);
    const OctreeLinks links = opened ? tree.links[cell] : OctreeLinks{};
    if (cell >= 0) send_cell(tree, to, cell, opened);
    for_each_of_warp(links.begin, links.children == 0 ? links.end - links.begin : 0, [&](int body) {
      if (body >= 0) to.bodies[body] = tree.bodies[body];
    });
  };
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % lanes, end = tree.state->row_begin[tree.state->rows];
  for (int first = tree.first_cell + (block / sending.receivers * send_block + thread) / lanes * lanes; first < end;
       first += blocks * send_block) {
    const int cell = first + lane;
    if (first == tree.first_cell) for_each_of_warp(cell, lane == 0 ? 1 : 0, send);
    const OctreeLinks links = cell < end ? tree.links[cell] : OctreeLinks{};
    for_each_of_warp(links.first_child, links.children > 0 && opens(cell) ? links.children : 0, send);
  }
}

}  // namespace

void EssentialTrees::prepare(int index) {
  index_ = index;
  forget();
  const auto take = [this](auto& array, std::size_t size) {
    take_scratch(device_, array, size, "cuda-tree: the outlines", "fewer bodies");
  };
  take(outline_, 1);
  take(reach_scales_, stretches);
}

void EssentialTrees::connect(std::span<const EssentialTrees* const> all, std::span<const Octree* const> trees) {
  others_ = static_cast<int>(all.size()) - 1;
  for (int i = 0; i < others_; ++i) {
    const std::size_t other = static_cast<std::size_t>(index_ + 1 + i) % all.size();
    const Octree& tree = *trees[other];
    to_[i] = {.outline = all[other]->outline_.data(),
              .bodies = tree.bodies,
              .nodes = tree.nodes,
              .tests = tree.tests,
              .moments_a = tree.moments_a,
              .moments_b = tree.moments_b,
              .high_moments = tree.high_moments};
  }
}

void EssentialTrees::note_in(Octree& tree) const {
  tree.stretch = stretch_length(tree);
  tree.reach_scales = reach_scales_.data();
}

void EssentialTrees::outline(const Octree& tree, cudaStream_t stream) {
  outline_domain<<<1, outline_block, 0, stream>>>(tree, knows_reach_, outline_.data());
  ORRERY_CUDA_CHECK_LAUNCH(outline_domain);
  knows_reach_ = true;
}

void EssentialTrees::send(const Octree& tree, cudaStream_t stream) const {
  Sending sending{.tree = tree, .to = {}, .receivers = others_};
  std::copy_n(to_, others_, sending.to);
  const int resident = std::max(device_.multiprocessors() / others_, 1),
            useful = cuda::ceil_div(tree.end_cell - tree.first_cell, send_block);
  send_needed<<<std::min(resident, useful) * others_, send_block, 0, stream>>>(sending);
  ORRERY_CUDA_CHECK_LAUNCH(send_needed);
}

}  // namespace orrery
