#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "compute/core/body_source.h"
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
  /// All of them; `owners` becomes the rank of each.
  Bodies gather(std::vector<int>& owners);
  /// The bodies where they are. Valid until the next step() or spread(), and as long as this lives.
  std::unique_ptr<BodySource> source();
  /// Sums of the workers' figures of the latest step's last evaluation.
  const Stepped& others() const { return others_; }

 private:
  class Source;
  /// Those of a piece, to arrays that begin with its first one. Calls found(rank, places in the piece).
  void get(const PieceRange& piece, std::span<Vec4> positions, std::span<Vec4> velocities,
           const std::function<void(int rank, std::span<const int> places)>& found);
  // See BodySource.
  BodyBounds bounds();
  bool write_jointly(const JointRows& rows);
  void undo();

  WorkerLine& line_;
  const int key_;
  int count_ = 0;
  RankBodies own_;
  RankArrays arrays_;  // without domains: of the leader
  Stepped others_;
};

}  // namespace orrery
