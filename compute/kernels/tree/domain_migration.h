#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compute/core/vec.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/kernels/division.h"
#include "compute/kernels/tree/domain_border.h"
#include "compute/kernels/tree/domain_layout.h"
#include "compute/kernels/tree/octree.h"
#include "compute/kernels/tree/shipment_plan.h"

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

/// Bodies that move from device to device as copies, since the devices do not see each other's memory. Those that leave
/// a device are in an order: those for the first device, then those for the second one, and so on. A shipment is the
/// next of them that fit into a buffer; few bodies leave in most moves, so that one is enough. Those that stay, and
/// those that arrive, follow each other where the migration wants them.
class DomainShipment {
 public:
  using Blocks = DivisionFacet::Blocks;

  explicit DomainShipment(const cuda::Device& device) : device_{device} {}

  /// For the device `index` of so many, with at most so many bodies. `arrived`: where its bodies will be. Throws
  /// UsageError if there is no memory.
  void prepare(int index, int devices, int most_bodies, const ResidentBodies& arrived);
  /// Gives the memory back.
  void forget();

  /// Enqueues what finds how many bodies go to each device, and copies those that stay. The keys are lost.
  /// `steps_needed`: see DomainMigration::Move.
  void plan(const ResidentBodies& from, const Stretches& stretches, const SmallBorders& small, int* steps_needed,
            cudaStream_t stream);
  /// How many go from a device to each one: every device needs copies of all.
  DeviceBlock going_from(int device) const;
  /// With these. Returns how many shipments there are, one or more, as many on all devices. The host needs the numbers:
  /// `wait` has to wait for what is enqueued on the stream.
  int begin(const std::function<void()>& wait, cudaStream_t stream);
  /// What leaves in a shipment for each other device, by index, and where to copy what comes from each.
  std::vector<Blocks> leaving(int shipment, cudaStream_t stream);
  std::vector<Blocks> arriving(int shipment) const;

 private:
  ResidentBodies buffer() const;

  const cuda::Device& device_;
  int index_ = 0, devices_ = 0;
  int room_ = 0;  // bodies of a shipment
  ShipmentPlan plan_;
  ResidentBodies arrived_;
  cuda::DeviceArray<Vec4> positions_, velocities_;  // of bodies that leave
  cuda::DeviceArray<int> ids_;
  cuda::DeviceArray<int> numbers_;    // of the plan: see there
  cuda::DeviceArray<int> all_going_;  // bodies from each device to each
  cuda::HostArray<int> going_;        // the same for the host
  // The present move:
  ResidentBodies from_;
  Stretches stretches_;
};

/// Moves bodies that several devices hold to the devices in whose domains they are: stretches of Hilbert's curve, with
/// as many bodies in each as its layout says, so that the host knows all numbers. Each device reads what the others
/// found in the round before, and at last writes its bodies to the memory of their new devices. If devices do not see
/// each other's memory, they get copies of what the others found, and bodies are packed for them (DomainShipment).
///
/// The cube of the keys is that of find_keys(), but for the mean from which distances are measured: it is that of the
/// move before, so that one pass over the bodies is enough. The first move makes two.
///
/// A border between domains is the cell that the search has come to (DomainBorder). Bodies of that cell go to either
/// side, and it does not matter which, unless they are many: then the trees of two domains overlap.
class DomainMigration {
 public:
  explicit DomainMigration(const cuda::Device& device) : device_{device}, shipment_{device} {}

  /// Takes memory for at most so many bodies of this device, number `index`. `arrived` is room for as many, which
  /// round() fills; nobody uses it for anything else from the first round to take().
  void prepare(int most_bodies, int index, int devices, const ResidentBodies& arrived);
  void forget();
  /// All devices' migrations, by index, once they are prepared.
  void connect(std::span<const DomainMigration* const> all);
  /// In its place, for devices that do not see each other's memory. Throws UsageError if there is no memory.
  void prepare_copies();

  static constexpr int most_steps = key_levels / DomainBorder::levels_per_digit;
  /// Of the next move, with so many steps of the search for borders, from 1 to most_steps.
  int rounds(int steps) const { return passes() + steps + 1; }
  /// Begins a move, which all devices make with the same number of rounds.
  void begin(int rounds);

  struct Move {
    const ResidentBodies& from;
    int earlier;  ///< bodies of the devices before this one
    const DomainLayout& to;
    int of_all;           ///< bodies
    std::uint64_t* keys;  ///< room for one per body that this device has before
    /// Where the GPU notes how many steps were enough for small cells of borders; 0: more than were made. Null: not
    /// needed.
    int* steps_needed;
  };
  /// Enqueues a round. The next one must not begin before all devices have ended this one.
  void round(int number, const Move& move, cudaStream_t stream);
  /// With prepare_copies(): what a round found, of the same size on all devices, and where to copy that of another one.
  /// After the last round, shipment() has the bodies that leave.
  DeviceBlock found_in(int round) const { return found_in(round, index_); }
  DeviceBlock found_in(int round, int index) const;
  DomainShipment& shipment() { return shipment_; }

  /// After all rounds: the bodies of this device, in any order, and the cube of the keys of all bodies.
  const ResidentBodies& arrived() const { return arrived_; }
  const TreeCube* cube() const { return cube_.data(); }
  /// What the device has of its bodies beside their places, in the order of its tree.
  Vec4* velocities() const { return velocities_.data(); }
  int* ids() const { return ids_.data(); }
  /// `to` becomes what has arrived, in this order.
  void take(const int* order, const ResidentBodies& to, cudaStream_t stream) const;

 private:
  static constexpr int extent_passes = 2;

  /// Over the bodies, for their extent.
  int passes() const { return knows_mean_ ? 1 : extent_passes; }
  int borders() const { return devices_ - 1; }
  /// Before step number `step`, and after it.
  DomainBorder* borders_at(int step) const { return borders_.data() + step * borders(); }
  EarlierBodies* earlier_at(int step) const { return earlier_.data() + step * borders(); }
  std::size_t histograms_of(int step) const;
  /// What the device has of its own, in arrays that may have that of all devices.
  OctreeState* own_extents() const { return extents_.data() + extents_before(slot()); }
  int* own_histograms() const { return histograms_.data() + histograms_before(slot()); }
  int slot() const { return has_copies_ ? index_ : 0; }
  static std::size_t extents_before(int slot) { return static_cast<std::size_t>(slot) * extent_passes; }
  std::size_t histograms_before(int slot) const {
    return static_cast<std::size_t>(slot) * most_steps * static_cast<std::size_t>(borders()) * DomainBorder::digits;
  }
  Stretches stretches_of(const Move& move) const;
  SmallBorders small_borders(const Move& move) const;
  void find_extent(int pass, const Move& move, cudaStream_t stream);
  void begin_search(const Move& move, cudaStream_t stream);
  void make_keys(const Move& move, cudaStream_t stream);
  void count_digits(int step, const Move& move, cudaStream_t stream);
  void narrow(int step, const Move& move, cudaStream_t stream);
  void send(const Move& move, cudaStream_t stream);

  const cuda::Device& device_;
  int index_ = 0, devices_ = 1, most_bodies_ = 0;
  bool knows_mean_ = false;
  bool has_copies_ = false;     // of what others found
  int passes_ = 0, steps_ = 0;  // of the present move
  cuda::DeviceArray<Vec4> velocities_;
  cuda::DeviceArray<int> ids_;
  ResidentBodies arrived_;
  cuda::DeviceArray<OctreeState> extents_;  // of each device of which it has them, and each pass, the last one for good
  cuda::DeviceArray<Vec3> mean_;            // of all bodies, in the latest move or the latest pass
  cuda::DeviceArray<TreeCube> cube_;
  // Of each step:
  cuda::DeviceArray<DomainBorder> borders_;
  cuda::DeviceArray<EarlierBodies> earlier_;  // by border
  cuda::DeviceArray<int> histograms_;         // likewise, by step, border and digit
  cuda::DeviceArray<int> taken_;              // by stretch: places that bodies have got
  // Of all devices:
  OnAll<const OctreeState> all_extents_[extent_passes];
  OnAll<const int> all_histograms_;
  ResidentBodies all_arrived_[most_devices];
  DomainShipment shipment_;
};

}  // namespace orrery
