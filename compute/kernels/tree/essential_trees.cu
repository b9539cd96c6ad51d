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
  const auto unit = static_cast<float>(TreeUnits{tree.state->cube}.acceleration_exponent());
  const float power = tree.far == FarField::monopole ? 0.5f : 0.4f;
  return scale > 0 ? change * scale * exp2f(power * unit) : INFINITY;
}

/// One block. `knows_reach`: the notes are those of a walk of all groups, or more. `forgets`: the next walk makes them
/// anew.
__global__ void __launch_bounds__(outline_block)
    outline_domain(const __grid_constant__ Octree tree, bool knows_reach, bool forgets, DomainOutline* outline) {
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
  if (!forgets) return;
  __syncthreads();
  for (int i = thread; i < stretches; i += outline_block) tree.reach_scales[i] = 0;
}

#include "compute/kernels/tree/outlined_domain.inl"

struct Sending {
  Octree tree;
  TreePlaces to[most_devices];
  int receivers;
};

/// Writes into another device's arrays.
struct SendToPlaces {
  const Octree& tree;
  const TreePlaces& to;

  __device__ void cell(int cell, bool opened) const {
    if (cell < 0) return;
    const SentCell sent{tree, cell, opened};
    to.nodes[cell] = sent.node;
    to.tests[cell] = sent.test;
    to.moments_a[cell] = tree.moments_a[cell];
    to.moments_b[cell] = tree.moments_b[cell];
    if (!tree.high_moments) return;
    const std::size_t first = static_cast<std::size_t>(cell) * high::stored_vectors;
    for (int i = 0; i < high::stored_vectors; ++i) to.high_moments[first + i] = tree.high_moments[first + i];
  }
  __device__ void body(int body) const {
    if (body >= 0) to.bodies[body] = tree.bodies[body];
  }
};

/// Each block sends to one receiver; neighbouring blocks to different ones.
__global__ void __launch_bounds__(send_block) send_to_places(const __grid_constant__ Sending sending) {
  const auto block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x) / sending.receivers;
  const TreePlaces& to = sending.to[block % sending.receivers];
  send_needed(sending.tree, *to.outline, block / sending.receivers, blocks, SendToPlaces{sending.tree, to});
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

void EssentialTrees::connect(std::span<const EssentialTrees* const> all, std::span<const Octree> arrays) {
  others_ = static_cast<int>(all.size()) - 1;
  for (int i = 0; i < others_; ++i) {
    const std::size_t other = static_cast<std::size_t>(index_ + 1 + i) % all.size();
    const Octree& at = arrays[other];
    to_[i] = {.outline = all[other]->outline_.data(),
              .bodies = at.bodies,
              .nodes = at.nodes,
              .tests = at.tests,
              .moments_a = at.moments_a,
              .moments_b = at.moments_b,
              .high_moments = at.high_moments};
  }
}

void EssentialTrees::note_in(Octree& tree) const {
  tree.stretch = stretch_length(tree);
  tree.reach_scales = reach_scales_.data();
}

void EssentialTrees::outline(const Octree& tree, bool walks_all, cudaStream_t stream) {
  const bool forgets = walks_all || !knows_reach_;
  outline_domain<<<1, outline_block, 0, stream>>>(tree, knows_reach_, forgets, outline_.data());
  ORRERY_CUDA_CHECK_LAUNCH(outline_domain);
  knows_reach_ |= walks_all;
}

void EssentialTrees::send(const Octree& tree, cudaStream_t stream) const {
  Sending sending{.tree = tree, .to = {}, .receivers = others_};
  std::copy_n(to_, others_, sending.to);
  send_to_places<<<send_blocks(device_, tree, others_), send_block, 0, stream>>>(sending);
  ORRERY_CUDA_CHECK_LAUNCH(send_to_places);
}

}  // namespace orrery
