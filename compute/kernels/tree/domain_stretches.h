#pragma once

#include <cstdint>

#include "compute/kernels/division.h"
#include "compute/kernels/tree/domain_border.h"
#include "compute/kernels/tree/domain_layout.h"

// Which domain each body of a device comes to be in, once the borders are found.
namespace orrery {

/// Bodies of the devices before one of them, as DomainBorder counts those of all.
struct EarlierBodies {
  int before, inside;
};

/// Whether a search took enough steps. A border's cell is small if it has one of so many bodies of a domain. In a
/// larger one, the trees of two domains overlap, and walks of its bodies meet twice the cells.
struct SmallBorders {
  static constexpr int bodies_per_small = 1024;

  const DomainBorder* of_steps;  ///< at first, and after each step
  int steps, borders;
  int most;  ///< bodies of a small cell

  /// After how many steps the cells of all borders were small; 0: after none.
  ORRERY_HD int steps_needed() const {
    for (int step = 1; step <= steps; ++step) {
      bool are_small = true;
      for (int i = 0; i < borders; ++i) {
        const DomainBorder& cell = of_steps[step * borders + i];
        are_small &= cell.found() || cell.inside <= most;
      }
      if (are_small) return step;
    }
    return 0;
  }
};

/// The stretches of the curve that the borders make, see stretch_of(), and the bodies that one device has in them.
struct Stretches {
  const DomainBorder* borders;
  const EarlierBodies* of_earlier;  ///< by border
  int earlier;                      ///< bodies of the devices before this one
  std::uint64_t* keys;
  FirstBodies first;  ///< of the domains

  ORRERY_HD int border_count() const { return first.domains - 1; }
  ORRERY_HD int count() const { return 2 * border_count() + 1; }
};

#if defined(__CUDACC__)
inline constexpr int most_stretches = 2 * most_borders + 1;
inline constexpr int stretch_block = 256;  ///< threads, each with a body
static_assert(most_stretches <= stretch_block);

__device__ inline void put_body(const ResidentBodies& from, int i, const ResidentBodies& to, int place) {
  to.positions[place] = from.positions[i];
  to.velocities[place] = from.velocities[i];
  to.ids[place] = from.ids[i];
}

/// All threads of a block call it.
__device__ inline void load_cells(DomainBorder* borders, const Stretches& stretches) {
  if (static_cast<int>(threadIdx.x) < stretches.border_count()) borders[threadIdx.x] = stretches.borders[threadIdx.x];
  __syncthreads();
}

/// Of a block's bodies, how many are in each stretch; the stretch of this thread's body, number `i` of `count`, and its
/// place among those of the block. All threads call it.
struct InBlock {
  int stretch, place;

  __device__ InBlock(const Stretches& stretches, int i, int count, const DomainBorder* borders, int* counts) {
    const auto thread = static_cast<int>(threadIdx.x);
    if (thread < stretches.count()) counts[thread] = 0;
    __syncthreads();
    stretch = i < count ? stretch_of(stretches.keys[i], borders, stretches.border_count()) : -1;
    place = stretch >= 0 ? atomicAdd(&counts[stretch], 1) : 0;
    __syncthreads();
  }
};

/// places[s] = the place among all bodies of the first that this device has in stretch s, if it has any there. A thread
/// for each border: all borders in a cell end the same stretch before it.
__device__ inline void find_places(const Stretches& stretches, const DomainBorder* borders, int* places) {
  const int first = static_cast<int>(threadIdx.x), border_count = stretches.border_count();
  if (first >= border_count) return;
  DomainBorder before{};  // of the cell: no body
  EarlierBodies earlier_before{};
  if (first > 0) {
    before = borders[first - 1];
    earlier_before = stretches.of_earlier[first - 1];
  }
  const DomainBorder cell = borders[first];
  const EarlierBodies earlier = stretches.of_earlier[first];
  if (first == 0 || before.begin != cell.begin) {
    int last = first;
    while (last + 1 < border_count && borders[last + 1].begin == cell.begin) ++last;
    places[2 * first] = before.before + before.inside + earlier.before - earlier_before.before - earlier_before.inside;
    places[first + last + 1] = cell.before + earlier.inside;
  }
  if (first + 1 < border_count) return;
  places[2 * border_count] = cell.before + cell.inside + stretches.earlier - earlier.before - earlier.inside;
}

/// A body's stretch, and a place among all bodies that no other body gets. No body: stretch -1.
struct PlacedBody {
  int stretch, place;
};

/// For the body number `i` of `count`, that of this thread. `taken`: by stretch, the places that bodies have got. All
/// threads of a block call it.
__device__ inline PlacedBody place_body(const Stretches& stretches, int i, int count, int* taken) {
  __shared__ DomainBorder borders[most_borders];
  __shared__ int counts[most_stretches], places[most_stretches];
  const auto thread = static_cast<int>(threadIdx.x);
  load_cells(borders, stretches);
  find_places(stretches, borders, places);
  const InBlock body{stretches, i, count, borders, counts};
  if (thread < stretches.count() && counts[thread] > 0) places[thread] += atomicAdd(&taken[thread], counts[thread]);
  __syncthreads();
  return {body.stretch, body.stretch < 0 ? 0 : places[body.stretch] + body.place};
}
#endif

}  // namespace orrery
