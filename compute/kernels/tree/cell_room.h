#pragma once

#include <span>

#include "compute/cuda/arrays.h"
#include "compute/kernels/tree/domain_layout.h"
#include "compute/kernels/tree/noted_number.h"

namespace orrery {

/// How many cells a tree may have whose room is copied, used or not, to devices that do not see each other's memory, or
/// where its cells are shown: a few more than the trees before it had, of as many bodies; where the number has changed,
/// all room. A tree that needs more has some larger leaves, and later ones get more room. The GPU notes the cells; the
/// host looks without waiting, so they are those of some evaluations ago.
class CellRoom {
 public:
  explicit CellRoom(const cuda::Device& device) : cells_{device} {}

  /// For other bodies.
  void forget() { cells_.forget(); }
  /// For the next tree, of so many bodies and at most `most` cells.
  int room(int bodies, int most) {
    if (bodies != bodies_) forget();
    bodies_ = bodies;
    given_ = DomainLayout::room_after(cells_.value(), given_, most);
    return given_;
  }
  /// Enqueues a note of how many there are in the latest tree.
  void note(const int* d_cells, cudaStream_t stream) const {
    cuda::download(d_cells, std::span{cells_.place(), 1}, stream);
  }

 private:
  NotedNumber cells_;
  int bodies_ = 0, given_ = 0;  // of the latest tree, and its room
};

}  // namespace orrery
