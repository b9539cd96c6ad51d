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

// Domains of cuda-tree: several devices divide the bodies, and each has the bodies in one range of keys along Hilbert's
// curve. DomainLayout sets the number of bodies per device, DomainBorder marks the end of a range, and ShipmentPlan
// lists the bodies that move. With CUDA, DomainSort divides bodies that one device has, and DomainMigration moves
// bodies that all devices hold.
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

/// Layout of all devices' trees in arrays that have the same size on every device. A domain is one device's range of
/// key-sorted bodies, plus capacity for the cells of their tree. If there are few bodies, domain 0 holds all of them;
/// otherwise, no domain is empty.
class DomainLayout {
 public:
  DomainLayout() = default;
  /// Divides `count` bodies in the proportions of `parts`, as closely as most_bodies() allows. `leaf`: see Octree.
  DomainLayout(int count, std::span<const Part> parts, int leaf);

  friend bool operator==(const DomainLayout&, const DomainLayout&) = default;

  /// Number of non-empty domains.
  int trees() const { return trees_; }
  int first_body(int domain) const { return bounds_[index(domain)]; }
  int bodies(int domain) const { return bounds_[index(domain) + 1] - bounds_[index(domain)]; }
  /// Returns the first body of each non-empty domain.
  FirstBodies first_bodies() const;
  /// Returns the index of the root of the domain's tree; end_cell() returns the end of the capacity for its cells.
  int first_cell(int domain) const { return cells_before(first_body(domain), domain, cells_of_64_); }
  int end_cell(int domain) const { return cells_before(bounds_[index(domain) + 1], domain + 1, cells_of_64_); }

  /// Returns the number of non-empty domains if `count` bodies are divided among `domains`.
  static int trees_for(int count, int domains);
  /// Returns an upper bound for the bodies of one domain, for any parts.
  static int most_bodies(int count, int domains);
  static int most_cells(int count, int domains, int leaf);
  /// Returns the capacity for the cells of all domains.
  static int all_cells(int count, int domains, int leaf) {
    return cells_before(count, domains, cells_of_64(count, leaf));
  }
  /// Returns the maximum number of bodies of all domains, for which cells have indices below Octree::most_cells.
  static int most_of_all(int domains, int leaf);
  /// Returns the capacity for the next tree, in cells, at most `most`. The latest tree used `cells` (0: unknown) of its
  /// capacity `given`. Returns `most` if `cells` is unknown or that tree did not fit.
  static int room_after(int cells, int given, int most);

 private:
  static std::size_t index(int domain) { return static_cast<std::size_t>(domain); }
  /// Returns the capacity for cells per 64 bodies, if there are `count` bodies in all.
  static int cells_of_64(int count, int leaf);
  static int cells_before(int bodies, int domains, int cells_of_64);

  std::vector<int> bounds_;  // index of each domain's first body, then the number of all bodies
  int trees_ = 0;
  int cells_of_64_ = 0;
};

inline constexpr int most_borders = most_devices - 1;

/// Border between two domains: the octree cell in which one ends and the next begins. The cell contains the body whose
/// rank in key order is the number of bodies in earlier domains. A search finds it from the root, three levels per
/// step: each step counts the cell's bodies by the next digit of their keys.
struct DomainBorder {
  static constexpr int levels_per_digit = 3, digits = 1 << 3 * levels_per_digit;
  static_assert(key_levels % levels_per_digit == 0);
  /// Maximum number of bodies in a cell that is not divided further. It hardly matters to which domain so few belong.
  static constexpr int few = 16;

  // No initial values, because a kernel keeps borders in shared memory.
  std::uint64_t begin;  ///< first key of the cell
  std::int64_t level;   ///< 64 bits avoid padding, whose copies initcheck would report
  int before;           ///< number of bodies with smaller keys
  int inside;           ///< number of bodies in the cell

  /// Returns the start of the search: the root cell. `rank`: number of bodies, out of `count`, in domains before the
  /// border.
  ORRERY_HD static DomainBorder of_all(int rank, int count) {
    if (rank < count) return {0, 0, 0, count};
    return {std::uint64_t{1} << 3 * key_levels, key_levels, count, 0};  // begins after all keys
  }

  ORRERY_HD bool found() const { return inside <= few || level == key_levels; }
  ORRERY_HD std::uint64_t end() const { return begin + (std::uint64_t{1} << bits_below()); }
  ORRERY_HD bool has(std::uint64_t key) const { return (key ^ begin) >> bits_below() == 0; }
  /// Returns the next digit of a key in this cell: which cell three levels below holds it. Call only if not found().
  ORRERY_HD int digit(std::uint64_t key) const {
    return static_cast<int>(key >> (bits_below() - 3 * levels_per_digit)) & (digits - 1);
  }
  /// Returns the cell three levels below whose keys have this digit. `count`: its number of bodies. `smaller`: number
  /// of this cell's bodies with smaller digits.
  ORRERY_HD DomainBorder at_digit(int digit, int smaller, int count) const {
    const int shift = bits_below() - 3 * levels_per_digit;
    return {begin | static_cast<std::uint64_t>(digit) << shift, level + levels_per_digit, before + smaller, count};
  }

 private:
  ORRERY_HD int bits_below() const { return static_cast<int>(3 * (key_levels - level)); }
};

static_assert(sizeof(DomainBorder) == 2 * sizeof(std::uint64_t) + 2 * sizeof(int));  // no padding

/// Returns the index of the stretch of the curve that contains a key. `count` borders make 2 count + 1 stretches in key
/// order, because each border's cell is a separate stretch. Stretch 0 is before the first border, 2 count after the
/// last.
ORRERY_HD inline int stretch_of(std::uint64_t key, const DomainBorder* borders, int count) {
  int stretch = 0;
  for (int i = 0; i < count; ++i) stretch += (key >= borders[i].begin) + (key >= borders[i].end());
  return stretch;
}

/// Plan of the shipments in which bodies move between devices. Each device orders the bodies that leave it by
/// destination. In each shipment, every device sends the next `room` of these bodies.
class ShipmentPlan {
 public:
  ShipmentPlan() = default;
  /// `going`: number of bodies from each device to each, including those that stay; must outlive this object.
  ShipmentPlan(int devices, int room, std::span<const int> going) : devices_{devices}, room_{room}, going_{going} {}

  /// Range of consecutive bodies.
  struct Interval {
    int first, count;
  };

  /// Returns the number of shipments, at least one.
  int shipments() const;
  /// Returns the bodies of a shipment that move from `from` to `to`, counted from the beginning of the shipment.
  Interval leaving(int shipment, int from, int to) const;
  /// Returns the range of these bodies on device `to`: after the bodies that stay, ordered by origin.
  Interval arriving(int shipment, int from, int to) const;

 private:
  int going(int from, int to) const;
  /// Returns the number of bodies that leave a device for the devices before `to`.
  int before(int from, int to) const;

  int devices_ = 0, room_ = 1;
  std::span<const int> going_;
};

#if ORRERY_HAVE_CUDA

/// Sorts bodies by domain, with the requested number of bodies in each domain. Within a domain, bodies are not in key
/// order. This is faster than a sort by key: it reads the keys two to eight times to find the cells that contain the
/// borders, and then sorts by 7 bits.
class DomainSort {
 public:
  explicit DomainSort(const cuda::Device& device) : device_{device} {}

  /// Allocates memory for `borders` borders between domains.
  void prepare(int borders);
  /// Returns the bytes of Space::stretches; sort_bytes() returns those of Space::sort_space.
  static std::size_t stretch_bytes(int count) { return 2 * static_cast<std::size_t>(count); }
  static std::size_t sort_bytes(const cuda::Device& device, int count);

  /// Input of order().
  struct Keys {
    const std::uint64_t* keys;
    int* numbers;        ///< 0, 1, ... `count` - 1
    int* other_numbers;  ///< capacity for as many numbers, as scratch memory
    int count;
  };
  struct Space {
    unsigned char* stretches;  ///< stretch_bytes() bytes
    void* sort_space;
    std::size_t sort_bytes;
  };
  /// Enqueues the sort. `ranks`: first body of each domain except domain 0, ascending. Returns the array that will hold
  /// the numbers in order: `numbers` or `other_numbers`.
  int* order(const Keys& keys, std::span<const int> ranks, const Space& space, cudaStream_t stream);

 private:
  const cuda::Device& device_;
  cuda::DeviceArray<int> histograms_;
};

/// Counts of bodies before and inside a DomainBorder, on the devices with smaller indices than this one.
struct EarlierBodies {
  int before, inside;
};

/// Finds out whether a search made enough steps. A border's cell is small if it has at most 1 in `bodies_per_small`
/// bodies of a domain. If it is larger, two domains' trees overlap there, and walks of its bodies test twice the cells.
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

/// Stretches of the curve between the borders (see stretch_of()), and one device's bodies in them.
struct Stretches {
  const DomainBorder* borders;
  const EarlierBodies* of_earlier;  ///< one entry per border
  int earlier;                      ///< number of bodies of the devices before this one
  std::uint64_t* keys;
  FirstBodies first;  ///< first bodies of the domains

  ORRERY_HD int border_count() const { return first.domains - 1; }
  ORRERY_HD int count() const { return 2 * border_count() + 1; }
};

/// Moves bodies as copies between devices that cannot access each other's memory. Bodies that leave a device are
/// ordered by destination. A shipment is the next of these bodies that fit into a buffer; most moves need only one. The
/// destination arrays hold first the bodies that stay, then those that arrive.
class DomainShipment {
 public:
  using Blocks = PartitionFacet::Blocks;

  explicit DomainShipment(const cuda::Device& device) : device_{device} {}

  /// Allocates memory for device `index` of `devices`, with at most `most_bodies` bodies. `arrived`: arrays for the
  /// bodies that this device has after the move. Throws UsageError if memory is short.
  void prepare(int index, int devices, int most_bodies, const ResidentBodies& arrived);
  /// Frees the memory.
  void forget();

  /// Enqueues the count of bodies that move to each device, and the copy of those that stay. Overwrites the keys.
  /// `steps_needed`: see DomainMigration::Move.
  void plan(const ResidentBodies& from, const Stretches& stretches, const SmallBorders& small, int* steps_needed,
            cudaStream_t stream);
  /// Returns the numbers of bodies that move from a device to each device. Every device needs copies of all these
  /// blocks.
  DeviceBlock going_from(int device) const;
  /// Begins the transfers. Call when the counts of all devices have arrived. Returns the number of shipments, at least
  /// one and equal on all devices. `wait` must block until the stream has finished, because the host reads the counts.
  int begin(const std::function<void()>& wait, cudaStream_t stream);
  /// Returns the blocks of a shipment for each other device; arriving() returns where to receive the blocks from each.
  /// Both are indexed by device.
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
  cuda::DeviceArray<int> numbers_;    // device memory for the plan's numbers
  cuda::DeviceArray<int> all_going_;  // number of bodies from each device to each
  cuda::HostArray<int> going_;        // copy of all_going_ on the host
  // State of the current move:
  ResidentBodies from_;
  Stretches stretches_;
};

/// Moves bodies that several devices hold to the devices of their domains. A domain is a stretch of Hilbert's curve.
/// The host knows its number of bodies, because the layout prescribes it. In each round, a device reads the results of
/// all devices from the previous round; the last round writes the bodies to the memory of their new devices. Devices
/// that cannot access each other's memory get copies of the results and of packed bodies (DomainShipment).
///
/// The cube of the keys is found as by find_keys(), except that distances are measured from the mean of the previous
/// move. So one pass over the bodies is enough; the first move makes two.
///
/// A border between domains is the cell that the search has reached (DomainBorder). Bodies of that cell may go to
/// either side. This matters only if they are many, because the two domains' trees then overlap.
class DomainMigration {
 public:
  explicit DomainMigration(const cuda::Device& device) : device_{device}, shipment_{device} {}

  /// Allocates memory for at most `most_bodies` bodies of device `index`. `arrived`: arrays for as many bodies, which
  /// round() fills. Nothing else may use these arrays between the first round and take().
  void prepare(int most_bodies, int index, int devices, const ResidentBodies& arrived);
  void forget();
  /// Connects the migrations of all devices, by index. All of them must be prepared.
  void connect(std::span<const DomainMigration* const> all);
  /// Replaces connect() if devices cannot access each other's memory. Throws UsageError if memory is short.
  void prepare_copies();

  static constexpr int most_steps = key_levels / DomainBorder::levels_per_digit;
  /// Returns the number of rounds of the next move, if the search for borders makes `steps` steps, in [1, most_steps].
  int rounds(int steps) const { return passes() + steps + 1; }
  /// Begins a move. All devices must pass the same number of rounds.
  void begin(int rounds);

  struct Move {
    const ResidentBodies& from;
    int earlier;  ///< number of bodies of the devices before this one
    const DomainLayout& to;
    int of_all;           ///< number of bodies of all devices
    std::uint64_t* keys;  ///< capacity for one key per body that this device has before the move
    /// Receives the number of steps after which the borders' cells were small; 0: the steps were too few. Null: not
    /// wanted.
    int* steps_needed;
  };
  /// Enqueues a round. The next round must not begin before all devices have ended this one.
  void round(int number, const Move& move, cudaStream_t stream);
  /// With prepare_copies(): returns this device's results of a round, which have the same size on all devices.
  /// found_in(round, index) returns where the results of another device belong. After the last round, shipment() has
  /// the bodies that leave.
  DeviceBlock found_in(int round) const { return found_in(round, index_); }
  DeviceBlock found_in(int round, int index) const;
  DomainShipment& shipment() { return shipment_; }

  /// Returns this device's bodies after all rounds, in any order; cube() returns the cube of the keys of all bodies.
  const ResidentBodies& arrived() const { return arrived_; }
  const TreeCube* cube() const { return cube_.data(); }
  /// Returns the velocities in the order of this device's tree; ids() returns the ids.
  Vec4* velocities() const { return velocities_.data(); }
  int* ids() const { return ids_.data(); }
  /// Enqueues a copy of the arrived bodies to `to`, in the order `order`.
  void take(const int* order, const ResidentBodies& to, cudaStream_t stream) const;

 private:
  static constexpr int extent_passes = 2;

  /// Number of passes over the bodies to find their extent.
  int passes() const { return knows_mean_ ? 1 : extent_passes; }
  int borders() const { return devices_ - 1; }
  /// Returns the borders before step `step`, i.e. after the previous step.
  DomainBorder* borders_at(int step) const { return borders_.data() + step * borders(); }
  EarlierBodies* earlier_at(int step) const { return earlier_.data() + step * borders(); }
  std::size_t histograms_of(int step) const;
  /// Returns this device's own results, in arrays that may also hold those of other devices.
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
  bool has_copies_ = false;     // whether copies of the other devices' results are used
  int passes_ = 0, steps_ = 0;  // passes and steps of the current move
  cuda::DeviceArray<Vec4> velocities_;
  cuda::DeviceArray<int> ids_;
  ResidentBodies arrived_;
  cuda::DeviceArray<OctreeState> extents_;  // one entry per slot and pass; a slot's last pass is the final one
  cuda::DeviceArray<Vec3> mean_;            // mean of all bodies, from the latest move or pass
  cuda::DeviceArray<TreeCube> cube_;
  // Arrays with one set of entries per step:
  cuda::DeviceArray<DomainBorder> borders_;
  cuda::DeviceArray<EarlierBodies> earlier_;  // one entry per border
  cuda::DeviceArray<int> histograms_;         // one entry per step, border and digit
  cuda::DeviceArray<int> taken_;              // number of places taken so far, by stretch
  // Pointers to all devices' arrays:
  OnAll<const OctreeState> all_extents_[extent_passes];
  OnAll<const int> all_histograms_;
  ResidentBodies all_arrived_[most_devices];
  DomainShipment shipment_;
};

#endif

}  // namespace orrery
