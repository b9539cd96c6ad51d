#pragma once

#include "compute/core/message.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/cancel_watch.h"
#include "compute/ranks/communicator.h"
#include "compute/ranks/rank_reply.h"

namespace orrery {

/// A worker's orders for bodies that its CUDA device holds. All references must outlive this.
class HeldOrders {
 public:
  HeldOrders(Communicator& ranks, RankReply& reply, CancelWatch& watch) : ranks_{ranks}, reply_{reply}, watch_{watch} {}

  /// Order::held without its key, of the kernel of this division. If it fails, this rank leaves the connection at once.
  /// The leader tells the others to.
  void carry_out(HostedDivision& division, MessageReader& order);

 private:
  /// Returns whether it was an evaluation.
  bool take_part(HeldPart& part, MessageReader& order);
  void evaluate(HeldPart& part, bool connected, JointWork& work, MessageReader& order);

  Communicator& ranks_;
  RankReply& reply_;
  CancelWatch& watch_;
};

}  // namespace orrery
