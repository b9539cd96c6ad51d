// Messages between the leader, which is rank 0, and the workers, which are all other ranks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/error.h"
#include "compute/core/law.h"
#include "compute/core/message.h"
#include "compute/core/threads.h"
#include "compute/core/vec.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/communicator.h"
#include "compute/ranks/rank_watch.h"

namespace orrery {

/// First value of each message from the leader to a worker. The descriptions list the data that follow. `key`
/// identifies a kernel on all ranks. "Replied": the worker answers with an Outcome. "Reply: ...": data follow the
/// Outcome.
enum class Order {
  open_device,        ///< RankDeviceSelection::first and all listed ordinals. Reply: RankDeviceFacts
  nccl_version,       ///< no data. Reply: RankDevice::nccl_version()
  connect,            ///< a ConnectionId. Replied
  disconnect,         ///< no data: closes the connection that `connect` made
  disconnect_kernel,  ///< key of a CUDA kernel: closes the connection of this kernel
  make,               ///< key, id and settings (as text) of the kernel to make. Replied
  prepare,            ///< key, number of bodies. Replied
  evaluate,         ///< an Evaluation, the targets, the velocities to kick. A broadcast of all bodies follows. Replied
  evaluate_domain,  ///< input of PartitionEvaluation. Replied
  reserve_input,    ///< key of a CUDA kernel, number of bytes. Replied
  evaluate_part,    ///< a DeviceEvaluation, a WorkerInput, all parts. If the devices are not connected, the
                    ///< blocks for this rank and a broadcast of the common blocks follow. Replied; if they are
                    ///< connected, `part_ended` comes first
  prepare_residents,  ///< key of a CUDA kernel, number of bodies on all ranks. Replied
  residents,          ///< key of a CUDA kernel, a ResidentHeader, the PassOrders since the previous order, the data of
                      ///< the ResidentOrder. Replied; for an evaluation, `part_ended` comes first
  bodies_replaced,    ///< key of a CUDA kernel
  cells,              ///< key of a CUDA kernel. Reply: output of RankKernel::cells()
  scatter,            ///< key, some of the rank's bodies in the format of RankBodies::put_first(). Replied
  step,               ///< a StepOrder, id of the integrator as text. Reply: a StepResult
  undo,               ///< key of the kernel whose bodies return to their state before the latest step
  gather,             ///< key, first and last + 1 index of a range of bodies. Reply: output of RankBodies::put()
  bounds,             ///< key. Reply: BodyBounds
  write_rows,         ///< key, number of bodies on all ranks, JointRows. Replied
  replicate_positions,  ///< key, input of PotentialReplica::prepare(). Replied
  potentials,           ///< key, a PotentialReplica::Block; then a broadcast if Block::receives. Reply: the potentials
  cancel,  ///< no data: stops the current order; ignored if that has ended. For evaluate_part and residents, it means
           ///< that another rank failed
  drop,    ///< key of the kernel to destroy
  end,     ///< no data: serve_leader() returns. Replied
};

/// First value of each reply. The text of the error follows, except after `done` and `part_ended`.
enum class Outcome {
  done,        ///< the data of the reply follow
  refused,     ///< a UsageError
  failed,      ///< any other error
  stopped,     ///< a Stopped: the cause is in another rank
  part_ended,  ///< the rank's own part has ended, but it still sends data. A second reply follows
};

/// One rank's share of an evaluation by a CPU kernel.
struct Evaluation {
  int key = 0;                ///< key of the kernel
  int count = 0;              ///< number of all bodies; for a PartitionedKernel, of this rank's bodies
  int targets = 0;            ///< number of this rank's targets; may be 0
  bool lists_targets = true;  ///< false: all `count` bodies are targets
  bool jerks = false;         ///< true: evaluate_jerks() with PreciseBody; false: evaluate() with Vec4
  bool low_words = false;     ///< the low words of the positions are broadcast, too
  MassRange masses{};
  Law law{};
  // Contents of the reply for each target, see Epilogue:
  bool stores = false, stores_low = false, kicks = false;
  float kick_dt = 0, drag = 0;
  Subnormals subnormals = Subnormals::kept;  ///< setting of the leader's thread
};

/// An evaluation that the CUDA devices of the ranks share. The reply is RankKernel::part_ms(). If the devices are not
/// connected, the output of RankKernel::evaluate() follows.
struct DeviceEvaluation {
  int key = 0;  ///< key of the kernel
  int count = 0;
  int targets = 0;  ///< number of targets on all ranks; 0: all bodies
  MassRange masses{};
  Law law{};
  bool connected = false;  ///< data go from device to device: see ConnectedRankKernel
};

/// Operations on bodies that the CUDA devices of the ranks hold. Each calls a function of RankResidents.
enum class ResidentOrder {
  hold,          ///< no data
  check_finite,  ///< number of the pass
  evaluate,      ///< a ResidentForce, all parts. Reply: RankKernel::part_ms()
  collect,       ///< a GatherSelection
};

struct ResidentHeader {
  ResidentOrder kind{};
  bool connected = false;  ///< see RankResidents
};

/// Evaluation of all resident bodies.
struct ResidentForce {
  int count = 0;   ///< number of bodies on all ranks
  int rounds = 0;  ///< rounds of the migration before the evaluation, see ResidentEvaluation
  MassRange masses{};
  Law law{};
};

/// One step of the bodies that the ranks hold.
struct StepOrder {
  int key = 0;  ///< key of the kernel
  float time_step = 0;
  Law law{};
  Subnormals subnormals = Subnormals::kept;  ///< setting of the leader's thread
};

/// One rank's result of a step.
struct StepResult {
  bool complete = false;  ///< false: a rank was cancelled or failed, and Order::undo follows
  int not_finite = -1;    ///< first of this rank's bodies that was not finite after a pass; -1: none
  int passes = 0;         ///< number of passes over the bodies in this step
  int found_in = 0;       ///< pass that found `not_finite`, from 1
  int evaluations = 0;
  double force_ms = 0;  ///< time of all evaluations in ms, including waiting for other ranks
  double by_tree = 0;   ///< pairs that a tree evaluated in the whole step, see ForceArgs::evaluated
  // Figures of the last evaluation, see TreeReport:
  double vector_instructions = 0;
  std::int64_t interactions = 0, cells = 0;
  int depth = 0;
};

/// First value of the reply to an Evaluation. The requested results of the targets follow: accelerations, their low
/// words and velocities; or pulls.
struct EvaluationResult {
  bool complete = false;           ///< false: cancelled, and no results follow
  std::uint64_t by_tree = 0;       ///< see ForceArgs::evaluated
  double vector_instructions = 0;  ///< for trees, see TreeReport
  std::int64_t cells = 0;          ///< number of cells in this rank's part of a tree
  int depth = 0;                   ///< depth of a tree
  double ms = 0;                   ///< time of the kernel in ms, without waiting for other ranks
};

inline void put_input(const WorkerInput& input, MessageWriter& message) {
  message.put_all(input.common);
  message.put_all(input.individual);
  message.put(input.exchanges);
}

inline WorkerInput get_input(MessageReader& message) {
  WorkerInput input;
  message.get_all(input.common);
  message.get_all(input.individual);
  input.exchanges = message.get<bool>();
  return input;
}

/// Bytes of one worker's input blocks: `common` is broadcast to all workers, `individual` sent to this one.
struct InputBytes {
  std::size_t common, individual;
  std::size_t all() const { return common + individual; }
};

inline InputBytes bytes_of(const WorkerInput& input) {
  const auto sum = [](const std::vector<std::size_t>& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  };
  return {sum(input.common), sum(input.individual)};
}

/// The leader's connection to the workers: sends orders and reads replies. Thread-safe; one exchange runs at a time.
class WorkerChannel {
 public:
  /// `ranks` and `watch` must outlive this object.
  WorkerChannel(Communicator& ranks, RankWatch& watch);
  WorkerChannel(const WorkerChannel&) = delete;
  WorkerChannel& operator=(const WorkerChannel&) = delete;
  /// Calls end() unless it was called before.
  ~WorkerChannel();

  int ranks() const { return ranks_.size(); }
  /// Orders the workers to return from serve_leader(). Call at most once, as the last function. Throws if a rank is
  /// lost, see Communicator::interrupt().
  void end();

  /// An order to all workers, the leader's own part of the work, and the handling of the replies.
  struct Exchange {
    /// Writes the order for a worker. May throw, because all orders are written before the first is sent.
    std::function<void(int rank, MessageWriter& order)> order;
    /// Does the leader's own part while the workers do theirs.
    std::function<void()> own_part;
    /// Returns whether the leader's own part has ended. It may continue on a device after own_part() has returned.
    /// Called repeatedly until it has ended or any part has failed.
    std::function<bool()> own_ended = [] { return true; };
    /// Returns whether the leader's part only waits for data of other ranks, see RankWatch::note_work(). Called
    /// repeatedly.
    std::function<bool()> own_work_ended = [] { return true; };
    /// Reads the data of a worker's reply after Outcome::done.
    std::function<void(int rank, MessageReader& reply)> on_reply = [](int, MessageReader&) {};
    /// Returns whether the time of a rank's part sets a limit for the others, see RankWatch::begin_parts().
    std::function<bool(int rank)> is_long = [](int) { return true; };
    /// The same as is_long(), for the work of all ranks between two exchanges through others().
    bool is_long_between = true;
    const std::atomic<bool>* cancelled = nullptr;  ///< when it becomes true, the workers are cancelled; may be null
    /// Called after a failure, before another exchange begins. Cleans up on the leader, and writes an order for all
    /// workers that has no reply. Null: no cleanup and no order.
    std::function<void(MessageWriter& order)> after_failure{};
  };
  /// Sends the orders, and blocks until the leader's own part has ended and every worker has replied. Throws the most
  /// likely cause of several errors: first the own part's, then the workers' in rank order ("rank 2: ..."), last errors
  /// that another rank may have caused (Stopped, and errors of `own_ended`). Throws if a rank is lost.
  void exchange(const Exchange& exchange);
  /// Sends data to all workers. Call only within Exchange::own_part.
  void broadcast(std::span<const std::byte> data) { ranks_.broadcast(data); }
  /// Returns the leader's object for exchanges among all ranks. The rank watch detects ranks that do not join. Use only
  /// within Exchange::own_part.
  RankExchange& others() { return others_; }
  /// Sends an order without a reply to all workers. Does nothing if a rank is lost.
  void notify(const MessageWriter& order) noexcept;

 private:
  using Failures = std::map<int, std::exception_ptr>;  // by rank; the first is thrown

  /// Exchanges that report the progress of each rank to the rank watch.
  class Others final : public RankExchange {
   public:
    explicit Others(WorkerChannel& channel) : channel_{channel} {}
    int rank() const override { return 0; }
    int size() const override { return channel_.ranks(); }
    void exchange(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming) override;
    void check_size(std::size_t bytes) const override { channel_.ranks_.check_size(bytes); }
    /// Returns true also if a worker has replied, because it will join no further exchange.
    bool has_empty_message() override;

   private:
    WorkerChannel& channel_;
  };

  void exchange_locked(const Exchange& exchange);
  void send_orders(const Exchange& exchange);
  void begin_own_part(const Exchange& exchange, Failures& failures);
  bool own_part_runs(const Exchange& exchange, Failures& failures);
  bool read_reply(int rank, const Exchange& exchange, Failures& failures);
  void clean_up(const Exchange& exchange) noexcept;
  void send_to_all(const MessageWriter& order);
  void cancel_once();
  void cancel_if_requested();

  Communicator& ranks_;
  RankWatch& watch_;
  Others others_{*this};
  bool ended_ = false;
  std::mutex mutex_;                              // held during an exchange
  const std::atomic<bool>* cancelled_ = nullptr;  // of the current exchange
  bool is_long_between_ = true;                   // of the current exchange
  bool cancel_sent_ = false;                      // Order::cancel was sent in the current exchange
  bool work_noted_ = false;            // RankWatch::note_work() was called for the leader in the current exchange
  std::vector<MessageWriter> orders_;  // one entry per rank
  std::vector<std::byte> reply_;
};

/// The leader's handle of a kernel that has an instance on every rank. Orders the workers to make, prepare and destroy
/// their instances.
class KernelInstances {
 public:
  /// Makes all instances: `make_own` makes the leader's while the workers make theirs. `channel` must outlive this
  /// object. `key` identifies the kernel in orders. Throws as KernelInfo::make(), also for a worker's error.
  KernelInstances(WorkerChannel& channel, int key, const KernelInfo& kernel, const Settings& settings,
                  const std::function<void()>& make_own);
  KernelInstances(const KernelInstances&) = delete;
  KernelInstances& operator=(const KernelInstances&) = delete;
  ~KernelInstances() { drop(); }

  /// Prepares all instances for `count` bodies by ForceKernel::prepare(); `prepare_own` does so for the leader's.
  void prepare(int count, const std::function<void()>& prepare_own);
  /// Makes prepare() necessary before the next evaluation. Call when the ranks' data may be inconsistent.
  void forget() { prepared_ = 0; }
  /// Returns the number of bodies for which all ranks are prepared; 0: not prepared.
  int prepared() const { return prepared_; }

 private:
  void drop() noexcept;

  WorkerChannel& channel_;
  const int key_;
  int prepared_ = 0;
};

}  // namespace orrery
