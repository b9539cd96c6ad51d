#pragma once

#include <vector>

#include "compute/kernels/spread_facet.h"
#include "compute/ranks/orders.h"
#include "compute/ranks/rank_bodies.h"
#include "compute/ranks/worker_line.h"

namespace orrery {

/// On the leader, bodies that all ranks hold, each a part: the orders for them, and the leader's own part.
class SpreadBodies {
 public:
  /// `line` must outlive this. `key` names the kernel in orders.
  SpreadBodies(WorkerLine& line, int key) : line_{line}, key_{key} {}

  /// `has_domains`: the kernel.
  void spread(const Bodies& bodies, const MassRange& masses, bool has_domains);
  /// `own`: the leader's kernel.
  SpreadStepped step(const SpreadStep& step, ForceKernel& own);
  /// `owners` becomes the rank of each.
  Bodies gather(std::vector<int>& owners);
  /// Sums of the workers' figures of the latest step's last evaluation.
  const Stepped& others() const { return others_; }

 private:
  void undo();

  WorkerLine& line_;
  const int key_;
  int count_ = 0;
  RankBodies own_;
  RankArrays arrays_;  // without domains: of the leader
  Stepped others_;
};

}  // namespace orrery
