#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "compute/cuda/device.h"
#include "compute/devices/nccl.h"
#include "compute/kernels/division_facet.h"

namespace orrery {

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

}  // namespace orrery
