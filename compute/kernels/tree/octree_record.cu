// Records what a body's group meets, by the walk that computes forces.
#include <type_traits>

#include "compute/cuda/launch.h"
#include "compute/kernels/tree/octree_group_walk.h"

namespace orrery {
namespace {

using namespace group_walk;

/// Lists what each lane's tests decide.
struct CellRecord {
  WalkRecord record;

  __device__ void add(int cell, bool stands, bool is_leaf, int bodies) const {
    if (stands) append(record.cells, record.found->cells, cell);
    if (!is_leaf) return;
    append(record.leaves, record.found->leaves, cell);
    atomicAdd(&record.found->bodies, bodies);
  }

 private:
  __device__ void append(int* list, int& count, int cell) const {
    if (const int place = atomicAdd(&count, 1); place < record.most) list[place] = cell;
  }
};

__global__ void find_place(const __grid_constant__ Octree tree, int body, WalkFound* found) {
  const int end = tree.first_body + tree.count;
  for (auto i = tree.first_body + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < end;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    if (tree.order[i] == body) found->place = i;
  }
}

__global__ void find_group(const __grid_constant__ Octree tree, WalkFound* found) {
  for (auto g = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); g < tree.state->groups;
       g += static_cast<int>(gridDim.x * blockDim.x)) {
    const OctreeGroup group = tree.groups[g];
    if (group.begin <= found->place && found->place < group.end) found->group = group;
  }
}

/// One warp.
template <class PairLaw, FarField far>
__global__ void __launch_bounds__(lanes)
    record_group_walk(const __grid_constant__ Octree tree, const __grid_constant__ Law law, WalkRecord record) {
  alignas(WarpSpace<far>) __shared__ unsigned char space[sizeof(WarpSpace<far>)];
  const OctreeGroup group = record.found->group;
  if (group.end > group.begin) {
    Walk<PairLaw, far, most_own_bodies, CellRecord>{tree,
                                                    law,
                                                    reinterpret_cast<WarpSpace<far>&>(space),
                                                    group,
                                                    /*share=*/0,
                                                    CellRecord{record}}
        .walk();
  }
}

}  // namespace

void record_walk(const cuda::Device& device, const Octree& tree, const Law& law, int body, const WalkRecord& record,
                 cudaStream_t stream) {
  constexpr int block = 256;
  const int blocks = min(4 * device.multiprocessors(), cuda::ceil_div(tree.count, block));
  ORRERY_CUDA_CHECK(cudaMemsetAsync(record.found, 0, sizeof *record.found, stream));
  ORRERY_CUDA_CHECK(cudaMemsetAsync(&record.found->place, 0xff, sizeof record.found->place, stream));  // -1
  find_place<<<blocks, block, 0, stream>>>(tree, body, record.found);
  ORRERY_CUDA_CHECK_LAUNCH(find_place);
  find_group<<<blocks, block, 0, stream>>>(tree, record.found);
  ORRERY_CUDA_CHECK_LAUNCH(find_group);
  visit_pair_law<float>(law, [&]<class PairLaw>(const PairLaw& /*pair*/) {
    // A local expansion changes what is done with a cell, but not which cells are opened. High moments do.
    auto function = tree.far == FarField::monopole ? record_group_walk<PairLaw, FarField::monopole>
                                                   : record_group_walk<PairLaw, FarField::quadrupole>;
    if constexpr (std::is_same_v<PairLaw, Gravity<float>>) {
      if (tree.far == FarField::high) function = record_group_walk<PairLaw, FarField::high>;
    }
    function<<<1, lanes, 0, stream>>>(tree, law, record);
  });
  ORRERY_CUDA_CHECK_LAUNCH(record_group_walk);
}

}  // namespace orrery
