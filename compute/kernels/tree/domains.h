#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compute/core/vec.h"
#include "compute/kernels/division.h"
#include "compute/kernels/tree/tree_cube.h"
#if ORRERY_HAVE_CUDA
#include <cuda_runtime_api.h>

#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/kernels/tree/octree.h"
#endif

// Domains of cuda-tree: several devices divide the bodies, and each has those in one range of keys along Hilbert's
// curve. DomainLayout states how many bodies each has, DomainBorder where a range ends, ShipmentPlan which bodies move.
// With CUDA, DomainSort divides bodies that one device has, and DomainMigration moves bodies that all devices hold.
namespace orrery {

/// First body of each domain.
struct FirstBodies {
  int of[most_devices] = {};  ///< index of the first body, in key order
  int domains = 0;

  ORRERY_HD int domain_of(int body) const {
    int domain = 0;
    while (domain + 1 < domains && body >= of[domain + 1]) ++domain;
    return domain;
  }
};

/// Layout of all devices' trees in arrays that every device allocates alike. A domain is one device's range of
/// key-sorted bodies plus capacity for the cells of their tree. With few bodies, domain 0 holds all of them; otherwise,
/// no domain is empty.
class DomainLayout {
 public:
  DomainLayout() = default;
  /// Divides `count` bodies as nearly like `parts` as most_bodies() allows. `leaf`: see Octree.
  DomainLayout(int count, std::span<const Part> parts, int leaf);

  friend bool operator==(const DomainLayout&, const DomainLayout&) = default;

  /// Number of non-empty domains.
  int trees() const { return trees_; }
  int first_body(int domain) const { return bounds_[index(domain)]; }
  int bodies(int domain) const { return bounds_[index(domain) + 1] - bounds_[index(domain)]; }
  /// Returns the first body of each non-empty domain.
  FirstBodies first_bodies() const;
  /// Returns the root of the domain's tree; end_cell() returns the end of its capacity.
  int first_cell(int domain) const { return cells_before(first_body(domain), domain, cells_of_64_); }
  int end_cell(int domain) const { return cells_before(bounds_[index(domain) + 1], domain + 1, cells_of_64_); }

  /// Number of non-empty domains, of `domains`.
  static int trees_for(int count, int domains);
  /// Upper bound for the bodies of one domain, for any parts.
  static int most_bodies(int count, int domains);
  static int most_cells(int count, int domains, int leaf);
  /// Capacity for the cells of all domains.
  static int all_cells(int count, int domains, int leaf) {
    return cells_before(count, domains, cells_of_64(count, leaf));
  }
  /// Largest number of bodies whose trees' cells still have int indices.
  static int most_of_all(int domains, int leaf);
  /// Capacity for the next tree, in cells, at most `most`. Based on the latest tree, which used `cells` (0: unknown) of
  /// `given`. Returns `most` if the latest tree did not fit.
  static int room_after(int cells, int given, int most);

 private:
  static std::size_t index(int domain) { return static_cast<std::size_t>(domain); }
  /// Capacity for cells per 64 bodies, for `count` bodies in all.
  static int cells_of_64(int count, int leaf);
  static int cells_before(int bodies, int domains, int cells_of_64);

  std::vector<int> bounds_;  // first body of each domain, then the number of bodies
  int trees_ = 0;
  int cells_of_64_ = 0;
};

inline constexpr int most_borders = most_devices - 1;

/// Octree cell in which one domain ends and the next begins. It holds the body whose rank in key order is the number of
/// bodies in earlier domains. The search narrows it from the root, three levels at a time, by counting the digits of
/// the keys inside, i.e. the cells below.
struct DomainBorder {
  static constexpr int levels_per_digit = 3, digits = 1 << 3 * levels_per_digit;
  static_assert(key_levels % levels_per_digit == 0);
  /// Bodies of a cell that is not divided further: it does not matter which of so few belong to which domain.
  static constexpr int few = 16;

  // No initial values, as a kernel has borders in shared memory.
  std::uint64_t begin;  ///< first key of the cell
  std::int64_t level;   ///< 64 bits avoid padding, copies of which initcheck would report
  int before;           ///< number of bodies with smaller keys
  int inside;           ///< number of bodies in the cell

  /// Returns the start of the search. `rank`: number of bodies, out of `count`, in the domains before the border.
  ORRERY_HD static DomainBorder of_all(int rank, int count) {
    if (rank < count) return {0, 0, 0, count};
    return {std::uint64_t{1} << 3 * key_levels, key_levels, count, 0};  // after all keys
  }

  ORRERY_HD bool found() const { return inside <= few || level == key_levels; }
  ORRERY_HD std::uint64_t end() const { return begin + (std::uint64_t{1} << bits_below()); }
  ORRERY_HD bool has(std::uint64_t key) const { return (key ^ begin) >> bits_below() == 0; }
  /// Returns the digit of a key in the cell. Call only if the border is not found().
  ORRERY_HD int digit(std::uint64_t key) const {
    return static_cast<int>(key >> (bits_below() - 3 * levels_per_digit)) & (digits - 1);
  }
  /// Returns the cell of the keys with this digit. It has `count` bodies, and `smaller` bodies of this cell come before
  /// it.
  ORRERY_HD DomainBorder at_digit(int digit, int smaller, int count) const {
    const int shift = bits_below() - 3 * levels_per_digit;
    return {begin | static_cast<std::uint64_t>(digit) << shift, level + levels_per_digit, before + smaller, count};
  }

 private:
  ORRERY_HD int bits_below() const { return static_cast<int>(3 * (key_levels - level)); }
};

static_assert(sizeof(DomainBorder) == 2 * sizeof(std::uint64_t) + 2 * sizeof(int));  // no padding

/// Returns the index of the stretch in which a key lies. `count` borders make 2 count + 1 stretches in key order, as
/// the bodies of a border's cell form a separate one: 0 lies before the first border, 2 count after the last.
ORRERY_HD inline int stretch_of(std::uint64_t key, const DomainBorder* borders, int count) {
  int stretch = 0;
  for (int i = 0; i < count; ++i) stretch += (key >= borders[i].begin) + (key >= borders[i].end());
  return stretch;
}

/// Plan of how bodies go from device to device in shipments. Bodies that leave a device are ordered by destination. A
/// shipment is the next `room` of them, on all devices.
class ShipmentPlan {
 public:
  ShipmentPlan() = default;
  /// `going`: number of bodies from each device to each, those that stay included; must outlive this.
  ShipmentPlan(int devices, int room, std::span<const int> going) : devices_{devices}, room_{room}, going_{going} {}

  /// Range of consecutive bodies.
  struct Interval {
    int first, count;
  };

  /// Returns the number of shipments, at least one.
  int shipments() const;
  /// Returns which bodies of a shipment leave `from` for `to`, counted from the begin of the shipment.
  Interval leaving(int shipment, int from, int to) const;
  /// Returns their places on device `to`: after those that stay, ordered by origin.
  Interval arriving(int shipment, int from, int to) const;

 private:
  int going(int from, int to) const;
  /// Returns the number of bodies that leave a device for the devices before `to`.
  int before(int from, int to) const;

  int devices_ = 0, room_ = 1;
  std::span<const int> going_;
};

#if ORRERY_HAVE_CUDA

/// Puts bodies into the order of the domains of several devices, with the requested number of bodies in each. This is
/// faster than a sort by key: it reads the keys two to eight times, until it has found the cells that contain the
/// borders, and sorts by 7 bits. Within a domain, bodies are not in key order.
class DomainSort {
 public:
  explicit DomainSort(const cuda::Device& device) : device_{device} {}

  /// Allocates memory for `borders` borders between domains.
  void prepare(int borders);
  /// Return the bytes of memory that order() needs.
  static std::size_t stretch_bytes(int count) { return 2 * static_cast<std::size_t>(count); }
  static std::size_t sort_bytes(const cuda::Device& device, int count);

  /// Input of order().
  struct Keys {
    const std::uint64_t* keys;
    int* numbers;        ///< 0, 1, ... `count` - 1
    int* other_numbers;  ///< room for as many
    int count;
  };
  struct Space {
    unsigned char* stretches;  ///< stretch_bytes()
    void* sort_space;
    std::size_t sort_bytes;
  };
  /// Enqueues the sort. `ranks`: first body of each domain but the first, ascending. Returns the array of numbers that
  /// has them in order.
  int* order(const Keys& keys, std::span<const int> ranks, const Space& space, cudaStream_t stream);

 private:
  const cuda::Device& device_;
  cuda::DeviceArray<int> histograms_;
};

/// Part of a DomainBorder's counts: the bodies on devices with smaller indices than this one.
struct EarlierBodies {
  int before, inside;
};

/// Test of whether a search made enough steps. A border's cell is small if it has at most 1 of every `bodies_per_small`
/// bodies of a domain. If it is larger, two domains' trees overlap there, and walks of its bodies meet twice the cells.
struct SmallBorders {
  static constexpr int bodies_per_small = 1024;

  const DomainBorder* of_steps;  ///< borders before the first step, and after each step
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
  const EarlierBodies* of_earlier;  ///< one entry per border
  int earlier;                      ///< number of bodies of the devices before this one
  std::uint64_t* keys;
  FirstBodies first;  ///< first bodies of the domains

  ORRERY_HD int border_count() const { return first.domains - 1; }
  ORRERY_HD int count() const { return 2 * border_count() + 1; }
};

/// Bodies that migrate as copies between devices that do not see each other's memory. Bodies that leave a device are
/// ordered by destination. A shipment is the next of them that fit into a buffer; as few bodies leave in most moves,
/// one is usually enough. Bodies that stay, then those that arrive, are stored where the migration wants them.
class DomainShipment {
 public:
  using Blocks = PartitionFacet::Blocks;

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
  cuda::DeviceArray<OctreeState> extents_;  // one entry per slot and pass; a slot's last pass is the final one
  cuda::DeviceArray<Vec3> mean_;            // mean of all bodies, from the latest move or pass
  cuda::DeviceArray<TreeCube> cube_;
  // One set per step:
  cuda::DeviceArray<DomainBorder> borders_;
  cuda::DeviceArray<EarlierBodies> earlier_;  // one entry per border
  cuda::DeviceArray<int> histograms_;         // one entry per step, border and digit
  cuda::DeviceArray<int> taken_;              // places taken, by stretch
  // Pointers to all devices' arrays:
  OnAll<const OctreeState> all_extents_[extent_passes];
  OnAll<const int> all_histograms_;
  ResidentBodies all_arrived_[most_devices];
  DomainShipment shipment_;
};

#endif

}  // namespace orrery
