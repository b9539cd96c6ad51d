#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "compute/cuda/arrays.h"
#include "compute/cuda/launch.h"
#include "compute/kernels/tree/octree_kernels.h"
#include "compute/kernels/tree_facet.h"

// Reads what a body's group meets in an octree in device memory, for CUDA sources.
namespace orrery {

/// Records a walk and copies it to the host. Both are enqueued between two evaluations, so the host does not wait.
class WalkReader {
 public:
  static constexpr int most = 1 << 14;  ///< cells, and leaves; the counts have all

  explicit WalkReader(const cuda::Device& device) : device_{device} {}

  /// Takes the memory. Without this call, read() takes it.
  void prepare();
  /// Enqueues the walk of a body's group. `Cells` has cell(i) on the device.
  template <class Cells>
  void read(const Octree& tree, const Cells& cells, const Law& law, int body, cudaStream_t stream);
  void forget() { known_ = false; }
  /// The latest walk; none without one, or if the tree has not the body. Call only when the stream has passed it.
  std::optional<BodyWalk> walk() const;

 private:
  const cuda::Device& device_;
  bool known_ = false;
  cuda::DeviceArray<WalkFound> d_found_;
  cuda::DeviceArray<int> d_numbers_;     // cells, then leaves
  cuda::DeviceArray<TreeCell> d_cubes_;  // of both
  cuda::HostArray<WalkFound> found_;
  cuda::HostArray<TreeCell> cubes_;
};

#if defined(__CUDACC__)
template <class Cells>
__global__ void find_cubes(const __grid_constant__ Cells cells, WalkRecord record, TreeCell* cubes) {
  for (auto i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < record.most;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    if (i < record.found->cells) cubes[i] = cells.cell(record.cells[i]);
    if (i < record.found->leaves) cubes[record.most + i] = cells.cell(record.leaves[i]);
  }
}

template <class Cells>
void WalkReader::read(const Octree& tree, const Cells& cells, const Law& law, int body, cudaStream_t stream) {
  prepare();
  known_ = true;
  const WalkRecord record{d_found_.data(), d_numbers_.data(), d_numbers_.data() + most, most};
  record_walk(device_, tree, law, body, record, stream);
  constexpr int block = 256;
  ORRERY_CUDA_CHECK(cudaMemsetAsync(d_cubes_.data(), 0, d_cubes_.size() * sizeof(TreeCell), stream));
  find_cubes<<<most / block, block, 0, stream>>>(cells, record, d_cubes_.data());
  ORRERY_CUDA_CHECK_LAUNCH(find_cubes);
  cuda::download(d_found_.data(), found_.first(1), stream);
  cuda::download(d_cubes_.data(), cubes_.first(2 * most), stream);
}
#endif

inline void WalkReader::prepare() {
  if (cubes_.size() > 0) return;
  constexpr auto lists = static_cast<std::size_t>(2 * most);
  d_found_ = cuda::DeviceArray<WalkFound>(device_, 1);
  d_numbers_ = cuda::DeviceArray<int>(device_, lists);
  d_cubes_ = cuda::DeviceArray<TreeCell>(device_, lists);
  found_ = cuda::HostArray<WalkFound>(device_, 1, /*pinned=*/true);
  cubes_ = cuda::HostArray<TreeCell>(device_, lists, /*pinned=*/true);
}

inline std::optional<BodyWalk> WalkReader::walk() const {
  if (!known_) return std::nullopt;
  const WalkFound& found = found_.first(1)[0];
  if (found.place < 0) return std::nullopt;
  const std::span<const TreeCell> cubes = cubes_.first(2 * most);
  const std::span<const TreeCell> cells = cubes.first(static_cast<std::size_t>(std::min(found.cells, most)));
  const std::span<const TreeCell> leaves =
      cubes.subspan(most).first(static_cast<std::size_t>(std::min(found.leaves, most)));
  return BodyWalk{{cells.begin(), cells.end()}, {leaves.begin(), leaves.end()}, found.bodies};
}

}  // namespace orrery
