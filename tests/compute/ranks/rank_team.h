#pragma once

#include "compute/ranks/rank_leader.h"
#include "compute/sim/backends.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/random_ball.h"
#include "tests/compute/support/thread_ranks.h"
#include "tests/test.h"

namespace orrery::test {

/// Several ranks, the caller's thread being the leader's; the workers are threads with kernels of `known`.
class RankTeam {
 public:
  using MakeDevice = std::function<std::unique_ptr<RankDevice>()>;

  /// `make_device`: makes the CUDA device of each rank. `most_bytes`: of a message.
  explicit RankTeam(
      int size, const KernelCatalog& known = test::catalog(), const MakeDevice& make_device = [] { return nullptr; },
      std::size_t most_bytes = SIZE_MAX)
      : ranks_{size, most_bytes}, device_{make_device()} {
    for (int rank = 1; rank < size; ++rank) {
      workers_.emplace_back([this, rank, &known, make_device] {
        const RankWatch watch{ranks_.at(rank), fail};
        const std::unique_ptr<RankDevice> device = make_device();
        serve_leader(ranks_.at(rank), known, device.get());
      });
    }
    backends_.emplace(catalog_);
  }

  RankLeader& leader() { return leader_; }
  KernelCatalog& catalog() { return catalog_; }
  const Backends& backends() const { return *backends_; }

 private:
  static void fail(const std::string& why) { ADD_FAILURE() << why; }

  ThreadRanks ranks_;
  std::vector<std::jthread> workers_;  // joined after the leader has ended them
  RankWatch watch_{ranks_.at(0), fail};
  std::unique_ptr<RankDevice> device_;
  RankLeader leader_{ranks_.at(0), watch_, device_.get()};
  KernelCatalog catalog_{&leader_};
  std::optional<Backends> backends_;  // opens devices once there are workers
};

/// Ranks that share a kernel of one id: the leader has its own of it, the workers have another.
struct SharedKernelTeam {
  SharedKernelTeam(int size, const KernelInfo& leaders, const KernelInfo& workers) : team{size, known} {
    known.put(workers);
    kernel = team.catalog().put(leaders);
  }
  std::unique_ptr<ForceKernel> make() const { return team.backends().make_kernel(*kernel, Settings{*kernel}); }

  KernelCatalog known;
  RankTeam team;
  KernelPtr kernel;
};

/// Runs both until a body is not finite, which has to be the same body after the same step.
inline void expect_same_not_finite(Simulation& found, Simulation& expected) {
  Bodies bodies = random_ball(300);
  for (const std::size_t body : {207u, 31u}) bodies.velocities[body].x = 3e38f;
  for (Simulation* run : {&found, &expected}) {
    run->set_bodies(bodies);
    run->apply(SetTimeStep{0.6f});
    EXPECT_NE(failure_of([&] { run->run(10); }).kind, Failure::none);
    ASSERT_TRUE(run->status().non_finite);
  }
  EXPECT_EQ(found.status().non_finite->step, expected.status().non_finite->step);
  EXPECT_EQ(found.status().non_finite->body, expected.status().non_finite->body);
}

}  // namespace orrery::test
