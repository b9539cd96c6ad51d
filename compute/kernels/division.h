// How several CUDA devices divide the evaluations of a kernel: interfaces that kernels have besides ForceKernel.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "compute/core/vec.h"

struct CUstream_st;

namespace orrery {

struct ForceArgs;

/// A part of an evaluation that several devices divide.
struct Part {
  int index = 0;              ///< 0: that of the device that has the bodies
  double begin = 0, end = 1;  ///< shares of the whole; one part ends where the next begins

  /// Index of the first of `count` things in order that belongs to this part, and of the first after them.
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

/// Memory of one device that is copied to or from another.
struct DeviceBlock {
  void* data = nullptr;
  std::size_t bytes = 0;  ///< 0: nothing is copied
};

/// Maximum number of devices, of one process or of ranks, that divide a tree: the size of arrays in kernels.
inline constexpr int most_devices = 64;

/// Implemented by CUDA kernels that several devices can evaluate together, each a part of the targets. Every device has
/// its own kernel, with the same settings. The first device leads: it has the bodies, and its `args` are those of
/// ForceKernel::evaluate(). In the `args` of the others, `count`, `targets.count`, `masses`, `law` and `stream` are
/// valid, and nothing that points to memory. All functions enqueue on `args.stream` and return; the kernel's device
/// must be active. What a device shares, offers or finds stays as it is until the leader's next share_out().
class DivisionFacet {
 public:
  using Blocks = std::vector<DeviceBlock>;

  virtual ~DivisionFacet() = default;
  /// Does what ForceKernel::prepare() does, for device `index` of `devices`: takes the memory for whole evaluations of
  /// `count` bodies without low words. Other evaluations take what they need besides.
  virtual void prepare_division(int count, int index, int devices) = 0;

  /// Leader: begins an evaluation with what one device does for all, and returns what all others need.
  virtual Blocks share_out(const ForceArgs& args, std::span<const Part> parts) = 0;
  /// Leader, next: returns what the device of a part needs besides.
  virtual Blocks share_of(const ForceArgs& /*args*/, const Part& /*part*/) { return {}; }
  /// Other device: returns where to copy what the leader shared with it, entry for entry: first with all, then with it
  /// alone.
  /// Takes the memory for that. The stream has passed what the leader did with these of its blocks before.
  virtual Blocks receive(const ForceArgs& args, std::span<const Part> parts, std::span<const DeviceBlock> shared) = 0;

  /// Begins a part; follows share_out() and all of share_of(), or receive() and the copies.
  virtual void begin_part(const ForceArgs& /*args*/, const Part& /*part*/) {}
  /// Leader: returns whether the latest evaluation left nothing to the other devices, as there was so little to do.
  virtual bool works_alone() const { return false; }
  /// Leader: returns whether the latest evaluation has the parts of an earlier one instead of those that share_out()
  /// got.
  virtual bool keeps_parts() const { return false; }
  /// Returns whether a device needs what the others made in begin_part().
  virtual bool exchanges() const { return false; }
  /// Returns what begin_part() made for all other devices.
  virtual Blocks offer(const ForceArgs& /*args*/, const Part& /*part*/) { return {}; }
  /// Returns where to copy what the device of another part offers, entry for entry.
  virtual Blocks places_of_offer(const ForceArgs& /*args*/, const Part& /*other*/) { return {}; }
  /// Evaluates a part; follows begin_part(), and if exchanges() the copies of all offers, or what PeerFacet or
  /// ChoiceFacet has in their place.
  virtual void evaluate_part(const ForceArgs& args, const Part& part) = 0;

  /// Other device: returns what evaluate_part() found.
  virtual Blocks results(const ForceArgs& args, const Part& part) = 0;
  /// Leader: returns where to copy the results of another device's part, entry for entry. Takes the memory for that.
  virtual Blocks places(const ForceArgs& args, const Part& part) = 0;
  /// Leader, after the copies: finishes all targets. `parts` has those of all devices, its own first.
  virtual void join(const ForceArgs& args, std::span<const Part> parts) = 0;

  /// Leader, between two evaluations: enqueues what writes the part of each of `count` bodies to memory of its device,
  /// and returns that memory. Null: no part has bodies of its own.
  virtual const int* find_owners(int /*count*/, CUstream_st* /*stream*/) { return nullptr; }
  /// Other device, between two evaluations: returns what TreeFacet::pick_cells() of the leader needs besides what the
  /// leader has, as the latest evaluation left it.
  virtual Blocks cells(int /*index*/) { return {}; }
  /// Leader: returns where to copy the cells() of the device `index`, entry for entry.
  virtual Blocks places_of_cells(int /*index*/) { return {}; }
};

/// Memory of the same kind on each of several devices that can access each other's. Kernels take it by value.
template <class T>
struct OnAll {
  T* of[most_devices] = {};
  int devices = 0;
};

/// Implemented, besides DivisionFacet, by CUDA kernels whose devices can access each other's memory: each device writes
/// what the others need of it to where they look. Replaces DivisionFacet::offer() and the copies.
class PeerFacet {
 public:
  virtual ~PeerFacet() = default;
  /// Takes the kernels of all devices, by index, all of the kind of this one. Call when all devices are prepared, by
  /// DivisionFacet or by MigrationFacet.
  virtual void connect(std::span<PeerFacet* const> all) = 0;
  /// Enqueues the writes. Call if DivisionFacet::exchanges(), when all devices have enqueued begin_part() and the
  /// stream waits for these. A device may evaluate its part when all have written.
  virtual void send(CUstream_st* stream) = 0;
};

/// Implemented, besides DivisionFacet, by CUDA kernels whose devices cannot access each other's memory. Instead of
/// DivisionFacet::offer(), each device chooses what every other one needs of it. Between begin_part() and
/// evaluate_part(), if exchanges(): outline(), copies of all outlines, choose(), copies of all that was chosen, and
/// take_chosen().
class ChoiceFacet {
 public:
  using Blocks = DivisionFacet::Blocks;

  virtual ~ChoiceFacet() = default;
  /// Takes the memory to choose. Call after prepare_division(). Throws UsageError if there is no memory.
  virtual void prepare_choice() = 0;
  /// Returns what tells the others what this device may need, as begin_part() made it. Its size is the same on all
  /// devices.
  virtual DeviceBlock outline() = 0;
  /// Returns where to copy the outline of another device.
  virtual DeviceBlock place_of_outline(int index) = 0;
  /// Returns what each other device needs, by index; nothing for this device. The host needs the sizes: `wait` has to
  /// wait for what is enqueued on the stream.
  virtual std::vector<Blocks> choose(const ForceArgs& args, const std::function<void()>& wait) = 0;
  /// Takes memory for blocks of these sizes, which another device has chosen, and returns where to copy them.
  virtual Blocks places_of_chosen(int index, std::span<const std::size_t> sizes) = 0;
  /// Enqueues what brings the chosen blocks to where evaluate_part() looks.
  virtual void take_chosen(const ForceArgs& args) = 0;
};

/// The bodies that one device holds, in its memory.
struct ResidentBodies {
  int count = 0;
  Vec4* positions = nullptr;  ///< x, y, z, m
  Vec4* velocities = nullptr;
  const Vec4* accelerations = nullptr;  ///< from the latest evaluation; undefined before the first
  int* ids = nullptr;                   ///< their numbers among all bodies
};

/// Implemented, besides DivisionFacet, by CUDA kernels whose devices can hold the bodies of their parts between
/// evaluations. Before an evaluation, bodies move to the devices whose parts they are in now. This takes some rounds: a
/// device begins a round when all have ended the one before. Then follow begin_part(), the exchange, and
/// evaluate_part(), as with bodies that one device has. Devices that can access each other's memory connect by
/// PeerFacet, others by ShipmentFacet. `args` are as for devices other than the leader, but on the first device
/// `evaluated` and `times_phases` are valid, too. All functions but the first three enqueue on `args.stream`; the
/// kernel's device must be active.
class MigrationFacet {
 public:
  virtual ~MigrationFacet() = default;
  /// Returns whether `count` bodies are enough to keep them on `devices` devices.
  virtual bool can_hold(int count, int devices) const = 0;
  /// Allocates held() for part `index`; its contents are undefined. Call instead of DivisionFacet::prepare_division().
  /// Throws as ForceKernel::prepare().
  virtual void prepare_residence(int count, int index, std::span<const Part> parts) = 0;
  /// Returns the bodies of this device. Valid until the next divide().
  virtual ResidentBodies held() = 0;

  /// First device: begins an evaluation. Returns the number of rounds in which bodies move; 0: each device keeps its
  /// own.
  virtual int begin_residents(const ForceArgs& args) = 0;
  /// Every device, next: starts to move bodies to these parts if there are rounds.
  virtual void divide(const ForceArgs& args, std::span<const Part> parts, int rounds) = 0;
  virtual void round(int number, const ForceArgs& args) = 0;
  /// First device: ends the evaluation, when all have evaluated their parts.
  virtual void finish_residents(const ForceArgs& args) = 0;
};

/// Implemented, besides MigrationFacet, for devices that cannot access each other's memory. After each round, all
/// devices get copies of what the others found in it; after the last round, copies of the bodies that move. The
/// evaluation follows as in ChoiceFacet, and then copies of what all have counted.
class ShipmentFacet {
 public:
  using Blocks = DivisionFacet::Blocks;

  virtual ~ShipmentFacet() = default;
  /// Takes the memory for shipments. Call after MigrationFacet::prepare_residence(). Throws UsageError if there is
  /// none.
  virtual void prepare_shipment() = 0;
  /// Returns the number of bodies that a device holds until the next move.
  virtual int bodies_of(int index) const = 0;
  /// Returns what a round found. Its size is the same on all devices.
  virtual DeviceBlock found_in(int round) = 0;
  /// Returns where to copy what another device found.
  virtual DeviceBlock place_of_found(int round, int index) = 0;
  /// Returns the number of shipments in which bodies leave, one or more, the same on all devices. Call after the copies
  /// of what the last round found. The host needs it: `wait` has to wait for what is enqueued on the stream.
  virtual int shipments(const std::function<void()>& wait, CUstream_st* stream) = 0;
  /// Returns the bodies of a shipment for each other device, by index. Call in their order, each when the one before
  /// has left.
  virtual std::vector<Blocks> leaving(int shipment, CUstream_st* stream) = 0;
  /// Returns where to copy the bodies from each other device, by index.
  virtual std::vector<Blocks> arriving(int shipment) = 0;
  /// Returns what MigrationFacet::finish_residents() needs of each device. Its size is the same on all of them.
  virtual DeviceBlock counted() = 0;
  virtual DeviceBlock place_of_counted(int index) = 0;
};

}  // namespace orrery
