#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "compute/cuda/device.h"
#include "compute/kernels/division.h"
#include "compute/kernels/joint_work.h"

namespace orrery {

using BlocksByRank = std::vector<DivisionFacet::Blocks>;  ///< by rank; the entry of the own rank is not used

/// Copies blocks from the device of each rank to those of all others.
class BlockExchange {
 public:
  /// Returns the blocks for each rank. They are ready after the work enqueued so far.
  using Outgoing = std::function<BlocksByRank()>;
  /// Allocates memory for the blocks of these sizes that `rank` sends, and returns it.
  using Places = std::function<DivisionFacet::Blocks(int rank, std::span<const std::size_t> sizes)>;

  virtual ~BlockExchange() = default;
  /// Every rank calls this. Work enqueued on the stream afterwards finds the blocks in place, unless work.goes_on() is
  /// false.
  virtual void exchange(const Outgoing& outgoing, const Places& places, JointWork& work, cudaStream_t stream) = 0;
  /// Exchanges blocks whose sizes both ends know, into memory that already exists. Returns false, on all ranks alike,
  /// if a rank had failed before and has said so. A connection carries no such notice: other ranks learn of the failure
  /// later, and may wait for its data on their streams until wait() or the leader's order to stop ends that.
  virtual bool exchange_known(const BlocksByRank& outgoing, const BlocksByRank& incoming, JointWork& work,
                              cudaStream_t stream) = 0;
  /// Sends one block, of the same size on all ranks, to every other rank by exchange_known().
  void share(const DeviceBlock& own, const std::function<DeviceBlock(int rank)>& place_of, JointWork& work,
             cudaStream_t stream) {
    BlocksByRank to(static_cast<std::size_t>(work.size())), from(to.size());
    work.for_each_other([&](int rank) {
      to[static_cast<std::size_t>(rank)] = {own};
      from[static_cast<std::size_t>(rank)] = {place_of(rank)};
    });
    (void)exchange_known(to, from, work, stream);
  }
  /// Returns whether the stream has passed the event, which may follow an exchange. Throws what failed, and Stopped if
  /// the event will never be reached because another rank failed.
  virtual bool reached(const cuda::OrderEvent& event) const = 0;
  /// Blocks until all work on the stream has ended, an exchange included. Throws Stopped if another rank has failed.
  virtual void wait(const JointWork& work, cudaStream_t stream) = 0;
};

}  // namespace orrery
