#pragma once

#include <cstddef>
#include <span>
#include <vector>

struct CUstream_st;

namespace orrery {

struct ForceArgs;

/// A part of an evaluation that several devices divide.
struct Part {
  int index = 0;              ///< 0: that of the device that has the bodies
  double begin = 0, end = 1;  ///< of the whole; that of one part is the begin of the next, so that none is left out

  /// The first of `count` things in order that belong to this part, and the first after them.
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

/// The most devices, of one process or of ranks, that divide a tree: kernels have arrays of so many.
inline constexpr int most_devices = 64;

/// What CUDA kernels have of which several devices evaluate a part each. Every device has a kernel of its own, with the
/// same settings. The first device leads: it has the bodies, and its `args` are those of ForceKernel::evaluate(). In
/// the `args` of the others, `count`, `targets.count`, `masses`, `law` and `stream` are valid, and nothing that points
/// to memory. All functions enqueue on `args.stream` and return; the kernel's device must be active. What a device
/// shares, offers or finds stays as it is until the leader's next share_out().
class DivisionFacet {
 public:
  using Blocks = std::vector<DeviceBlock>;

  virtual ~DivisionFacet() = default;
  /// As ForceKernel::prepare() for device `index` of so many: takes the memory that it needs for whole evaluations of
  /// `count` bodies without low words. What other evaluations need besides, they take.
  virtual void prepare_division(int count, int index, int devices) = 0;

  /// The leader: begins an evaluation with what one device does for all, and returns what all others need.
  virtual Blocks share_out(const ForceArgs& args, std::span<const Part> parts) = 0;
  /// The leader, then: what the device of a part needs besides.
  virtual Blocks share_of(const ForceArgs& /*args*/, const Part& /*part*/) { return {}; }
  /// Another device: where to copy what the leader shared with it, entry for entry: first with all, then with it alone.
  /// Takes the memory for that. The stream has passed what the leader did with these of its blocks before.
  virtual Blocks receive(const ForceArgs& args, std::span<const Part> parts, std::span<const DeviceBlock> shared) = 0;

  /// Begins a part; follows share_out() and all of share_of(), or receive() and the copies.
  virtual void begin_part(const ForceArgs& /*args*/, const Part& /*part*/) {}
  /// The leader: whether the latest evaluation leaves nothing to the other devices, since there is so little to do.
  virtual bool works_alone() const { return false; }
  /// The leader: whether the latest evaluation has the parts of an earlier one instead of those that share_out() got.
  virtual bool keeps_parts() const { return false; }
  /// Whether a device needs what the others made in begin_part(), to go on.
  virtual bool exchanges() const { return false; }
  /// What begin_part() made for all other devices.
  virtual Blocks offer(const ForceArgs& /*args*/, const Part& /*part*/) { return {}; }
  /// Where to copy what the device of another part offers, entry for entry.
  virtual Blocks places_of_offer(const ForceArgs& /*args*/, const Part& /*other*/) { return {}; }
  /// Evaluates a part; follows begin_part(), and if exchanges() the copies of all offers, or what PeerFacet or
  /// ChoiceFacet has in their place.
  virtual void evaluate_part(const ForceArgs& args, const Part& part) = 0;

  /// Another device: what evaluate_part() found.
  virtual Blocks results(const ForceArgs& args, const Part& part) = 0;
  /// The leader: where to copy the results of another device's part, entry for entry. Takes the memory for that.
  virtual Blocks places(const ForceArgs& args, const Part& part) = 0;
  /// The leader, behind the copies: finishes all targets. `parts` has those of all devices, its own first.
  virtual void join(const ForceArgs& args, std::span<const Part> parts) = 0;

  /// Between two evaluations. The leader: enqueues which part has each of `count` bodies, into memory of its device.
  /// Null: no part has bodies of its own.
  virtual const int* find_owners(int /*count*/, CUstream_st* /*stream*/) { return nullptr; }
  /// Likewise. Another device: what TreeFacet::pick_cells() of the leader needs besides what the leader has got, as the
  /// latest evaluation left it.
  virtual Blocks cells(int /*index*/) { return {}; }
  /// The leader: where to copy that from the device `index`, entry for entry.
  virtual Blocks places_of_cells(int /*index*/) { return {}; }
};

}  // namespace orrery
