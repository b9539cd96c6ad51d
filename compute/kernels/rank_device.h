#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute/core/message.h"
#include "compute/core/vec.h"
#include "compute/kernels/body_pass.h"
#include "compute/kernels/division.h"
#include "compute/kernels/joint_work.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// A pass over the bodies of all ranks: a KickDrift and its NonFiniteCheck without pointers, so that an order can have
/// it.
struct HeldPass {
  cuda::KickDrift motion;
  std::uint32_t frozen_below = 0, before = 0, after = 0;

  cuda::NonFiniteCheck check(const cuda::NonFiniteReport& report) const {
    return {report, frozen_below, before, after};
  }
};

/// The leader's bodies, in memory that its device can access.
struct HeldSource {
  const Vec4* d_positions = nullptr;
  const Vec4* d_velocities = nullptr;
  const cuda::PackedFinding* d_finding = nullptr;  ///< the finding so far
};

/// Which arrays of the bodies are collected.
struct HeldWanted {
  bool positions = false, velocities = false, accelerations = false, owners = false;
};

/// Destinations of what is collected, in the order of all bodies, in memory that the leader's device can access.
struct HeldPlaces {
  Vec4* d_positions = nullptr;
  Vec4* d_velocities = nullptr;
  Vec4* d_accelerations = nullptr;
  int* d_owners = nullptr;  ///< the rank of each body

  HeldWanted wanted() const {
    return {.positions = d_positions != nullptr,
            .velocities = d_velocities != nullptr,
            .accelerations = d_accelerations != nullptr,
            .owners = d_owners != nullptr};
  }
};

/// How the ranks evaluate what they hold.
struct HeldEvaluation {
  int rounds = 0;  ///< rounds of the move before it, see MigrationFacet::begin_residents()
  bool connected = false;
};

/// The bodies that one rank's CUDA device holds from one evaluation to the next, each rank those of its part. All ranks
/// call the same functions in the same order, with their JointWork. If they are `connected`, data go from device to
/// device, otherwise through host memory. Functions enqueue on the leader's `stream`; those of other ranks have a
/// stream of their own. They may wait for other ranks. They throw what failed here, and Stopped if another rank failed;
/// then all ranks have to leave the connection. A function has ended when ended() says so.
class HeldPart {
 public:
  virtual ~HeldPart() = default;
  /// Returns whether the devices of `ranks` ranks can hold `count` bodies.
  virtual bool can_hold(int count, int ranks) const = 0;
  /// Takes the memory to hold the bodies, instead of HostedDivision::prepare(). Throws as ForceKernel::prepare().
  virtual void prepare(int count, int rank, int ranks) = 0;

  /// Sends the leader's bodies, `from`, to the ranks in equal parts.
  virtual void hold(const HeldSource& from, bool connected, JointWork& work, CUstream_st* stream) = 0;
  /// Does cuda::kick_drift() of the integrators for this rank's bodies. `seen`: see NonFiniteReport; null: nobody
  /// looks.
  virtual void kick_drift(const HeldPass& pass, int* seen, CUstream_st* stream) = 0;
  /// Does cuda::check_finite() of the integrators. Then the leader's report has the first finding of all ranks.
  virtual void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, bool connected, JointWork& work,
                            CUstream_st* stream) = 0;
  /// Leader: begins an evaluation. Returns HeldEvaluation::rounds.
  virtual int begin(const ForceArgs& args) = 0;
  /// Every rank, next: evaluates its part. `args`: as in ResidentFacet::evaluate_residents() on the leader, otherwise
  /// as in HostedDivision.
  virtual void evaluate(const ForceArgs& args, const HeldEvaluation& how, std::span<const Part> parts,
                        JointWork& work) = 0;
  /// Copies what is `wanted` to the leader's `places`, which other ranks do not use.
  virtual void collect(const HeldWanted& wanted, const HeldPlaces& places, bool connected, JointWork& work,
                       CUstream_st* stream) = 0;
  /// Leader: returns memory to collect owners in. Throws UsageError if there is none.
  virtual int* owners_room(int count) = 0;

  /// Returns whether this rank's own part of the latest evaluation has ended; it may wait for others. Throws as
  /// functions do.
  virtual bool part_ended() const = 0;
  /// Returns whether all of the latest function has ended.
  virtual bool ended() const = 0;
};

/// Which CUDA device each rank opens, by its place among the ranks of its host.
struct DevicesOfRanks {
  std::vector<int> listed{};  ///< ordinals by place; empty: the devices from `first` on, then the ones before it
  int first = 0;              ///< the ordinal of place 0, if none are listed
  friend bool operator==(const DevicesOfRanks&, const DevicesOfRanks&) = default;
};

/// Facts about a rank's device, which the leader compares.
struct RankDeviceFacts {
  int ordinal = 0;                       ///< as its rank counts them
  std::array<unsigned char, 16> uuid{};  ///< the same for ranks that share a device
  int architecture = 0;                  ///< 90 for sm_90
  int multiprocessors = 0;
};

/// How long a rank waits for the others to connect: NCCL needs a few seconds, and on some machines it stands still.
inline constexpr std::chrono::seconds connect_limit{20};

/// Names a connection between the devices of all ranks: NCCL's ncclUniqueId.
struct ConnectionId {
  std::array<char, 128> bytes{};
};

/// A rank has given up because the leader said so, or because it noticed that another rank does not answer. The cause
/// is elsewhere: an error of another kind in any rank comes before this one.
struct Stopped final : std::runtime_error {
  explicit Stopped(const std::string& why = "stopped, since another rank failed") : runtime_error{why} {}
};

/// After the last exchange of an evaluation: throws what failed in this rank, and Stopped if another one did.
inline void require_end(const JointWork& work) {
  if (!work.finish()) throw Stopped{};
}

/// The leader's message to another rank about an evaluation.
struct Handout {
  std::vector<std::size_t> with_all{}, with_one{};  ///< sizes of the blocks that all others get, and this rank alone
  bool exchanges = false;                           ///< the parts need what those of all other ranks offer
};

/// A HostedDivision whose data go from device to device, without the host's memory. If an evaluation fails in any rank,
/// every rank has to disconnect(): its stream may wait for data that never come, and whoever waits for that stream
/// would wait for ever. Functions that enqueue may wait as well: for memory, the driver may wait for the device.
class ConnectedDivision {
 public:
  virtual ~ConnectedDivision() = default;

  // The leader calls these in their order. `args` are those of ForceKernel::evaluate(), and `parts` has one per rank.
  /// Begins an evaluation and takes the memory for all results. Returns what to tell each rank; nothing of the leader.
  virtual std::vector<Handout> share_out(const ForceArgs& args, std::span<const Part> parts) = 0;
  /// Enqueues what sends the blocks, the leader's own part, and what takes the results of the others. The others must
  /// have their orders: what the driver does here may wait for them. `work`: with all ranks, if they exchange.
  virtual void evaluate(const ForceArgs& args, std::span<const Part> parts, JointWork& work) = 0;
  /// Returns whether the leader's own part has ended; it may still wait for results of others. Throws if it failed, and
  /// Stopped if the connection did.
  virtual bool part_ended() = 0;
  /// Returns whether all of the latest evaluation has ended: the part of this rank, and all that it sends or receives.
  /// Any rank may ask. Throws as part_ended().
  virtual bool ended() = 0;
  /// All results are there: finishes all targets. Enqueues on args.stream and returns.
  virtual void join(const ForceArgs& args, std::span<const Part> parts) = 0;

  /// Another rank: takes blocks of these sizes, evaluates a part from them, and enqueues what sends the results. `args`
  /// are as in HostedDivision::evaluate(). Returns when the part has ended, before its results have left: see ended().
  /// Once `work` is cancelled or another rank has failed, throws Stopped.
  virtual void evaluate_part(const ForceArgs& args, const Handout& handout, std::span<const Part> parts,
                             const Part& own, JointWork& work) = 0;

  /// Ends what the stream waits for, also what other kernels of this connection wait for. Their results are worthless.
  virtual void disconnect() noexcept = 0;
};

/// One rank's kernel on its CUDA device, for evaluations that the devices of all ranks divide by its DivisionFacet.
/// Messages between ranks are in host memory of this object, and stay there until the next evaluation.
class HostedDivision {
 public:
  virtual ~HostedDivision() = default;
  virtual ForceKernel& kernel() = 0;
  /// DivisionFacet::prepare_division()
  virtual void prepare(int count, int index, int ranks) = 0;
  /// ForceKernel::bodies_replaced()
  virtual void bodies_replaced() = 0;

  // The leader calls these in their order. `args` are those of ForceKernel::evaluate(), and `parts` has one per rank.
  /// Begins an evaluation and the leader's own part. Returns what to tell each rank, nothing of the leader, once all
  /// blocks are in host memory.
  virtual std::vector<Handout> share_out(const ForceArgs& args, std::span<const Part> parts) = 0;
  /// The blocks that all others get, one behind the other; and those of one rank alone.
  virtual std::span<const std::byte> shared_with_all() const = 0;
  virtual std::span<const std::byte> shared_with(int rank) const = 0;
  /// Returns where to put the results of another rank's part.
  virtual std::span<std::byte> place(const ForceArgs& args, const Part& part) = 0;
  /// Evaluates what is left of the leader's own part, and waits for its end. `work`: with all ranks, if they exchange.
  virtual void end_part(const ForceArgs& args, std::span<const Part> parts, JointWork& work) = 0;
  /// The results are in their places: finishes all targets. Enqueues on args.stream and returns.
  virtual void join(const ForceArgs& args, std::span<const Part> parts) = 0;

  // Another rank.
  /// Takes the memory for so many bytes of shared blocks, so that nothing can fail while they arrive.
  virtual void take_room(std::size_t bytes) = 0;
  /// Returns where to put the blocks that all ranks get, followed by those for this rank; at most as many as the latest
  /// take_room() was for.
  virtual std::span<std::byte> room(std::size_t bytes) = 0;
  /// Evaluates a part from them. `args` are as DivisionFacet wants them of another device; the stream does not matter.
  /// Returns the results. Throws Stopped if another rank has failed in an exchange.
  virtual std::span<const std::byte> evaluate(const ForceArgs& args, const Handout& handout,
                                              std::span<const Part> parts, const Part& own, JointWork& work) = 0;

  // These concern the latest evaluation, connected or not, once it has ended.
  /// Returns the device's time in ms for this rank's part, without waiting and copies.
  virtual double part_ms() const = 0;
  // The leader: see DivisionFacet.
  virtual bool works_alone() const = 0;
  virtual bool keeps_parts() const = 0;
  /// Enqueues what owners() has once it is there. `d_owners`: where they are; null: the kernel finds them. Throws
  /// UsageError if there is no memory.
  virtual void read_owners(int count, const int* d_owners, CUstream_st* stream) = 0;
  /// The rank of each body; none is known yet.
  virtual std::optional<std::vector<int>> owners(int count) const = 0;

  /// The cells of a tree for which the leader has place_cells(): another rank's. They are its part of
  /// DivisionFacet::cells().
  virtual MessageWriter cells(int index) = 0;
  /// The leader: takes what cells() of the rank `index` wrote. Enqueues on a stream, and returns when the message may
  /// go.
  virtual void place_cells(int index, MessageReader& cells, CUstream_st* stream) = 0;

  /// Null: the device cannot hold bodies.
  virtual HeldPart* held() = 0;
  /// The other way, if RankDevice::connected() when this was made. Null: it was not, or the connection is lost.
  virtual ConnectedDivision* connected() = 0;
};

/// The CUDA device of one rank.
class RankDevice {
 public:
  virtual ~RankDevice() = default;
  /// Opens the one for a rank at this place among the ranks of its host, in place of an earlier one, which the kernels
  /// that it has made keep. Throws UsageError if there is no such device, and std::runtime_error if CUDA cannot run.
  virtual RankDeviceFacts open(const DevicesOfRanks& which, int place) = 0;

  /// The version of NCCL that this rank finds, as NCCL counts: 22803 is 2.28.3. 0: it finds none.
  virtual int nccl_version() = 0;
  /// The leader: what connect() of all ranks needs.
  virtual ConnectionId new_connection() = 0;
  /// Connects the open device with those of the other ranks, which call this, too: waits for them, but at most for
  /// connect_limit. Kernels that are made until disconnect() or open() have the connection. Throws Stopped if the
  /// others do not come in time, and std::runtime_error if it fails otherwise.
  virtual void connect(const ConnectionId& id, int rank, int ranks) = 0;
  /// Also for the kernels that have this connection.
  virtual void disconnect() noexcept = 0;
  /// Returns whether kernels that are made now have a connection. It may be lost in an evaluation of another kernel.
  virtual bool connected() const = 0;

  /// Call after open(). Throws as KernelInfo::make().
  virtual std::unique_ptr<HostedDivision> make(const KernelInfo& kernel, const Settings& settings) = 0;
};

/// The ordinal of the device of a place, if the rank sees so many; otherwise one that does not exist. Throws UsageError
/// if the list has no such place.
int device_at(const DevicesOfRanks& which, int place, int visible);

/// `facts`: by rank. Throws UsageError that names two ranks if their devices differ, or if they share one that is not
/// listed for both.
void check_devices(std::span<const RankDeviceFacts> facts, const DevicesOfRanks& which);

/// "NCCL 2.28.3"
std::string nccl_text(int version);

/// Why NCCL cannot connect these devices, one line; empty if nothing is against it. `versions`: see
/// RankDevice::nccl_version(). Both are by rank.
std::string why_not_connected(std::span<const RankDeviceFacts> facts, std::span<const int> versions);

}  // namespace orrery
