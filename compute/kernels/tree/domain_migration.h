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

/// Bodies of the devices before one of them; the fields count as in DomainBorder.
struct EarlierBodies {
  int before, inside;
};

/// Test of whether a search made enough steps. A border's cell is small if it has at most 1 of every `bodies_per_small`
/// bodies of a domain. If it is larger, two domains' trees overlap there, and walks of its bodies meet twice the cells.
struct SmallBorders {
  static constexpr int bodies_per_small = 1024;

  const DomainBorder* of_steps;  ///< before the first step, and after each step
  int steps, borders;
  int most;  ///< largest number of bodies in a small cell

  /// Returns the number of steps after which the cells of all borders were small; 0: they never were.
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

/// Stretches of the curve between the borders, see stretch_of(), and one device's bodies in them.
struct Stretches {
  const DomainBorder* borders;
  const EarlierBodies* of_earlier;  ///< by border
  int earlier;                      ///< number of bodies of the devices before this one
  std::uint64_t* keys;
  FirstBodies first;  ///< first bodies of the domains

  ORRERY_HD int border_count() const { return first.domains - 1; }
  ORRERY_HD int count() const { return 2 * border_count() + 1; }
};

#if defined(__CUDACC__)

inline constexpr int most_stretches = 2 * most_borders + 1;
inline constexpr int stretch_block = 256;  ///< threads, one per body

static_assert(most_stretches <= stretch_block);

__device__ inline void put_body(const ResidentBodies& from, int i, const ResidentBodies& to, int place) {
  to.positions[place] = from.positions[i];
  to.velocities[place] = from.velocities[i];
  to.ids[place] = from.ids[i];
}

/// Loads the borders into shared memory. All threads of a block call it.
__device__ inline void load_cells(DomainBorder* borders, const Stretches& stretches) {
  if (static_cast<int>(threadIdx.x) < stretches.border_count()) borders[threadIdx.x] = stretches.borders[threadIdx.x];
  __syncthreads();
}

/// Counts a block's bodies per stretch. Gives this thread's body, number `i` of `count`, its stretch and its place
/// among the block's bodies in that stretch. All threads call it.
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

/// Sets places[s] to the place, among all bodies, of this device's first body in stretch s. Unset if it has none there.
/// One thread per border; all borders in a cell end the same stretch before it.
__device__ inline void find_places(const Stretches& stretches, const DomainBorder* borders, int* places) {
  const int first = static_cast<int>(threadIdx.x), border_count = stretches.border_count();
  if (first >= border_count) return;
  DomainBorder before{};  // initially a cell without bodies
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

/// Stretch of a body, and its unique place among all bodies. Stretch -1: no body.
struct PlacedBody {
  int stretch, place;
};

/// Places this thread's body, number `i` of `count`. `taken`: places taken so far, by stretch. All threads of a block
/// call it.
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

/// Bodies that migrate as copies between devices that do not see each other's memory. Bodies that leave a device are
/// ordered by destination. A shipment is the next of them that fit into a buffer; as few bodies leave in most moves,
/// one is usually enough. Bodies that stay, then those that arrive, are stored where the migration wants them.
class DomainShipment {
 public:
  using Blocks = DivisionFacet::Blocks;

  explicit DomainShipment(const cuda::Device& device) : device_{device} {}

  /// Allocates for device `index` of `devices`, with at most `most_bodies` bodies. `arrived`: destination of its
  /// bodies. Throws UsageError if memory is short.
  void prepare(int index, int devices, int most_bodies, const ResidentBodies& arrived);
  /// Frees the memory.
  void forget();

  /// Enqueues the count of bodies that go to each device, and copies those that stay. Overwrites the keys.
  /// `steps_needed`: see DomainMigration::Move.
  void plan(const ResidentBodies& from, const Stretches& stretches, const SmallBorders& small, int* steps_needed,
            cudaStream_t stream);
  /// Returns the counts of bodies from one device to each. Every device needs copies of all devices' counts.
  DeviceBlock going_from(int device) const;
  /// Begins the transfers when all counts are present. Returns the number of shipments, at least one and equal on all
  /// devices. The host reads the counts: `wait` must block until the stream has finished.
  int begin(const std::function<void()>& wait, cudaStream_t stream);
  /// leaving() returns the blocks of a shipment for each other device, arriving() the places for blocks from each; both
  /// by device index.
  std::vector<Blocks> leaving(int shipment, cudaStream_t stream);
  std::vector<Blocks> arriving(int shipment) const;

 private:
  ResidentBodies buffer() const;

  const cuda::Device& device_;
  int index_ = 0, devices_ = 0;
  int room_ = 0;  // bodies per shipment
  ShipmentPlan plan_;
  ResidentBodies arrived_;
  cuda::DeviceArray<Vec4> positions_, velocities_;  // bodies that leave
  cuda::DeviceArray<int> ids_;
  cuda::DeviceArray<int> numbers_;    // memory of the plan on the device
  cuda::DeviceArray<int> all_going_;  // number of bodies from each device to each
  cuda::HostArray<int> going_;        // the same on the host
  // The current move:
  ResidentBodies from_;
  Stretches stretches_;
};

/// Moves bodies that several devices hold to the devices of their domains. Domains are stretches of Hilbert's curve
/// whose numbers of bodies the layout prescribes, so that the host knows them. In each round, a device reads what the
/// others found in the round before; the last round writes the bodies to the memory of their new devices. Devices that
/// do not see each other's memory get copies of the findings and of packed bodies (DomainShipment).
///
/// The cube of the keys is that of find_keys(), except that distances are measured from the mean of the previous move,
/// so that one pass over the bodies is enough. The first move makes two.
///
/// A border between domains is the cell that the search has reached (DomainBorder). Bodies of that cell go to either
/// side. This matters only if they are many: the two domains' trees then overlap.
class DomainMigration {
 public:
  explicit DomainMigration(const cuda::Device& device) : device_{device}, shipment_{device} {}

  /// Allocates for at most `most_bodies` bodies of this device, number `index`. `arrived`: room for as many, filled by
  /// round(); not to be used otherwise from the first round to take().
  void prepare(int most_bodies, int index, int devices, const ResidentBodies& arrived);
  void forget();
  /// Connects the migrations of all devices, by index. Call when all are prepared.
  void connect(std::span<const DomainMigration* const> all);
  /// Replaces connect() for devices that do not see each other's memory. Throws UsageError if memory is short.
  void prepare_copies();

  static constexpr int most_steps = key_levels / DomainBorder::levels_per_digit;
  /// Returns the rounds of the next move, with `steps` steps of the search for borders, in [1, most_steps].
  int rounds(int steps) const { return passes() + steps + 1; }
  /// Begins a move. All devices make it with the same number of rounds.
  void begin(int rounds);

  struct Move {
    const ResidentBodies& from;
    int earlier;  ///< number of bodies of the devices before this one
    const DomainLayout& to;
    int of_all;           ///< number of bodies of all devices
    std::uint64_t* keys;  ///< room for one key per body that this device has before the move
    /// Target of the number of steps that made the borders' cells small; 0: the steps made were too few. Null: not
    /// needed.
    int* steps_needed;
  };
  /// Enqueues a round. The next round must not begin before all devices have ended this one.
  void round(int number, const Move& move, cudaStream_t stream);
  /// With prepare_copies(): returns the findings of a round, which have the same size on all devices; found_in(round,
  /// index) is the place for those of another device. After the last round, shipment() has the bodies that leave.
  DeviceBlock found_in(int round) const { return found_in(round, index_); }
  DeviceBlock found_in(int round, int index) const;
  DomainShipment& shipment() { return shipment_; }

  /// After all rounds: this device's bodies, in any order, and the cube of the keys of all bodies.
  const ResidentBodies& arrived() const { return arrived_; }
  const TreeCube* cube() const { return cube_.data(); }
  /// Data of this device's bodies besides the positions, in the order of its tree.
  Vec4* velocities() const { return velocities_.data(); }
  int* ids() const { return ids_.data(); }
  /// Copies the arrived bodies to `to`, in this order.
  void take(const int* order, const ResidentBodies& to, cudaStream_t stream) const;

 private:
  static constexpr int extent_passes = 2;

  /// Number of passes over the bodies to find their extent.
  int passes() const { return knows_mean_ ? 1 : extent_passes; }
  int borders() const { return devices_ - 1; }
  /// Borders before step `step`, i.e. after the previous step.
  DomainBorder* borders_at(int step) const { return borders_.data() + step * borders(); }
  EarlierBodies* earlier_at(int step) const { return earlier_.data() + step * borders(); }
  std::size_t histograms_of(int step) const;
  /// The device's own findings, in arrays that may hold those of all devices.
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
  bool has_copies_ = false;     // whether copies of the other devices' findings are used
  int passes_ = 0, steps_ = 0;  // passes and steps of the current move
  cuda::DeviceArray<Vec4> velocities_;
  cuda::DeviceArray<int> ids_;
  ResidentBodies arrived_;
  cuda::DeviceArray<OctreeState> extents_;  // by slot and pass; a slot's last pass is the final one
  cuda::DeviceArray<Vec3> mean_;            // mean of all bodies, from the latest move or pass
  cuda::DeviceArray<TreeCube> cube_;
  // One set per step:
  cuda::DeviceArray<DomainBorder> borders_;
  cuda::DeviceArray<EarlierBodies> earlier_;  // by border
  cuda::DeviceArray<int> histograms_;         // by step, border and digit
  cuda::DeviceArray<int> taken_;              // places taken, by stretch
  // Pointers to all devices' arrays:
  OnAll<const OctreeState> all_extents_[extent_passes];
  OnAll<const int> all_histograms_;
  ResidentBodies all_arrived_[most_devices];
  DomainShipment shipment_;
};

}  // namespace orrery
