#pragma once

#include <atomic>
#include <cstddef>

#include "compute/cuda/device_array.h"
#include "compute/cuda/host_array.h"
#include "compute/kernels/tree/domain_layout.h"

namespace orrery {

/// How many cells a tree may have whose room is copied to other devices, used or not: a few more than the trees before
/// it had, of as many bodies; where the number has changed, all room. A tree that needs more has some larger leaves,
/// and later ones get more room. The GPU notes the cells; the host looks without waiting, so they are those of some
/// evaluations ago.
class CellRoom {
 public:
  explicit CellRoom(const cuda::Device& device) : noted_{device, 2, /*pinned=*/true} { forget(); }

  /// For other bodies. A note on its way goes to the other place.
  void forget() {
    place_ ^= 1;
    std::atomic_ref{noted()}.store(0, std::memory_order_relaxed);
  }
  /// For the next tree, of so many bodies and at most `most` cells.
  int room(int bodies, int most) {
    if (bodies != bodies_) forget();
    bodies_ = bodies;
    const int cells = std::atomic_ref{noted()}.load(std::memory_order_relaxed);
    given_ = DomainLayout::room_after(cells, given_, most);
    return given_;
  }
  /// Enqueues a note of how many there are in the latest tree.
  void note(const int* d_cells, cudaStream_t stream) const {
    cuda::download(d_cells, noted_.first(2).subspan(place_, 1), stream);
  }

 private:
  int& noted() const { return noted_.first(2)[place_]; }

  cuda::HostArray<int> noted_;
  std::size_t place_ = 0;       // of the present note
  int bodies_ = 0, given_ = 0;  // of the latest tree, and its room
};

}  // namespace orrery
