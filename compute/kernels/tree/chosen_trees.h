#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/kernels/division_facet.h"
#include "compute/kernels/tree/essential_trees.h"
#include "compute/kernels/tree/octree.h"

namespace orrery {

/// A cell as it is sent, with its number.
struct PackedCell {
  alignas(16) int number;
  int first;               ///< as OctreeNode has it
  int bodies_or_children;  ///< bodies of a leaf, or children as a negative number
  float reach;
  Vec4 test, moments_a, moments_b;
};

/// What EssentialTrees sends, for devices that do not see each other's memory: what one device needs is packed into
/// blocks, and put into the arrays of all trees where it has arrived.
class ChosenTrees {
 public:
  using Blocks = DivisionFacet::Blocks;

  explicit ChosenTrees(const cuda::Device& device) : device_{device} {}

  /// For the device `index` of so many. Throws UsageError if there is no memory.
  void prepare(int index, int devices);
  DeviceBlock place_of_outline(int index) const;
  /// When all outlines are there: what each other device needs of this tree, by index. See ChoiceFacet::choose().
  std::vector<Blocks> choose(const Octree& tree, const std::function<void()>& wait, cudaStream_t stream);
  /// For blocks of these sizes from the device `index`.
  Blocks places(int index, std::span<const std::size_t> sizes);
  /// Enqueues what puts all that has arrived into the arrays of the trees.
  void take(const Octree& tree, cudaStream_t stream) const;

 private:
  /// Cells and bodies of a tree, of one device or for one.
  struct Packed {
    int cells = 0, bodies = 0;
    int too_large = 0;  ///< for so many evaluations, the memory has been far larger than they needed
    static constexpr int most_too_large = 64;
    cuda::DeviceArray<PackedCell> of_cells;
    cuda::DeviceArray<Vec4> high_moments;  ///< of the cells, if they have any
    cuda::DeviceArray<int> numbers;        ///< of the bodies
    cuda::DeviceArray<Vec4> of_bodies;

    int room_for_cells(bool has_high) const;
    int room_for_bodies() const { return static_cast<int>(std::min(numbers.size(), of_bodies.size())); }
    bool is_to_shrink() const { return too_large >= most_too_large; }
    bool has_room(bool has_high) const { return cells <= room_for_cells(has_high) && bodies <= room_for_bodies(); }
  };

  /// For what is noted in it; what was in it may be lost.
  void take_room(Packed& packed, bool has_high) const;
  static Blocks blocks_of(const Packed& packed, bool has_high);
  /// Notes what the others need, and packs what there is room for.
  void pack(const Octree& tree, const std::function<void()>& wait, cudaStream_t stream);

  const cuda::Device& device_;
  int index_ = 0, devices_ = 0;
  cuda::DeviceArray<DomainOutline> outlines_;  // of others, by index
  cuda::DeviceArray<int> counts_;              // of each other device, the next one first: cells, bodies
  cuda::HostArray<int> counted_;               // the same for the host
  std::vector<Packed> given_, taken_;          // by index
};

}  // namespace orrery
