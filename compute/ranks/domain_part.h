#pragma once

#include <atomic>
#include <span>

#include "compute/core/message.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/rank_exchange.h"
#include "compute/ranks/orders.h"
#include "compute/ranks/rank_arrays.h"

namespace orrery {

/// A rank's part of an evaluation in which each rank has a part of the bodies.
class DomainPart {
 public:
  /// Reads an Evaluation, the positions of the bodies, the targets if they are listed, as places among these bodies,
  /// the velocities of the targets if they are kicked, and the division. `order` and `arrays` must outlive this.
  DomainPart(MessageReader order, RankArrays& arrays) : arrays_{arrays}, part_{order.get<Evaluation>()}, rest_{order} {}

  int key() const { return part_.key; }
  /// Every rank calls this. Throws what the kernel throws, and std::bad_alloc.
  void evaluate(ForceKernel& kernel, RankExchange& ranks, const std::atomic<bool>& cancelled);
  /// Writes an Evaluated and, unless it was cancelled, what was found for the targets, in their order.
  void put_results(MessageWriter& reply) const;

 private:
  void read_bodies();
  std::span<int> targets() const;

  RankArrays& arrays_;
  Evaluation part_;
  MessageReader rest_;  // of the order
  Evaluated result_;
};

}  // namespace orrery
