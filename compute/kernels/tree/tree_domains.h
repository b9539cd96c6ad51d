#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compute/core/vec.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/kernels/division.h"
#include "compute/kernels/tree/domain_layout.h"
#include "compute/kernels/tree/domain_migration.h"
#include "compute/kernels/tree/essential_trees.h"
#include "compute/kernels/tree/octree_work.h"

namespace orrery {

/// Number that a GPU notes in host memory in every evaluation. The host reads it without waiting, so it is some
/// evaluations old.
class NotedNumber {
 public:
  explicit NotedNumber(const cuda::Device& device) : noted_{device, 2, /*pinned=*/true} { forget(); }

  /// Resets the number to 0. A note in flight goes to the other place, and can reappear only after a second call.
  void forget() {
    place_ ^= 1;
    std::atomic_ref{*place()}.store(0, std::memory_order_relaxed);
  }
  int value() const { return std::atomic_ref{*place()}.load(std::memory_order_relaxed); }
  /// Returns where the GPU writes the number.
  int* place() const { return &noted_.first(2)[place_]; }

 private:
  cuda::HostArray<int> noted_;
  std::size_t place_ = 0;  // index of the current place
};

/// Capacity for the cells of a tree, in use if all of it is copied to devices that do not see each other's memory, or
/// where cells are shown. It exceeds the latest trees' cells a little; after a change of the number of bodies, it is
/// the maximum. A tree that needs more has some larger leaves, and later ones get more. The GPU notes the cells; the
/// host reads them without waiting, so they are some evaluations old.
class CellRoom {
 public:
  explicit CellRoom(const cuda::Device& device) : cells_{device} {}

  /// Call when the bodies were replaced.
  void forget() { cells_.forget(); }
  /// Returns the capacity for the next tree, of `bodies` bodies and at most `most` cells.
  int room(int bodies, int most) {
    if (bodies != bodies_) forget();
    bodies_ = bodies;
    given_ = DomainLayout::room_after(cells_.value(), given_, most);
    return given_;
  }
  /// Enqueues a note of the latest tree's number of cells.
  void note(const int* d_cells, cudaStream_t stream) const {
    cuda::download(d_cells, std::span{cells_.place(), 1}, stream);
  }

 private:
  NotedNumber cells_;
  int bodies_ = 0, given_ = 0;  // bodies and capacity of the latest tree
};

/// Puts bodies into the order of the domains of several devices, with the requested number of bodies in each. This is
/// faster than a sort by key: it reads the keys two to eight times, until it has found the cells that contain the
/// borders, and sorts by 7 bits. Within a domain, bodies are not in key order.
class DomainKeys {
 public:
  explicit DomainKeys(const cuda::Device& device) : device_{device} {}

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

/// Sets picked[i] = keys[order[i]] for i in [0, count), count > 0.
void pick_keys(const std::uint64_t* keys, const int* order, int count, std::uint64_t* picked, cudaStream_t stream);

/// Sets picked[i] = flags[order[i]] for i in [0, count), count > 0.
void pick_flags(const unsigned char* flags, const int* order, int count, unsigned char* picked, cudaStream_t stream);

/// Sets spread[order[i]] = entries[i] for i in [0, count), count > 0.
void spread_entries(const Vec4* entries, const int* order, int count, Vec4* spread, cudaStream_t stream);

/// Division of cuda-tree among devices. Each device gets the bodies of a domain, a stretch of Hilbert's curve, and
/// builds their octree. The devices then exchange bodies and cells, whose indices are the same on all of them
/// (DomainLayout), and each walks all trees for its own bodies. Devices that see each other's memory, or choose,
/// exchange only what the walks need (EssentialTrees, ChosenTrees). A cell that spans two domains has a part in each
/// tree, so forces differ from those of one tree as if some cells were divided elsewhere.
///
/// While bodies keep their cells, they also keep their domains.
///
/// Either the leader has the bodies and hands them out, or the devices hold them (MigrationFacet): then all devices are
/// alike, and bodies migrate between domains.
///
/// Memory with the initial settings: each device has 48 bytes per body of all trees (the bodies, and the cells' data
/// for walks), and 68 per body of its largest possible domain, which has 1.5 times the mean. A leader that hands them
/// out has 116 per body in all. If the devices hold the bodies, all have 72 in place of 68.
///
/// Above 2^28 bodies, DomainLayout reserves less. If devices hold them, each has 34 bytes per body, and 60 per body of
/// the largest domain, which has 9/8 of the mean: on four devices, 204 in all. Devices that do not see each other's
/// memory have 4.5 more per body of the largest domain for bodies that leave, plus the memory of ChosenTrees.
class TreeDomains final : public DivisionFacet,
                          public ChoiceFacet,
                          public PeerFacet,
                          public MigrationFacet,
                          public ShipmentFacet {
 public:
  using Blocks = DivisionFacet::Blocks;

  /// `work` must outlive this. Once prepare_division() was called, nothing else may use it.
  explicit TreeDomains(OctreeWork& work)
      : work_{work},
        keys_{work.device},
        cells_{work.device},
        essential_{work.device},
        chosen_{work.device},
        migration_{work.device},
        border_steps_{work.device} {}

  /// Call when the bodies were replaced.
  void forget() {
    cells_.forget();
    essential_.forget();
    border_steps_.forget();
  }

  void prepare_division(int count, int index, int devices) override;
  Blocks share_out(const ForceArgs& args, std::span<const Part> parts) override;
  Blocks share_of(const ForceArgs& args, const Part& part) override;
  Blocks receive(const ForceArgs& args, std::span<const Part> parts, std::span<const DeviceBlock> shared) override;
  void begin_part(const ForceArgs& args, const Part& part) override;
  bool works_alone() const override { return layout_.trees() == 1; }
  bool keeps_parts() const override { return work_.keeps_cells; }
  bool exchanges() const override { return layout_.trees() > 1; }
  Blocks offer(const ForceArgs& args, const Part& part) override;
  Blocks places_of_offer(const ForceArgs& args, const Part& other) override;
  void evaluate_part(const ForceArgs& args, const Part& part) override;
  Blocks results(const ForceArgs& args, const Part& part) override;
  Blocks places(const ForceArgs& args, const Part& part) override;
  void join(const ForceArgs& args, std::span<const Part> parts) override;
  const int* find_owners(int count, cudaStream_t stream) override;
  Blocks cells(int index) override;
  Blocks places_of_cells(int index) override;

  void prepare_choice() override;
  DeviceBlock outline() override { return {essential_.outlined().data(), sizeof(DomainOutline)}; }
  DeviceBlock place_of_outline(int index) override { return chosen_.place_of_outline(index); }
  std::vector<Blocks> choose(const ForceArgs& args, const std::function<void()>& wait) override {
    return chosen_.choose(work_.tree, wait, args.stream);
  }
  Blocks places_of_chosen(int index, std::span<const std::size_t> sizes) override {
    return chosen_.places(index, sizes);
  }
  void take_chosen(const ForceArgs& args) override { chosen_.take(work_.tree, args.stream); }

  void send(CUstream_st* stream) override { essential_.send(work_.tree, stream); }

  void finish_residents(const ForceArgs& args) override;

  // Bodies that the devices hold:
  void connect(std::span<PeerFacet* const> all) override;
  bool can_hold(int count, int devices) const override { return DomainLayout::trees_for(count, devices) > 1; }
  void prepare_residence(int count, int index, std::span<const Part> parts) override;
  ResidentBodies held() override;
  int begin_residents(const ForceArgs& args) override;
  void divide(const ForceArgs& args, std::span<const Part> parts, int rounds) override;
  void round(int number, const ForceArgs& args) override;
  void prepare_shipment() override;
  int bodies_of(int index) const override { return layout_.bodies(index); }
  DeviceBlock found_in(int round) override { return migration_.found_in(round); }
  DeviceBlock place_of_found(int round, int index) override { return migration_.found_in(round, index); }
  int shipments(const std::function<void()>& wait, CUstream_st* stream) override {
    return migration_.shipment().begin(wait, stream);
  }
  std::vector<Blocks> leaving(int shipment, CUstream_st* stream) override {
    return migration_.shipment().leaving(shipment, stream);
  }
  std::vector<Blocks> arriving(int shipment) override { return migration_.shipment().arriving(shipment); }
  DeviceBlock counted() override { return {&work_.tree.state->found, sizeof(TreeCounts)}; }
  DeviceBlock place_of_counted(int index) override { return {counts_.data() + index, sizeof(TreeCounts)}; }

 private:
  bool is_first() const { return index_ == 0; }
  /// Returns whether this device has all bodies and hands them out.
  bool leads() const { return is_first() && !holds_; }
  /// Allocates the memory that all evaluations need.
  void prepare(int count, int index, int devices, bool holds);
  int own_bodies() const { return layout_.bodies(index_); }
  /// Begins the tree of this device's domain in the current layout, without keys and order.
  void begin_tree(int count);
  /// Sets the domains, which may differ from the previous ones.
  void begin_layout(const ForceArgs& args, std::span<const Part> parts);
  /// Leader: finds the domains of all bodies, and their order by domain.
  void divide_bodies(const ForceArgs& args);
  /// Leader: copies bodies and flags of the other domains to the blocks that share_of() returns.
  void gather_others(const ForceArgs& args);
  void sort_own(const ForceArgs& args);
  /// Puts the domain's received bodies into the order of the tree.
  void order_own(const ForceArgs& args);
  /// Return what other devices need of a tree to walk it, and what the leader needs besides to show it, up to
  /// `end_cell`.
  Blocks walked(int domain, int end_cell) const;
  Blocks shown(int domain, int end_cell, OctreeState* state) const;

  OctreeWork& work_;
  DomainKeys keys_;
  int index_ = 0, devices_ = 1;
  bool holds_ = false;         // whether the devices hold the bodies
  bool gives_needed_ = false;  // whether devices exchange only what walks need
  DomainLayout layout_;
  CellRoom cells_;
  KeyBuffers own_keys_{};  // keys of the domain: before the sort, then as sorted
  // On the leader:
  int* order_ = nullptr;          // all bodies, by domain
  cuda::DeviceArray<Vec4> sums_;  // by domain: the others' bodies, later the accelerations of all
  cuda::DeviceArray<unsigned char> others_flags_;
  cuda::DeviceArray<int> owners_;         // domain of each body, in original order
  cuda::DeviceArray<TreeCounts> counts_;  // sum over all devices at index 0, then one entry per other device; on all
                                          // devices if they exchange copies
  // On the other devices:
  cuda::DeviceArray<Vec4> received_;  // bodies in the leader's order, later their accelerations
  cuda::DeviceArray<TreeCube> cube_;
  // If devices exchange only what walks need:
  EssentialTrees essential_;
  ChosenTrees chosen_;
  Law noted_law_;  // law of the walks whose notes essential_ has
  // If devices hold the bodies:
  DomainMigration migration_;
  NotedNumber border_steps_;  // first device: steps that the search for borders needs
  ResidentBodies before_;     // bodies before the current move
  int earlier_ = 0;           // bodies of the devices before this one, before the current move
  OnAll<const TreeCounts> all_counts_;
};

}  // namespace orrery
