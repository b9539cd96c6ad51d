#pragma once

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "compute/ranks/rank_leader.h"
#include "compute/ranks/rank_worker.h"
#include "compute/ranks/thread_ranks.h"
#include "compute/sim/backends.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {

/// Several ranks, the caller's thread being the leader's; the workers are threads with kernels of `known`.
class RankTeam {
 public:
  explicit RankTeam(int size, const KernelCatalog& known = test::catalog()) : ranks_{size} {
    for (int rank = 1; rank < size; ++rank) {
      workers_.emplace_back([this, rank, &known] {
        const RankWatch watch{ranks_.at(rank), fail};
        serve_leader(ranks_.at(rank), known);
      });
    }
  }

  RankLeader& leader() { return leader_; }
  KernelCatalog& catalog() { return catalog_; }
  const Backends& backends() const { return backends_; }

 private:
  static void fail(const std::string& why) { ADD_FAILURE() << why; }

  ThreadRanks ranks_;
  std::vector<std::jthread> workers_;  // joined after the leader has ended them
  RankWatch watch_{ranks_.at(0), fail};
  RankLeader leader_{ranks_.at(0), watch_};
  KernelCatalog catalog_{&leader_};
  Backends backends_{catalog_};
};

}  // namespace orrery::test
