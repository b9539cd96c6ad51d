#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compute/cuda/device.h"
#include "compute/cuda/stream.h"
#include "compute/devices/rank_part.h"
#include "compute/kernels/division.h"
#include "compute/kernels/rank_device.h"

namespace orrery {

struct NcclCommunicator;  // what NCCL's ncclComm_t points to

// NCCL's ncclResult_t and ncclDataType_t.
using NcclResult = int;

inline constexpr NcclResult nccl_success = 0;
inline constexpr int nccl_bytes = 0;

/// The functions of NVIDIA's library NCCL, which is opened at run time: few machines have it. It stays open until the
/// process ends. What nccl.h says is said here, so that no build needs that file.
class Nccl {
 public:
  /// Throws std::runtime_error that names what is missing.
  Nccl();

  void check(NcclResult result, const std::string& call) const;
  /// See RankDevice::nccl_version().
  int version() const;

  const char* (*error_text)(NcclResult);
  NcclResult (*get_version)(int*);
  NcclResult (*connect_all)(NcclCommunicator**, int count, const int* ordinals);
  NcclResult (*make_id)(ConnectionId*);
  NcclResult (*connect)(NcclCommunicator**, int ranks, ConnectionId, int rank);
  NcclResult (*destroy)(NcclCommunicator*);
  NcclResult (*abort)(NcclCommunicator*);
  NcclResult (*find_error)(NcclCommunicator*, NcclResult*);
  NcclResult (*begin_group)();
  NcclResult (*end_group)();
  NcclResult (*broadcast)(const void* from, void* to, std::size_t count, int type, int root, NcclCommunicator*,
                          cudaStream_t);
  NcclResult (*send)(const void* from, std::size_t count, int type, int to_rank, NcclCommunicator*, cudaStream_t);
  NcclResult (*receive)(void* to, std::size_t count, int type, int from_rank, NcclCommunicator*, cudaStream_t);
};

/// NCCL launches the calls of a group together at its end. A group that an exception leaves ends as well: the thread's
/// later calls would belong to it.
class NcclGroup {
 public:
  /// `who` names the devices in messages.
  explicit NcclGroup(const Nccl& nccl, std::string who = {});
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  ~NcclGroup();

  void end();

 private:
  const Nccl& nccl_;
  std::string who_;
  bool open_ = true;
};

/// One rank's end of a connection by NCCL between the CUDA devices of all ranks. The ranks' calls have to be in the
/// same order. Any thread may call; what fails throws std::runtime_error, and Stopped after abort().
class NcclConnection {
 public:
  using Blocks = DivisionFacet::Blocks;

  /// The other ranks call this with the same id: waits for them, and tries the connection out. Throws Stopped if that
  /// takes longer than connect_limit: a thread may then stay behind, which waits for the others until the process ends.
  static std::shared_ptr<NcclConnection> make(std::shared_ptr<const Nccl> nccl,
                                              std::shared_ptr<const cuda::Device> device, const ConnectionId& id,
                                              int rank, int ranks);
  /// As make(), but NCCL may wait without a limit before the try-out.
  NcclConnection(std::shared_ptr<const Nccl> nccl, const cuda::Device& device, const ConnectionId& id, int rank,
                 int ranks);
  NcclConnection(const NcclConnection&) = delete;
  NcclConnection& operator=(const NcclConnection&) = delete;
  /// Waits until the others have left the connection as well, but not long: one of them may be lost.
  ~NcclConnection();

  bool is_open() const;
  /// Throws Stopped if NCCL has met an error since the connection was made, in what was enqueued. Its cause may be in
  /// another rank.
  void check() const;

  // These enqueue and return. Blocks without bytes are left out, by all ranks.
  /// From the blocks of rank 0 to those of all others, entry for entry.
  void broadcast(std::span<const DeviceBlock> blocks, cudaStream_t stream);
  /// To each rank what `outgoing` has for it, and from each what `incoming` has places for, entry for entry. Both have
  /// entries by rank; those of this rank are not used.
  void exchange(std::span<const Blocks> outgoing, std::span<const Blocks> incoming, cudaStream_t stream);

  /// What was enqueued ends, whether data came or not. Returns at once.
  void abort() noexcept;

 private:
  void try_out(std::span<unsigned> words, int rank, cudaStream_t stream, const std::function<void()>& wait);
  void require_open() const;
  void leave(NcclResult (*how)(NcclCommunicator*)) noexcept;

  const std::shared_ptr<const Nccl> nccl_;
  mutable std::mutex mutex_;                  // held while the communicator is used, but not while it is left
  NcclCommunicator* communicator_ = nullptr;  // null once it is left
  std::future<void> left_;                    // of the thread that leaves it
};

/// Evaluations that the devices of all ranks divide, whose data go from device to device by NCCL.
class NcclDivision final : public ConnectedDivision, public BlockExchange {
 public:
  /// All references must outlive this. `part` is of a kernel on `device`; `stream`: of another rank than the leader.
  NcclDivision(const cuda::Device& device, const RankPart& part, const cuda::Stream& stream,
               std::shared_ptr<NcclConnection> connection)
      : device_{device}, part_{part}, division_{part.division()}, stream_{stream}, connection_{std::move(connection)} {}

  bool is_open() const { return connection_->is_open(); }

  std::vector<Handout> share_out(const ForceArgs& args, std::span<const Part> parts) override;
  void evaluate(const ForceArgs& args, std::span<const Part> parts, JointWork& work) override;
  bool part_ended() override { return reached(part_.end()); }
  bool ended() override { return reached(ended_); }
  void join(const ForceArgs& args, std::span<const Part> parts) override { division_.join(args, parts); }

  void evaluate_part(const ForceArgs& args, const Handout& handout, std::span<const Part> parts, const Part& own,
                     JointWork& work) override;

  void disconnect() noexcept override { connection_->abort(); }

  void exchange(const Outgoing& outgoing, const Places& places, JointWork& work, cudaStream_t stream) override;
  bool exchange_known(const BlocksByRank& outgoing, const BlocksByRank& incoming, JointWork& work,
                      cudaStream_t stream) override;
  bool reached(const cuda::OrderEvent& event) const override;

 private:
  using Blocks = DivisionFacet::Blocks;

  void evaluate_alone(const ForceArgs& args, const Part& own);
  void wait(const JointWork& work, cudaStream_t stream) override;

  const cuda::Device& device_;
  const RankPart& part_;
  DivisionFacet& division_;
  const cuda::Stream& stream_;
  const std::shared_ptr<NcclConnection> connection_;
  cuda::OrderEvent ended_{device_};  // this rank's part with all that it sends or receives
  cuda::OrderEvent come_{device_};   // what wait() waits for
  // Of the leader, in an evaluation.
  Blocks with_all_;
  BlocksByRank with_one_, places_;  // of the results
};

}  // namespace orrery
