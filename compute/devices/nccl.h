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
#include "compute/devices/rank_part.h"
#include "compute/kernels/division.h"
#include "compute/kernels/rank_device.h"

namespace orrery {

struct NcclCommunicator;  // target of NCCL's ncclComm_t

// NCCL's ncclResult_t and ncclDataType_t:
using NcclResult = int;

inline constexpr NcclResult nccl_success = 0;
inline constexpr int nccl_bytes = 0;

/// Functions of NVIDIA's library NCCL, opened at run time because few machines have it. It stays open until the process
/// ends. The declarations of NCCL's nccl.h are repeated here, so that no build needs that file.
class Nccl {
 public:
  /// Throws std::runtime_error that names the missing library or function.
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

/// Group of NCCL calls, which are launched together at its end. The destructor also ends a group that an exception
/// leaves; otherwise, later calls of the thread would belong to it.
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

/// One rank's end of an NCCL connection between the CUDA devices of all ranks. All ranks must make their calls in the
/// same order. Thread-safe. Failures throw std::runtime_error, and Stopped after abort().
class NcclConnection {
 public:
  using Blocks = DivisionFacet::Blocks;

  /// Connects to the other ranks, which call this with the same id, and tests the connection. Throws Stopped after
  /// connect_limit; a thread may then remain that waits for the other ranks until the process ends.
  static std::shared_ptr<NcclConnection> make(std::shared_ptr<const Nccl> nccl,
                                              std::shared_ptr<const cuda::Device> device, const ConnectionId& id,
                                              int rank, int ranks);
  /// Connects as make() does, but NCCL may wait without a limit before the test.
  NcclConnection(std::shared_ptr<const Nccl> nccl, const cuda::Device& device, const ConnectionId& id, int rank,
                 int ranks);
  NcclConnection(const NcclConnection&) = delete;
  NcclConnection& operator=(const NcclConnection&) = delete;
  /// Waits briefly until the others have left the connection as well: one of them may be lost.
  ~NcclConnection();

  bool is_open() const;
  /// Throws Stopped if NCCL has met an error in enqueued work since the connection was made. The cause may be in
  /// another rank.
  void check() const;

  // These enqueue and return. All ranks skip blocks without bytes.
  /// Copies the blocks of rank 0 to those of all other ranks, entry for entry.
  void broadcast(std::span<const DeviceBlock> blocks, cudaStream_t stream);
  /// Sends outgoing[rank] to each rank and receives incoming[rank] from it, entry for entry. The entries of this rank
  /// are not used.
  void exchange(std::span<const Blocks> outgoing, std::span<const Blocks> incoming, cudaStream_t stream);

  /// Aborts pending operations, complete or not. Does not block.
  void abort() noexcept;

 private:
  void try_out(std::span<unsigned> words, int rank, cudaStream_t stream, const std::function<void()>& wait);
  void require_open() const;
  void leave(NcclResult (*how)(NcclCommunicator*)) noexcept;

  const std::shared_ptr<const Nccl> nccl_;
  mutable std::mutex mutex_;  // held while the communicator is used, but not while it is destroyed or aborted
  NcclCommunicator* communicator_ = nullptr;  // null after leave()
  std::future<void> left_;                    // ready when the thread that leaves has ended
};

/// Division of evaluations among the devices of all ranks, with data sent from device to device by NCCL.
class NcclDivision final : public ConnectedDivision, public BlockExchange {
 public:
  /// All references must outlive this. `part`: of a kernel on `device`. `stream`: used by all ranks but the leader.
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
  cuda::OrderEvent ended_{device_};  // end of this rank's part and of its transfers
  cuda::OrderEvent come_{device_};   // recorded by wait()
  // The leader's blocks during an evaluation:
  Blocks with_all_;
  BlocksByRank with_one_, places_;  // blocks for one rank; places of the results
};

}  // namespace orrery
