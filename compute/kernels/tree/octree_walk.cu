#include <algorithm>
#include <type_traits>

#include "compute/cuda/launch.h"
#include "compute/kernels/tree/octree_group_walk.h"

namespace orrery {
namespace {

using namespace group_walk;

/// A warp's share of a group, from 0 to Octree::split - 1.
struct GroupShare {
  int group, share;
};

/// Claims the next share of a group for this warp. Returns a group beyond the last if none is left.
__device__ __forceinline__ GroupShare take_share(const Octree& tree, bool leads) {
  const int taken = __shfl_sync(all_lanes, leads ? atomicAdd(&tree.state->next_share, 1) : 0, 0);
  if (tree.split == 1) return {taken, 0};
  return {taken / tree.split, taken % tree.split};
}

/// Blocks that a multiprocessor must hold: enough warps that one is ready in most cycles. 0: the compiler decides.
constexpr int least_blocks(FarField far) {
  return far == FarField::local ? 10 : far == FarField::high ? 6 : 0;
}

template <class PairLaw, FarField far>
__global__ void __launch_bounds__(walk_octree_block, least_blocks(far))
    walk_groups(const __grid_constant__ Octree tree, const __grid_constant__ Law law) {
  // Raw bytes, because Vec4 would be initialized to zero.
  alignas(WarpSpace<far>) __shared__ unsigned char spaces[warps_per_block * sizeof(WarpSpace<far>)];
  WarpSpace<far>& space = reinterpret_cast<WarpSpace<far>*>(spaces)[threadIdx.x / lanes];
  const bool leads = threadIdx.x % lanes == 0;
  unsigned long long interactions = 0;
  while (true) {
    const auto [group, share] = take_share(tree, leads);
    if (group >= tree.state->groups) break;
    const OctreeGroup bodies = tree.groups[group];
    const auto walk_with = [&, share = share](auto walk) {
      walk.walk();
      walk.store(share);
      interactions += walk.interactions(bodies.size());
    };
    if (bodies.end - bodies.begin > lanes) {
      walk_with(Walk<PairLaw, far, most_own_bodies>{tree, law, space, bodies, share});
    } else {
      walk_with(Walk<PairLaw, far, 1>{tree, law, space, bodies, share});
    }
  }
  if (leads) atomicAdd(&tree.state->found.interactions, interactions);
}

/// Counts the targets among bodies in the order of their keys.
__device__ int count_targets(const Octree& tree, const OctreeGroup& group, const unsigned char* is_target) {
  int targets = 0;
  for (int first = group.begin; first < group.end; first += lanes) {
    const int i = first + static_cast<int>(threadIdx.x) % lanes;
    targets += __popc(__ballot_sync(all_lanes, i < group.end && is_target[tree.order[i]]));
  }
  return targets;
}

/// Like walk_groups, but skips groups without targets. A group with targets walks as a whole, so that the pulls on a
/// body do not depend on the other targets. The order in which they are added does: the number of targets decides how
/// many warps share a group, and these add their sums in any order.
template <class PairLaw, FarField far>
__global__ void __launch_bounds__(walk_octree_block, least_blocks(far))
    walk_groups_with_targets(const __grid_constant__ Octree tree, const __grid_constant__ Law law,
                             const unsigned char* is_target) {
  alignas(WarpSpace<far>) __shared__ unsigned char spaces[warps_per_block * sizeof(WarpSpace<far>)];
  WarpSpace<far>& space = reinterpret_cast<WarpSpace<far>*>(spaces)[threadIdx.x / lanes];
  const bool leads = threadIdx.x % lanes == 0;
  unsigned long long interactions = 0;
  while (true) {
    const auto [group, share] = take_share(tree, leads);
    if (group >= tree.state->groups) break;
    const OctreeGroup bodies = tree.groups[group];
    const int targets = count_targets(tree, bodies, is_target);
    if (targets == 0) continue;
    const auto walk_with = [&, share = share](auto walk) {
      walk.walk();
      walk.store(share);
      interactions += walk.interactions(targets);
    };
    if (bodies.end - bodies.begin > lanes) {
      walk_with(Walk<PairLaw, far, most_own_bodies>{tree, law, space, bodies, share});
    } else {
      walk_with(Walk<PairLaw, far, 1>{tree, law, space, bodies, share});
    }
  }
  if (leads) atomicAdd(&tree.state->found.interactions, interactions);
}

/// Returns use(far), with the far field that the law's cells have as a constant: expansions are gravity's alone.
template <class PairLaw, class Use>
auto with_far_field(FarField far, const Use& use) {
  if constexpr (std::is_same_v<PairLaw, Gravity<float>>) {
    if (far == FarField::local) return use(std::integral_constant<FarField, FarField::local>{});
    if (far == FarField::high) return use(std::integral_constant<FarField, FarField::high>{});
  }
  if (far == FarField::monopole) return use(std::integral_constant<FarField, FarField::monopole>{});
  return use(std::integral_constant<FarField, FarField::quadrupole>{});
}

template <class PairLaw>
auto function_for(FarField far) {
  return with_far_field<PairLaw>(far, [](auto constant) { return walk_groups<PairLaw, decltype(constant)::value>; });
}
template <class PairLaw>
auto function_with_targets(FarField far) {
  return with_far_field<PairLaw>(
      far, [](auto constant) { return walk_groups_with_targets<PairLaw, decltype(constant)::value>; });
}

}  // namespace

cudaKernel_t walk_octree_function(LawId law, FarField far) {
  return law == LawId::attract_repel ? cuda::kernel_handle(function_for<AttractRepel<float>>(far))
                                     : cuda::kernel_handle(function_for<Gravity<float>>(far));
}

int walk_octree_blocks(const cuda::Device& device, LawId law, FarField far, int count, int split) {
  const int resident =
      law == LawId::attract_repel
          ? cuda::known_resident_blocks(device, function_for<AttractRepel<float>>(far), walk_octree_block)
          : cuda::known_resident_blocks(device, function_for<Gravity<float>>(far), walk_octree_block);
  const auto useful = static_cast<long long>(cuda::ceil_div(count, warps_per_block)) * split;  // groups of one body
  return static_cast<int>(std::min<long long>(resident * device.multiprocessors(), useful));
}

void walk_octree(const cuda::Device& device, const Octree& tree, const Law& law, const unsigned char* is_target,
                 cudaStream_t stream) {
  if (tree.split > 1) {
    const std::size_t bytes = static_cast<std::size_t>(tree.count) * sizeof *tree.accelerations;
    ORRERY_CUDA_CHECK(cudaMemsetAsync(tree.accelerations + tree.first_body, 0, bytes, stream));
  }
  const int blocks = walk_octree_blocks(device, law.id, tree.far, tree.count, tree.split);
  visit_pair_law<float>(law, [&]<class PairLaw>(const PairLaw& /*pair*/) {
    if (is_target) {
      function_with_targets<PairLaw>(tree.far)<<<blocks, walk_octree_block, 0, stream>>>(tree, law, is_target);
    } else {
      function_for<PairLaw>(tree.far)<<<blocks, walk_octree_block, 0, stream>>>(tree, law);
    }
  });
  ORRERY_CUDA_CHECK_LAUNCH(walk_groups);
}

}  // namespace orrery
