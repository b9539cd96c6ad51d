// Ranks that share the evaluations of kernels: messages between them, and kernels that they evaluate together.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/message.h"
#include "compute/core/vec.h"
#include "compute/kernels/division.h"
#include "compute/kernels/epilogue.h"
#include "compute/kernels/kernel.h"

namespace orrery {

struct RankDeviceSelection;

/// Exchange of messages between the ranks that evaluate together, as one of them sees it.
class RankExchange {
 public:
  virtual ~RankExchange() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;  ///< number of ranks
  /// Exchanges messages; every rank calls this. Sends outgoing[r] to each other rank r, and sets incoming[r] to the
  /// message from r. Both have size() entries; the entry of this rank is not used. Messages may be empty.
  virtual void exchange(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming) = 0;
  /// Throws std::runtime_error if `bytes` is too large for a message.
  virtual void check_size(std::size_t /*bytes*/) const {}
  /// Returns whether another rank has already sent an empty message for the next exchange.
  virtual bool has_empty_message() = 0;
};

/// Work of several ranks that exchange messages. A rank that fails or is cancelled still takes part in all later
/// exchanges, with empty messages. So no rank waits forever, and the others stop, too.
class CollectiveWork {
 public:
  /// `ranks` and `cancelled` must outlive this object; `cancelled` may be null.
  CollectiveWork(RankExchange& ranks, const std::atomic<bool>* cancelled)
      : ranks_{ranks}, cancelled_{cancelled}, outgoing_(static_cast<std::size_t>(ranks.size())) {}

  int rank() const { return ranks_.rank(); }
  int size() const { return ranks_.size(); }
  const std::atomic<bool>* cancelled() const { return cancelled_; }
  /// Returns whether the work continues: as far as this rank knows, no rank has failed or was cancelled.
  bool ok() const { return !failure_ && !stopped_ && !(cancelled_ && *cancelled_); }

  /// Calls `work` if ok(). Keeps an exception that it throws for finish().
  template <class Work>
  void attempt(const Work& work) {
    if (!ok()) return;
    try {
      work();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  template <class Use>
  void for_each_other(const Use& use) const {
    for (int rank = 0; rank < size(); ++rank) {
      if (rank != this->rank()) use(rank);
    }
  }

  /// Returns the message for a rank in the next exchange. While ok(), no message may remain empty.
  MessageWriter& to(int rank) { return outgoing_[static_cast<std::size_t>(rank)]; }
  template <class T>
  void put_for_all(const T& value) {
    for_each_other([&](int rank) { to(rank).put(value); });
  }
  template <class T>
  void put_all_for_all(const std::vector<T>& values) {
    for_each_other([&](int rank) { to(rank).put_all(values); });
  }
  /// Allocates memory to receive one message of up to `bytes` bytes from each rank, so that exchange() needs no more.
  void reserve(std::size_t bytes) {
    incoming_.resize(outgoing_.size());
    for_each_other([&](int rank) { incoming_[static_cast<std::size_t>(rank)].reserve(bytes); });
  }
  /// Exchanges the messages. Every rank calls this. Returns whether all ranks sent their messages: all ranks get the
  /// same answer, so they can decide by it whether to make further exchanges.
  bool exchange();
  /// Returns whether another rank has already reported, by an empty message, that it failed or was cancelled. Call
  /// between two exchanges.
  bool others_stop() const { return ranks_.has_empty_message(); }
  /// Returns the message of a rank in the latest exchange.
  MessageReader from(int rank) const { return MessageReader{incoming_[static_cast<std::size_t>(rank)]}; }

  /// Combines a value with the values of all other ranks, in any order. Every rank calls this. Returns whether
  /// exchange() succeeded.
  template <class T, class Combine>
  bool reduce(T& value, const Combine& combine) {
    attempt([&] { put_for_all(value); });
    if (!exchange()) return false;
    for_each_other([&](int rank) { combine(value, from(rank).get<T>()); });
    return true;
  }

  /// Returns the total time that this rank has waited for others in exchanges.
  std::chrono::steady_clock::duration waited() const { return waited_; }
  /// Throws the error of this rank. Returns whether all work was done; false: a rank was cancelled, or
  /// another rank failed.
  bool finish() const {
    if (failure_) std::rethrow_exception(failure_);
    return ok();
  }

 private:
  RankExchange& ranks_;
  const std::atomic<bool>* cancelled_;
  std::exception_ptr failure_;
  bool stopped_ = false;  // a rank sent an empty message: it failed or was cancelled
  std::vector<MessageWriter> outgoing_;
  std::vector<std::vector<std::byte>> incoming_;
  std::chrono::steady_clock::duration waited_{};
};

/// Returns whether several CUDA devices of one process can share the evaluations of a kernel.
bool devices_can_divide(const KernelInfo& kernel);
/// Returns why `ranks` ranks cannot share the evaluations of a kernel, one line; empty if they can.
std::string why_not_shared(const KernelInfo& kernel, int ranks);

/// Group of processes, the ranks, that share each evaluation of a kernel. This process is one of them.
class KernelSharing {
 public:
  virtual ~KernelSharing() = default;
  /// Returns the number of ranks, at least 2.
  virtual int ranks() const = 0;
  /// Opens a CUDA device in each rank, unless the latest call opened the same ones. Returns the ordinal of this rank's
  /// device. Throws as check_devices(), and as RankDevice::open() in any of the ranks.
  virtual int open_devices(const RankDeviceSelection& which) = 0;
  /// Returns a kernel whose evaluations all ranks share, each a part; a CUDA kernel runs on these devices. Call only if
  /// why_not_shared() returns no reason. This object must outlive the kernel. Throws as KernelInfo::make() and
  /// open_devices().
  virtual std::unique_ptr<ForceKernel> make(const KernelInfo& kernel, const Settings& settings,
                                            const RankDeviceSelection& devices) = 0;
  /// Returns the transport of data between the CUDA devices of the ranks: "NCCL 2.28.3", "MPI (rank 2 has no NCCL)", or
  /// "MPI (NCCL 2.28.3 was lost)" until make() connects the devices again. Empty until make() was called for a CUDA
  /// kernel.
  virtual std::string transport() const = 0;
};

/// A pass over the bodies of all ranks: a KickDrift and its NonFiniteCheck, without pointers, so that it can be sent to
/// other ranks.
struct PassOrder {
  cuda::KickDrift motion;
  std::uint32_t frozen_below = 0, before = 0, after = 0;

  cuda::NonFiniteCheck check(const cuda::NonFiniteReport& report) const {
    return {report, frozen_below, before, after};
  }
};

/// The leader's bodies, in memory that its device can access.
struct ScatterSource {
  const Vec4* d_positions = nullptr;
  const Vec4* d_velocities = nullptr;
  const cuda::PackedFinding* d_finding = nullptr;  ///< earliest finding so far
};

/// Selection of the body arrays to gather.
struct GatherSelection {
  bool positions = false, velocities = false, accelerations = false, owners = false;
};

/// Destinations of the gathered arrays, in the order of all bodies, in memory that the leader's device can access.
struct GatherBuffers {
  Vec4* d_positions = nullptr;
  Vec4* d_velocities = nullptr;
  Vec4* d_accelerations = nullptr;
  int* d_owners = nullptr;  ///< rank of each body

  GatherSelection wanted() const {
    return {.positions = d_positions != nullptr,
            .velocities = d_velocities != nullptr,
            .accelerations = d_accelerations != nullptr,
            .owners = d_owners != nullptr};
  }
};

/// Parameters of an evaluation of the bodies that the ranks hold.
struct ResidentEvaluation {
  int rounds = 0;          ///< rounds of migration before the evaluation, see MigrationFacet::begin_residents()
  bool connected = false;  ///< data go from device to device, not through host memory
};

/// Bodies that a rank's CUDA device holds between evaluations, each rank the bodies of its part. All ranks call the
/// same functions in the same order, with their CollectiveWork. If they are `connected`, data go from device to device,
/// otherwise through host memory. On the leader, functions enqueue on `stream`; each other rank has a separate stream.
/// Functions may wait for other ranks. They throw the error of this rank, or Stopped if another rank failed; then all
/// ranks must disconnect. A function has ended when ended() returns true.
class RankResidents {
 public:
  virtual ~RankResidents() = default;
  /// Returns whether the devices of `ranks` ranks can hold `count` bodies.
  virtual bool can_hold(int count, int ranks) const = 0;
  /// Allocates the memory to hold the bodies. Call instead of RankKernel::prepare(). Throws as ForceKernel::prepare().
  virtual void prepare(int count, int rank, int ranks) = 0;

  /// Scatters the leader's bodies, `from`, to the ranks in equal parts.
  virtual void hold(const ScatterSource& from, bool connected, CollectiveWork& work, CUstream_st* stream) = 0;
  /// Moves this rank's bodies like cuda::kick_drift() of the integrators. `seen`: see NonFiniteReport; may be null.
  virtual void kick_drift(const PassOrder& pass, int* seen, CUstream_st* stream) = 0;
  /// Checks the bodies like cuda::check_finite() of the integrators. The leader's report gets the earliest finding.
  virtual void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, bool connected,
                            CollectiveWork& work, CUstream_st* stream) = 0;
  /// Leader: begins an evaluation. Returns ResidentEvaluation::rounds.
  virtual int begin(const ForceArgs& args) = 0;
  /// Every rank, next: evaluates its part. `args`: as in ResidentFacet::evaluate_residents() on the leader, otherwise
  /// as in RankKernel.
  virtual void evaluate(const ForceArgs& args, const ResidentEvaluation& how, std::span<const Part> parts,
                        CollectiveWork& work) = 0;
  /// Gathers the `wanted` arrays into the leader's `places`. Other ranks ignore `places`.
  virtual void collect(const GatherSelection& wanted, const GatherBuffers& places, bool connected, CollectiveWork& work,
                       CUstream_st* stream) = 0;
  /// Leader: returns memory for GatherBuffers::d_owners. Throws UsageError if memory is short.
  virtual int* owner_buffer(int count) = 0;

  /// Returns whether this rank's own part of the latest evaluation has ended; exchanges with others may still be under
  /// way. Throws as the functions above.
  virtual bool part_ended() const = 0;
  /// Returns whether the latest function has ended completely.
  virtual bool ended() const = 0;
};

/// Selection of the CUDA device that each rank opens, by the rank's place among the ranks of its host.
struct RankDeviceSelection {
  std::vector<int> listed{};  ///< ordinals by place; empty: devices from `first` on, then the ones before it
  int first = 0;              ///< ordinal for place 0 if `listed` is empty
  friend bool operator==(const RankDeviceSelection&, const RankDeviceSelection&) = default;
};

/// Properties of a rank's device, which the leader compares.
struct RankDeviceFacts {
  int ordinal = 0;                       ///< index among the devices that the rank sees
  std::array<unsigned char, 16> uuid{};  ///< equal for ranks that share a device
  int architecture = 0;                  ///< such as 90 for sm_90
  int multiprocessors = 0;
};

/// Time limit for ranks to connect: NCCL needs a few seconds, and on some machines it never returns.
inline constexpr std::chrono::seconds connect_limit{20};

/// Identifier of a connection between the devices of all ranks: NCCL's ncclUniqueId.
struct ConnectionId {
  std::array<char, 128> bytes{};
};

/// Error of a rank that stops because the leader ordered it, or because another rank does not answer. The cause is in
/// another rank: if any rank reports an error of another kind, report that one instead.
struct Stopped final : std::runtime_error {
  explicit Stopped(const std::string& why = "stopped, since another rank failed") : runtime_error{why} {}
};

/// Throws the error of this rank, or Stopped if another rank failed. Call after the last exchange of an evaluation.
inline void require_end(const CollectiveWork& work) {
  if (!work.finish()) throw Stopped{};
}

/// Message of the leader to another rank about the blocks of an evaluation.
struct WorkerInput {
  std::vector<std::size_t> common{};      ///< sizes of the blocks that all workers get
  std::vector<std::size_t> individual{};  ///< sizes of the blocks for this worker alone
  bool exchanges = false;                 ///< each part needs data from the parts of all other ranks
};

/// A RankKernel whose data go from device to device, without the host's memory. If an evaluation fails in any rank,
/// every rank must disconnect(): otherwise its stream may wait forever for data of the failed rank. Functions that
/// enqueue may block, too: when memory is allocated, the driver may wait for the device.
class ConnectedRankKernel {
 public:
  virtual ~ConnectedRankKernel() = default;

  // The leader calls these functions in this order. `args` are as in ForceKernel::evaluate(); `parts` has one per rank.
  /// Begins an evaluation and allocates the memory for all results. Returns the message for each rank; the leader's
  /// entry is unused.
  virtual std::vector<WorkerInput> prepare_inputs(const ForceArgs& args, std::span<const Part> parts) = 0;
  /// Enqueues sending the blocks, evaluating the leader's own part, and receiving the results of other ranks. They must
  /// already have their orders, since the driver may wait for them here. `work` is used if the parts exchange data.
  virtual void evaluate(const ForceArgs& args, std::span<const Part> parts, CollectiveWork& work) = 0;
  /// Returns whether the leader's own part has ended; other ranks' results may still be missing. Throws if the part
  /// failed, and Stopped if the connection failed.
  virtual bool part_ended() = 0;
  /// Returns whether the latest evaluation has ended completely: the part of this rank, and everything that it sends or
  /// receives. Any rank may call this. Throws as part_ended().
  virtual bool ended() = 0;
  /// Finishes all targets. Call when all results have arrived. Enqueues on args.stream and returns.
  virtual void join(const ForceArgs& args, std::span<const Part> parts) = 0;

  /// Another rank: receives blocks of these sizes, evaluates a part from them, and enqueues the sending of the results.
  /// `args` are as in RankKernel::evaluate(). Returns when the part has ended; its results may still be on their
  /// way, see ended(). Throws Stopped when `work` is cancelled or another rank has failed.
  virtual void evaluate_part(const ForceArgs& args, const WorkerInput& input, std::span<const Part> parts,
                             const Part& own, CollectiveWork& work) = 0;

  /// Aborts everything that the streams of this connection wait for, also for other kernels. The results are then
  /// invalid.
  virtual void disconnect() noexcept = 0;
};

/// One rank's kernel on its CUDA device, for evaluations that the devices of all ranks share by its PartitionFacet.
/// Data go through host memory of this object, which is valid until the next evaluation.
class RankKernel {
 public:
  virtual ~RankKernel() = default;
  virtual ForceKernel& kernel() = 0;
  /// Calls PartitionFacet::prepare_partition().
  virtual void prepare(int count, int index, int ranks) = 0;
  /// Calls ForceKernel::bodies_replaced().
  virtual void bodies_replaced() = 0;

  // The leader calls these functions in this order. `args` are as in ForceKernel::evaluate(); `parts` has one per rank.
  /// Begins an evaluation and the leader's own part. Returns the message for each rank when all blocks are in host
  /// memory; the leader's entry is unused.
  virtual std::vector<WorkerInput> prepare_inputs(const ForceArgs& args, std::span<const Part> parts) = 0;
  /// common_input() returns the blocks for all other ranks, concatenated; individual_input(), those for one.
  virtual std::span<const std::byte> common_input() const = 0;
  virtual std::span<const std::byte> individual_input(int rank) const = 0;
  /// Returns the destination of the results of another rank's part.
  virtual std::span<std::byte> place(const ForceArgs& args, const Part& part) = 0;
  /// Evaluates the rest of the leader's own part, and blocks until it has ended. Parts that exchange data use `work`.
  virtual void end_part(const ForceArgs& args, std::span<const Part> parts, CollectiveWork& work) = 0;
  /// Finishes all targets. Call when the results are in their destinations. Enqueues on args.stream and returns.
  virtual void join(const ForceArgs& args, std::span<const Part> parts) = 0;

  // Another rank calls these functions.
  /// Allocates memory for `bytes` of shared blocks, so that receiving them cannot fail.
  virtual void reserve_input(std::size_t bytes) = 0;
  /// Returns the destination of the blocks for all ranks, followed by the blocks for this rank. `bytes`: size of all of
  /// them, at most the size in the latest reserve_input().
  virtual std::span<std::byte> input_buffer(std::size_t bytes) = 0;
  /// Evaluates a part from these blocks, and returns the results. `args` are as in PartitionFacet for other devices;
  /// the stream is ignored. Throws Stopped if another rank has failed in an exchange.
  virtual std::span<const std::byte> evaluate(const ForceArgs& args, const WorkerInput& input,
                                              std::span<const Part> parts, const Part& own, CollectiveWork& work) = 0;

  // These functions describe the latest evaluation, connected or not. Call them when it has ended.
  /// Returns the device's time in ms for this rank's part, without waiting and copies.
  virtual double part_ms() const = 0;
  // Leader: see PartitionFacet.
  virtual bool works_alone() const = 0;
  virtual bool keeps_parts() const = 0;
  /// Enqueues a copy of the owners of the bodies, for owners(). `d_owners`: owners in device memory; null: the kernel
  /// finds them. Throws UsageError if memory is short.
  virtual void read_owners(int count, const int* d_owners, CUstream_st* stream) = 0;
  /// Returns the rank of each body; none if not yet known.
  virtual std::optional<std::vector<int>> owners(int count) const = 0;

  /// Another rank: writes PartitionFacet::cells() of rank `index`, for the leader's place_cells().
  virtual MessageWriter cells(int index) = 0;
  /// Leader: reads the message from cells() of rank `index`. Enqueues on `stream`, and returns when the message is no
  /// longer needed.
  virtual void place_cells(int index, MessageReader& cells, CUstream_st* stream) = 0;

  /// Returns the bodies that the device holds; null: it cannot hold bodies.
  virtual RankResidents* residents() = 0;
  /// Returns the interface for data from device to device. Null if RankDevice::connected() was false when this was
  /// made, or if the connection was lost.
  virtual ConnectedRankKernel* connected() = 0;
};

/// The CUDA device of one rank.
class RankDevice {
 public:
  virtual ~RankDevice() = default;
  /// Opens the device for the rank at this place among the ranks of its host. Closes an earlier device, except for
  /// kernels that were made on it. Throws UsageError if there is no such device, and std::runtime_error if CUDA cannot
  /// run.
  virtual RankDeviceFacts open(const RankDeviceSelection& which, int place) = 0;

  /// Returns the version of NCCL that this rank finds, in NCCL's own numbers: 22803 is 2.28.3. 0: there is no NCCL.
  virtual int nccl_version() = 0;
  /// Leader: returns the identifier that connect() of all ranks needs.
  virtual ConnectionId new_connection() = 0;
  /// Connects the open device with the devices of the other ranks. All ranks call this, and wait for each other for at
  /// most connect_limit. Kernels that are made until disconnect() or open() use the connection. Throws Stopped if the
  /// others are not ready in time, and std::runtime_error for other failures.
  virtual void connect(const ConnectionId& id, int rank, int ranks) = 0;
  /// Ends the connection, also for the kernels that use it.
  virtual void disconnect() noexcept = 0;
  /// Returns whether kernels that are made now use a connection. An evaluation of another kernel may lose it.
  virtual bool connected() const = 0;

  /// Returns a new kernel on the open device. Call after open(). Throws as KernelInfo::make().
  virtual std::unique_ptr<RankKernel> make(const KernelInfo& kernel, const Settings& settings) = 0;
};

/// Returns the ordinal of the device for a place, if `visible` devices are visible. The device may not exist. Throws
/// UsageError if the list is too short for this place.
int device_at(const RankDeviceSelection& which, int place, int visible);

/// Throws UsageError that names two ranks if their devices differ, or if they share a device that is not listed for
/// both. `facts`: by rank.
void check_devices(std::span<const RankDeviceFacts> facts, const RankDeviceSelection& which);

/// Returns a version of NCCL as text, such as "NCCL 2.28.3".
std::string nccl_text(int version);

/// Returns why NCCL cannot connect these devices, one line; empty if it can. `versions`: see
/// RankDevice::nccl_version(). Both are by rank.
std::string why_not_connected(std::span<const RankDeviceFacts> facts, std::span<const int> versions);

/// List of the CUDA devices that share one run: the value of --devices.
struct DeviceList {
  bool all = false;           ///< all devices of the machine; `ordinals` is then empty
  std::vector<int> ordinals;  ///< the first device is the leader, which has the bodies; repeated ordinals are for tests

  /// Parses "all", "0" or "0,1". Throws UsageError with the allowed values. `option`: name of the option, for the
  /// message.
  static DeviceList parsed(std::string_view option, std::string_view text);
  /// Returns the list as text that parsed() accepts.
  std::string to_string() const;
  friend bool operator==(const DeviceList&, const DeviceList&) = default;
};

/// Returns the CUDA device of this process, which is one of several ranks. Data go to the devices of other ranks
/// through page-locked host memory, or directly by NCCL. Builds without CUDA do not have it.
std::unique_ptr<RankDevice> cuda_rank_device();

}  // namespace orrery
