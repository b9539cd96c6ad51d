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

/// A number that a GPU notes in host memory in every evaluation. The host looks without waiting, so it is that of some
/// evaluations ago.
class NotedNumber {
 public:
  explicit NotedNumber(const cuda::Device& device) : noted_{device, 2, /*pinned=*/true} { forget(); }

  /// It becomes 0. A note on its way goes to the other place; after two calls, it may still come.
  void forget() {
    place_ ^= 1;
    std::atomic_ref{*place()}.store(0, std::memory_order_relaxed);
  }
  int value() const { return std::atomic_ref{*place()}.load(std::memory_order_relaxed); }
  /// Where the GPU writes it.
  int* place() const { return &noted_.first(2)[place_]; }

 private:
  cuda::HostArray<int> noted_;
  std::size_t place_ = 0;  // of the present note
};

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

/// Puts bodies into the order of the domains that several devices get, with as many bodies in each as is asked for.
/// This takes less time than a sort by key: it reads the keys two to eight times, until it has found the cells in which
/// the domains meet, and sorts by 7 bits. Within a domain, bodies are not in the order of their keys.
class DomainKeys {
 public:
  explicit DomainKeys(const cuda::Device& device) : device_{device} {}

  /// Takes memory for so many borders between domains.
  void prepare(int borders);
  /// Bytes of memory for order().
  static std::size_t stretch_bytes(int count) { return 2 * static_cast<std::size_t>(count); }
  static std::size_t sort_bytes(const cuda::Device& device, int count);

  /// What order() gets.
  struct Keys {
    const std::uint64_t* keys;
    int* numbers;        ///< of `count` bodies: 0, 1, ...
    int* other_numbers;  ///< room for as many
    int count;
  };
  struct Space {
    unsigned char* stretches;  ///< stretch_bytes()
    void* sort_space;
    std::size_t sort_bytes;
  };
  /// Enqueues the sort. `ranks`: of the first body of each domain but the first, ascending. Returns which of the two
  /// arrays of numbers has them in order.
  int* order(const Keys& keys, std::span<const int> ranks, const Space& space, cudaStream_t stream);

 private:
  const cuda::Device& device_;
  cuda::DeviceArray<int> histograms_;
};

/// picked[i] = keys[order[i]] for i in [0, count), count > 0.
void pick_keys(const std::uint64_t* keys, const int* order, int count, std::uint64_t* picked, cudaStream_t stream);

/// The same of flags.
void pick_flags(const unsigned char* flags, const int* order, int count, unsigned char* picked, cudaStream_t stream);

/// spread[order[i]] = entries[i] for i in [0, count), count > 0.
void spread_entries(const Vec4* entries, const int* order, int count, Vec4* spread, cudaStream_t stream);

/// The division of cuda-tree among devices: each gets the bodies of a domain, a stretch of Hilbert's curve, and builds
/// an octree of these. Then the devices hand each other their bodies and cells, whose numbers are the same on all of
/// them (DomainLayout), and each walks through all trees from its own bodies. If the devices see each other's memory,
/// or choose, they hand each other only what the walks need (EssentialTrees, ChosenTrees). A cell that lies in two
/// domains has a part in each tree, so forces differ from those of one tree as much as those of cells that are divided
/// elsewhere.
///
/// If the bodies keep their cells, they keep their domains, too.
///
/// The leader has the bodies and hands them out, or the devices hold them (MigrationFacet): then no device is
/// different, and bodies move from domain to domain.
///
/// Memory, with the initial settings: on each device 48 bytes per body (of all trees: the bodies, and what walks need
/// of the cells), and 68 per body of the largest domain that it may get, which has one and a half times the mean; on
/// the leader, if it hands them out, 116 per body in all. If the devices hold the bodies, 72 in place of 68, and the
/// leader is not different. Of more than 2^28 bodies, DomainLayout reserves less: where devices hold them, 34 bytes per
/// body, and 60 per body of the largest domain, which has 9/8 of the mean. On four devices these are 204 in all.
/// Devices that do not see each other's memory have 4.5 more per body of the largest domain for bodies that leave, and
/// what ChosenTrees takes.
class TreeDomains final : public DivisionFacet,
                          public ChoiceFacet,
                          public PeerFacet,
                          public MigrationFacet,
                          public ShipmentFacet {
 public:
  using Blocks = DivisionFacet::Blocks;

  /// `work` must outlive this, and is for nothing else once prepare_division() was called.
  explicit TreeDomains(OctreeWork& work)
      : work_{work},
        keys_{work.device},
        cells_{work.device},
        essential_{work.device},
        chosen_{work.device},
        migration_{work.device},
        border_steps_{work.device} {}

  /// For other bodies.
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

  // In tree_residents.cpp:
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
  /// It has the bodies, and hands them out.
  bool leads() const { return is_first() && !holds_; }
  /// Takes the memory that all evaluations need.
  void prepare(int count, int index, int devices, bool holds);
  int own_bodies() const { return layout_.bodies(index_); }
  /// The tree of this device's domain in the present layout, without keys and order.
  void begin_tree(int count);
  /// Other domains than before, perhaps.
  void begin_layout(const ForceArgs& args, std::span<const Part> parts);
  /// The leader: finds the domains of all bodies, and their order by domain.
  void divide_bodies(const ForceArgs& args);
  /// The leader: copies bodies and flags of the other domains to where share_of() has them.
  void gather_others(const ForceArgs& args);
  void sort_own(const ForceArgs& args);
  /// Puts the bodies of the domain into the order of the tree, from where they came to.
  void order_own(const ForceArgs& args);
  /// What other devices need of a tree to walk through it, and what the leader needs besides; with the cells up to one.
  Blocks walked(int domain, int end_cell) const;
  Blocks shown(int domain, int end_cell, OctreeState* state) const;

  OctreeWork& work_;
  DomainKeys keys_;
  int index_ = 0, devices_ = 1;
  bool holds_ = false;         // the devices hold the bodies
  bool gives_needed_ = false;  // they give each other only what walks need
  DomainLayout layout_;
  CellRoom cells_;
  KeyBuffers own_keys_{};  // of the domain: before the sort, and then as it left them
  // The leader's:
  int* order_ = nullptr;          // of all bodies, by domain
  cuda::DeviceArray<Vec4> sums_;  // by domain: bodies of the others, and then the accelerations of all
  cuda::DeviceArray<unsigned char> others_flags_;
  cuda::DeviceArray<int> owners_;         // of the bodies, in their own order
  cuda::DeviceArray<TreeCounts> counts_;  // of all devices together, and then of each other one; with copies, on all
  // The others':
  cuda::DeviceArray<Vec4> received_;  // bodies in the leader's order, and then their accelerations
  cuda::DeviceArray<TreeCube> cube_;
  // Of devices that give each other only what walks need:
  EssentialTrees essential_;
  ChosenTrees chosen_;
  Law noted_law_;  // of the walks whose notes essential_ has
  // Of devices that hold the bodies:
  DomainMigration migration_;
  NotedNumber border_steps_;  // the first device: as many as the search for borders needs
  ResidentBodies before_;     // the present move
  int earlier_ = 0;           // before it, bodies of the devices before this one
  OnAll<const TreeCounts> all_counts_;
};

}  // namespace orrery
