// Interfaces of kernels, besides ForceKernel, for evaluations that several CUDA devices share.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "compute/core/vec.h"

struct CUstream_st;

namespace orrery {

struct ForceArgs;

/// One device's part of an evaluation that several devices share.
struct Part {
  int index = 0;              ///< index of the device; 0: the leader, which has the bodies
  double begin = 0, end = 1;  ///< fractions of the whole; a part ends where the next one begins

  /// Returns the index of this part's first object, of `count` ordered ones. last() returns the index after its last.
  template <class Integer>
  Integer first(Integer count) const {
    return place(begin, count);
  }
  template <class Integer>
  Integer last(Integer count) const {
    return place(end, count);
  }

 private:
  template <class Integer>
  static Integer place(double share, Integer count) {
    return share >= 1 ? count : static_cast<Integer>(share * static_cast<double>(count));
  }
};

/// Block of memory of one device that is copied to or from another device.
struct DeviceBlock {
  void* data = nullptr;
  std::size_t bytes = 0;  ///< 0: nothing is copied
};

/// Maximum number of devices that share a tree, in one process or in all ranks. It sets the size of arrays in kernels.
inline constexpr int most_devices = 64;

/// Implemented by CUDA kernels that several devices can evaluate together, each a part of the targets. Every device has
/// its own kernel, with the same settings. The first device leads: it has the bodies, and its `args` are those of
/// ForceKernel::evaluate(). On other devices, only `count`, `targets.count`, `masses`, `law` and `stream` of `args` are
/// valid. All functions enqueue on `args.stream` and return; the kernel's device must be active. Blocks that a device
/// offers for copies keep their contents until the leader's next prepare_inputs().
class PartitionFacet {
 public:
  using Blocks = std::vector<DeviceBlock>;

  virtual ~PartitionFacet() = default;
  /// Allocates memory as ForceKernel::prepare() does, for device `index` of `devices`. It is enough for evaluations of
  /// all `count` bodies without low words; other evaluations allocate more.
  virtual void prepare_partition(int count, int index, int devices) = 0;

  /// Leader: begins an evaluation with the work that one device does for all. Returns the blocks that all other devices
  /// need.
  virtual Blocks prepare_inputs(const ForceArgs& args, std::span<const Part> parts) = 0;
  /// Leader, next: returns the further blocks that only the device of this part needs.
  virtual Blocks input_of(const ForceArgs& /*args*/, const Part& /*part*/) { return {}; }
  /// Other device: allocates and returns the destinations of the leader's blocks, in the same order: first the blocks
  /// for all devices, then the ones for this device. The stream has passed the leader's previous use of these
  /// destinations.
  virtual Blocks receive(const ForceArgs& args, std::span<const Part> parts, std::span<const DeviceBlock> shared) = 0;

  /// Begins a part. Call after prepare_inputs() and all input_of(), or on other devices after receive() and the copies.
  virtual void begin_part(const ForceArgs& /*args*/, const Part& /*part*/) {}
  /// Leader: returns whether the latest evaluation had too little work to divide, so that the leader did all of it.
  virtual bool works_alone() const { return false; }
  /// Leader: returns whether the latest evaluation used the parts of an earlier one instead of the parts passed to
  /// prepare_inputs().
  virtual bool keeps_parts() const { return false; }
  /// Returns whether each device needs data that the others made in begin_part().
  virtual bool exchanges() const { return false; }
  /// Returns the blocks that begin_part() made for all other devices.
  virtual Blocks offer(const ForceArgs& /*args*/, const Part& /*part*/) { return {}; }
  /// Returns the destinations of the blocks that the device of another part offers, in the same order.
  virtual Blocks places_of_offer(const ForceArgs& /*args*/, const Part& /*other*/) { return {}; }
  /// Evaluates a part. Call after begin_part(). If exchanges(), also call after the copies of all offers, or after the
  /// steps of PeerFacet or ChoiceFacet that replace them.
  virtual void evaluate_part(const ForceArgs& args, const Part& part) = 0;

  /// Other device: returns the results of evaluate_part().
  virtual Blocks results(const ForceArgs& args, const Part& part) = 0;
  /// Leader: allocates and returns the destinations of the results of another device's part, in the same order.
  virtual Blocks places(const ForceArgs& args, const Part& part) = 0;
  /// Leader, after the copies: finishes all targets. `parts` are the parts of all devices, the leader's first.
  virtual void join(const ForceArgs& args, std::span<const Part> parts) = 0;

  /// Leader, between two evaluations: enqueues writing the part of each of `count` bodies. Returns the array of the
  /// parts, in the memory of its device. Null: the parts do not divide the bodies.
  virtual const int* find_owners(int /*count*/, CUstream_st* /*stream*/) { return nullptr; }
  /// Other device, between two evaluations: returns the data of the latest evaluation that the leader's
  /// TreeFacet::pick_cells() needs from this device.
  virtual Blocks cells(int /*index*/) { return {}; }
  /// Leader: returns the destinations of the cells() of device `index`, in the same order.
  virtual Blocks places_of_cells(int /*index*/) { return {}; }
};

/// Pointers to the same array on each of several devices that can access each other's memory. Passed to CUDA kernels by
/// value.
template <class T>
struct OnAll {
  T* of[most_devices] = {};
  int devices = 0;
};

/// Implemented, besides PartitionFacet, by CUDA kernels whose devices can access each other's memory. Each device
/// writes the data that the others need directly into their memory. Replaces PartitionFacet::offer() and the copies.
class PeerFacet {
 public:
  virtual ~PeerFacet() = default;
  /// Connects the kernels of all devices. `all` is in the order of the devices; all kernels have the class of this one.
  /// Call when PartitionFacet or MigrationFacet has prepared all devices.
  virtual void connect(std::span<PeerFacet* const> all) = 0;
  /// Enqueues the writes to the other devices. Call if PartitionFacet::exchanges(), when all devices have enqueued
  /// begin_part() and the stream waits for that work. A device may evaluate its part when all have written.
  virtual void send(CUstream_st* stream) = 0;
};

/// Implemented, besides PartitionFacet, by CUDA kernels whose devices cannot access each other's memory. Instead of
/// PartitionFacet::offer(), each device chooses the data that each other device needs. If exchanges(), these steps come
/// between begin_part() and evaluate_part(): outline(), copies of all outlines, choose(), copies of all chosen blocks,
/// and take_chosen().
class ChoiceFacet {
 public:
  using Blocks = PartitionFacet::Blocks;

  virtual ~ChoiceFacet() = default;
  /// Allocates the memory for choices. Call after prepare_partition(). Throws UsageError if memory is short.
  virtual void prepare_choice() = 0;
  /// Returns the outline of this device's domain, which begin_part() made. Other devices find from it which data this
  /// device may need. The size is the same on all devices.
  virtual DeviceBlock outline() = 0;
  /// Returns the destination of the outline of device `index`.
  virtual DeviceBlock place_of_outline(int index) = 0;
  /// Returns the blocks that each other device needs, by index; none for this device. The host needs their sizes:
  /// `wait` must block until the stream has finished.
  virtual std::vector<Blocks> choose(const ForceArgs& args, const std::function<void()>& wait) = 0;
  /// Allocates and returns the destinations of the blocks that device `index` has chosen. `sizes`: bytes of each block.
  virtual Blocks places_of_chosen(int index, std::span<const std::size_t> sizes) = 0;
  /// Enqueues the unpacking of the chosen blocks, for evaluate_part().
  virtual void take_chosen(const ForceArgs& args) = 0;
};

/// Bodies in the memory of the device that holds them.
struct ResidentBodies {
  int count = 0;
  Vec4* positions = nullptr;  ///< x, y, z, m
  Vec4* velocities = nullptr;
  const Vec4* accelerations = nullptr;  ///< from the latest evaluation; undefined before the first
  int* ids = nullptr;                   ///< number of each body among all bodies
};

/// Implemented, besides PartitionFacet, by CUDA kernels whose devices can hold the bodies of their parts between
/// evaluations. Before an evaluation, bodies migrate to the devices of the parts that they are in now. This takes
/// several rounds: a device begins a round when all devices have ended the previous one. Then come begin_part(), the
/// exchange and evaluate_part(), as if one device had the bodies. Devices that can access each other's memory connect
/// by PeerFacet, others by ShipmentFacet. `args` have the valid members of a device other than the leader; on the first
/// device, also `evaluated` and `times_phases`. All functions but the first three enqueue on `args.stream`; the
/// kernel's device must be active.
class MigrationFacet {
 public:
  virtual ~MigrationFacet() = default;
  /// Returns whether there are enough bodies, `count`, to hold them on `devices` devices.
  virtual bool can_hold(int count, int devices) const = 0;
  /// Allocates residents() for part `index`; its contents are undefined. Call instead of
  /// PartitionFacet::prepare_partition(). Throws as ForceKernel::prepare().
  virtual void prepare_residence(int count, int index, std::span<const Part> parts) = 0;
  /// Returns the bodies of this device. Valid until the next divide().
  virtual ResidentBodies residents() = 0;

  /// First device: begins an evaluation. Returns the number of rounds in which bodies migrate; 0: each device keeps its
  /// bodies.
  virtual int begin_residents(const ForceArgs& args) = 0;
  /// Every device, next: begins the migration to these parts if `rounds` > 0.
  virtual void divide(const ForceArgs& args, std::span<const Part> parts, int rounds) = 0;
  virtual void round(int number, const ForceArgs& args) = 0;
  /// First device: ends the evaluation. Call when all devices have evaluated their parts.
  virtual void finish_residents(const ForceArgs& args) = 0;
};

/// Implemented, besides MigrationFacet, for devices that cannot access each other's memory. After each round, all
/// devices get copies of each other's results. After the last round, they get the bodies that migrate to them. Then
/// comes the evaluation, as in ChoiceFacet, and then all devices' counters are copied.
class ShipmentFacet {
 public:
  using Blocks = PartitionFacet::Blocks;

  virtual ~ShipmentFacet() = default;
  /// Allocates the memory for shipments. Call after MigrationFacet::prepare_residence(). Throws UsageError if memory is
  /// short.
  virtual void prepare_shipment() = 0;
  /// Returns the number of bodies that device `index` holds until the next migration.
  virtual int bodies_of(int index) const = 0;
  /// Returns this device's result of a round. The size is the same on all devices.
  virtual DeviceBlock found_in(int round) = 0;
  /// Returns the destination of the result of device `index`.
  virtual DeviceBlock place_of_found(int round, int index) = 0;
  /// Returns the number of shipments in which bodies leave: one or more, the same on all devices. Call after the copies
  /// of the last round's results. The host reads these results: `wait` must block until the stream has finished.
  virtual int shipments(const std::function<void()>& wait, CUstream_st* stream) = 0;
  /// Returns the bodies of a shipment for each other device, by index. Call for the shipments in order, each after the
  /// previous one has left.
  virtual std::vector<Blocks> leaving(int shipment, CUstream_st* stream) = 0;
  /// Returns the destinations of the bodies from each other device, by index.
  virtual std::vector<Blocks> arriving(int shipment) = 0;
  /// Returns the counters that MigrationFacet::finish_residents() needs from each device. Their size is the same on all
  /// devices; place_of_counted() is their destination.
  virtual DeviceBlock counted() = 0;
  virtual DeviceBlock place_of_counted(int index) = 0;
};

}  // namespace orrery
