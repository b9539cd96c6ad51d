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
#include "compute/devices/device_team.h"
#include "compute/kernels/division.h"
#include "compute/kernels/rank_device.h"

namespace orrery {

struct NcclCommunicator;  // target of NCCL's ncclComm_t

// Replacements for NCCL's ncclResult_t and ncclDataType_t:
using NcclResult = int;

inline constexpr NcclResult nccl_success = 0;
inline constexpr int nccl_bytes = 0;

/// Functions of NVIDIA's library NCCL. The library is opened at run time, since few machines have it, and stays open
/// until the process ends. The signatures repeat those in nccl.h, so that the build does not need NCCL.
class Nccl {
 public:
  /// Opens the library. Throws std::runtime_error that names the missing library or function.
  Nccl();

  /// Throws std::runtime_error with NCCL's text if the call has failed.
  void check(NcclResult result, const std::string& call) const;
  /// Returns the version as NCCL encodes it, see RankDevice::nccl_version().
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

/// NCCL communicator between the CUDA devices of all ranks. Each rank has an object of this class, and all ranks must
/// make the same calls in the same order. Thread-safe. All functions throw std::runtime_error if NCCL fails, and
/// Stopped after abort().
class NcclConnection {
 public:
  using Blocks = PartitionFacet::Blocks;

  /// Collective: connects to the other ranks, which pass the same id, and tests the connection. Throws Stopped if this
  /// takes longer than connect_limit; a thread may then wait for the other ranks until the process ends.
  static std::shared_ptr<NcclConnection> make(std::shared_ptr<const Nccl> nccl,
                                              std::shared_ptr<const cuda::Device> device, const ConnectionId& id,
                                              int rank, int ranks);
  /// Connects as make() does, but may block forever in NCCL.
  NcclConnection(std::shared_ptr<const Nccl> nccl, const cuda::Device& device, const ConnectionId& id, int rank,
                 int ranks);
  NcclConnection(const NcclConnection&) = delete;
  NcclConnection& operator=(const NcclConnection&) = delete;
  /// Closes the connection. Waits up to 1.5 s for the other ranks to leave it; a lost rank never leaves.
  ~NcclConnection();

  bool is_open() const;
  /// Throws Stopped if enqueued work has failed in NCCL. The cause may be in another rank.
  void check() const;

  // Both functions enqueue work and return. Blocks of 0 bytes are skipped.
  /// Copies the blocks of rank 0 to all other ranks: block i to block i.
  void broadcast(std::span<const DeviceBlock> blocks, cudaStream_t stream);
  /// Sends outgoing[rank] to each other rank, and receives incoming[rank] from it, block by block. The entries of this
  /// rank are unused.
  void exchange(std::span<const Blocks> outgoing, std::span<const Blocks> incoming, cudaStream_t stream);

  /// Closes the connection and aborts pending operations. Does not block.
  void abort() noexcept;

 private:
  void try_out(std::span<unsigned> words, int rank, cudaStream_t stream, const std::function<void()>& wait);
  void require_open() const;
  void leave(NcclResult (*how)(NcclCommunicator*)) noexcept;

  const std::shared_ptr<const Nccl> nccl_;
  mutable std::mutex mutex_;  // held while communicator_ is used, but not while it is destroyed or aborted
  NcclCommunicator* communicator_ = nullptr;  // null after leave()
  std::future<void> left_;                    // ready when the communicator has been destroyed or aborted
};

/// Returns a broadcast by NCCL, in which devices forward data to each other. No device may be listed twice. Throws
/// std::runtime_error if NCCL is missing or cannot connect these devices.
std::unique_ptr<Broadcast> nccl_broadcast(const TeamDevices& devices);

}  // namespace orrery
