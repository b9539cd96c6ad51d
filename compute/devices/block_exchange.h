#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "compute/cuda/stream.h"
#include "compute/kernels/division.h"
#include "compute/kernels/joint_work.h"

namespace orrery {

using BlocksByRank = std::vector<DivisionFacet::Blocks>;  ///< what it has for the own rank is not used

/// Copies blocks from the device of each rank to those of all others.
class BlockExchange {
 public:
  /// Gives the blocks for each rank, which are ready behind what is enqueued.
  using Outgoing = std::function<BlocksByRank()>;
  /// Where to put blocks of these sizes that a rank sends. Takes the memory for that.
  using Places = std::function<DivisionFacet::Blocks(int rank, std::span<const std::size_t> sizes)>;

  virtual ~BlockExchange() = default;
  /// Every rank calls this. What is enqueued on the stream afterwards finds the blocks in their places, unless
  /// work.goes_on() is false.
  virtual void exchange(const Outgoing& outgoing, const Places& places, JointWork& work, cudaStream_t stream) = 0;
  /// The same with blocks whose sizes both ends know, and memory that is there. Returns false, on all ranks alike, if a
  /// rank had failed before and has said so. Over a connection, none says so here: others learn of it later, and may
  /// wait for its data on their streams until wait() or the leader's order to stop ends that.
  virtual bool exchange_known(const BlocksByRank& outgoing, const BlocksByRank& incoming, JointWork& work,
                              cudaStream_t stream) = 0;
  /// exchange_known() of a block that has the same size on all ranks.
  void share(const DeviceBlock& own, const std::function<DeviceBlock(int rank)>& place_of, JointWork& work,
             cudaStream_t stream) {
    BlocksByRank to(static_cast<std::size_t>(work.size())), from(to.size());
    work.for_each_other([&](int rank) {
      to[static_cast<std::size_t>(rank)] = {own};
      from[static_cast<std::size_t>(rank)] = {place_of(rank)};
    });
    (void)exchange_known(to, from, work, stream);
  }
  /// Whether the stream has passed the event, which may be behind an exchange. Throws what failed, and Stopped if it
  /// will not because another rank failed.
  virtual bool reached(const cuda::OrderEvent& event) const = 0;
  /// Waits for what is enqueued on the stream, behind an exchange. Throws Stopped if another rank has failed.
  virtual void wait(const JointWork& work, cudaStream_t stream) = 0;
};

}  // namespace orrery
