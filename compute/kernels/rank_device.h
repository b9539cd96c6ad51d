#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "compute/kernels/division_facet.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Which CUDA device each rank opens, by its place among the ranks of its host.
struct DevicesOfRanks {
  std::vector<int> listed{};  ///< ordinals by place; empty: those from `first` on, then the ones before it
  int first = 0;              ///< that of place 0, if none are listed
  friend bool operator==(const DevicesOfRanks&, const DevicesOfRanks&) = default;
};

/// What the leader compares of the ranks' devices.
struct RankDeviceFacts {
  int ordinal = 0;                       ///< as its rank counts them
  std::array<unsigned char, 16> uuid{};  ///< the same for ranks that share a device
  int architecture = 0;                  ///< 90 for sm_90
  int multiprocessors = 0;
};

/// One rank's kernel on its CUDA device, for evaluations that the devices of all ranks divide by its DivisionFacet.
/// What the ranks send each other is in host memory of this object, and stays there until the next evaluation.
class HostedDivision {
 public:
  virtual ~HostedDivision() = default;
  virtual ForceKernel& kernel() = 0;
  /// DivisionFacet::prepare_division()
  virtual void prepare(int count, int index, int ranks) = 0;

  /// What all other ranks need: blocks of these sizes, one behind the other.
  struct Shared {
    std::vector<std::size_t> sizes{};
    std::span<const std::byte> bytes{};
  };
  // The leader calls these in their order. `args` are those of ForceKernel::evaluate(), and `parts` has one per rank.
  /// Begins an evaluation and the leader's own part. Returns once the blocks are in host memory.
  virtual Shared share_out(const ForceArgs& args, std::span<const Part> parts) = 0;
  /// Where to put the results of another rank's part.
  virtual std::span<std::byte> place(const ForceArgs& args, const Part& part) = 0;
  /// Waits for the end of the leader's own part.
  virtual void wait() = 0;
  /// The results are in their places: finishes all targets. Enqueues on args.stream and returns.
  virtual void join(const ForceArgs& args, std::span<const Part> parts) = 0;

  // Another rank.
  /// Takes the memory for the bytes of Shared, so that nothing can fail while they arrive.
  virtual void take_room(std::size_t bytes) = 0;
  /// Where to put them; at most as many as the latest take_room() was for.
  virtual std::span<std::byte> room(std::size_t bytes) = 0;
  /// Evaluates a part from them. `args` are as DivisionFacet wants them of another device; the stream does not matter.
  /// Returns the results.
  virtual std::span<const std::byte> evaluate(const ForceArgs& args, std::span<const std::size_t> sizes,
                                              std::span<const Part> parts, const Part& own) = 0;
};

/// The CUDA device of one rank.
class RankDevice {
 public:
  virtual ~RankDevice() = default;
  /// Opens the one for a rank at this place among the ranks of its host, in place of an earlier one, which the kernels
  /// that it has made keep. Throws UsageError if there is no such device, and std::runtime_error if CUDA cannot run.
  virtual RankDeviceFacts open(const DevicesOfRanks& which, int place) = 0;
  /// Call after open(). Throws as KernelInfo::make().
  virtual std::unique_ptr<HostedDivision> make(const KernelInfo& kernel, const Settings& settings) = 0;
};

/// The ordinal of the device of a place, if the rank sees so many; otherwise one that does not exist. Throws UsageError
/// if the list has no such place.
int device_at(const DevicesOfRanks& which, int place, int visible);
/// `facts`: by rank. Throws UsageError that names two ranks if their devices differ, or if they share one that is not
/// listed for both.
void check_devices(std::span<const RankDeviceFacts> facts, const DevicesOfRanks& which);

}  // namespace orrery
