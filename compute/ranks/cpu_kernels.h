// CPU kernels whose evaluations the ranks share, and the workers' parts of these evaluations.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "compute/core/law.h"
#include "compute/core/message.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/ranks/communicator.h"
#include "compute/ranks/protocol.h"
#include "compute/ranks/rank_bodies.h"

namespace orrery {

/// Returns the leader's side of a CPU kernel that all ranks evaluate: bodies are partitioned for trees, and replicated
/// otherwise. `channel` must outlive it. `key` identifies the kernel in orders. Throws as KernelInfo::make(), also for
/// a worker's error.
std::unique_ptr<ForceKernel> leader_cpu_kernel(WorkerChannel& channel, int key, const KernelInfo& kernel,
                                               const Settings& settings);

/// One rank's part of an evaluation in which each rank has the bodies of its domain.
class PartitionEvaluation {
 public:
  /// Reads the data of Order::evaluate_domain: an Evaluation; the bodies' positions; if listed, the targets as indices
  /// into these bodies; if kicked, the targets' velocities; the division of DomainFacet. `order` and `arrays` must
  /// outlive this object.
  PartitionEvaluation(MessageReader order, RankArrays& arrays)
      : arrays_{arrays}, part_{order.get<Evaluation>()}, rest_{order} {}

  int key() const { return part_.key; }
  /// Evaluates the part. Collective: every rank calls this. Throws the kernel's errors, and std::bad_alloc.
  void evaluate(ForceKernel& kernel, RankExchange& ranks, const std::atomic<bool>& cancelled);
  /// Writes an EvaluationResult and, unless the evaluation was cancelled, the results of the targets in their order.
  void put_results(MessageWriter& reply) const;

 private:
  void read_bodies();
  std::span<int> targets() const;

  RankArrays& arrays_;
  Evaluation part_;
  MessageReader rest_;  // rest of the order
  EvaluationResult result_;
};

/// A worker's copy of all positions, from which it computes its part of the potentials.
class PotentialReplica {
 public:
  /// Reads the number of bodies and their Digits, and allocates the arrays.
  void prepare(MessageReader& order);
  /// One worker's part of a block of bodies.
  struct Block {
    Law law{};
    int first = 0, last = 0;  ///< this worker's bodies are [first, last), each paired with all bodies before it
    bool receives = false;    ///< true for the first block: the leader broadcasts the positions first
    bool is_last = false;     ///< true for the last block: the arrays are freed afterwards
  };
  /// Receives the broadcast of the positions. Allocates nothing, so it cannot fail for lack of memory.
  void receive(Communicator& ranks);
  /// Returns the potentials of this worker's bodies in the block.
  std::vector<double> potentials(const Block& block, const std::atomic<bool>& cancelled);

 private:
  std::vector<Vec4> positions_, low_;
};

}  // namespace orrery
