// What several devices, of one process or of ranks, hold, by ResidentFacet itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/cuda/stream.h"
#include "compute/kernels/shared_facets.h"
#include "tests/compute/devices/holding_team.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/degenerate_bodies.h"
#include "tests/compute/support/random_ball.h"
#include "tests/compute/support/teams.h"

namespace orrery {
namespace {

using test::Holders;
using test::HoldingTeam;
using test::teams;

constexpr int in_ball = 20'011;

/// The bodies of a ball that devices hold.
class HeldBall {
 public:
  HeldBall(const Backends& backends, const Settings& settings, const Bodies& of = test::random_ball(in_ball))
      : bodies{of},
        kernel_{backends.make_kernel(*test::find_kernel("cuda-tree"), settings)},
        stream_{active(*backends.device())},
        positions_{*backends.device(), in_ball},
        velocities_{*backends.device(), in_ball},
        accelerations_{*backends.device(), in_ball},
        finding_{*backends.device(), 1},
        seen_{*backends.device(), 1, /*pinned=*/true} {
    ORRERY_CUDA_CHECK(cudaMemsetAsync(finding_.data(), 0xff, sizeof(cuda::PackedFinding), stream_.get()));
    cuda::upload<Vec4>(bodies.positions, positions_.data(), stream_.get());
    cuda::upload<Vec4>(bodies.velocities, velocities_.data(), stream_.get());
    devices().hold(positions_.data(), velocities_.data(), in_ball, finding_.data(), stream_.get());
  }

  void evaluate() {
    devices().evaluate_residents({.bodies = nullptr,
                                  .count = in_ball,
                                  .masses = mass_range(bodies.positions),
                                  .law = {},
                                  .epilogue = {},
                                  .stream = stream_.get()});
  }
  void drift(float dt, std::uint32_t pass) {
    devices().kick_drift({.drift_dt = dt}, {report(), pass, pass, pass}, stream_.get());
  }
  /// The first body that is not finite, and the pass that found it.
  cuda::PackedFinding look(std::uint32_t pass) {
    cuda::PackedFinding found;
    devices().check_finite(report(), pass, stream_.get());
    cuda::download<cuda::PackedFinding>(finding_.data(), {&found, 1}, stream_.get());
    stream_.synchronize();
    return found;
  }
  struct Collected {
    std::vector<Vec4> positions, velocities, accelerations;
  };
  /// What no device holds is not finite.
  Collected collect() {
    const auto bytes = in_ball * sizeof(Vec4);
    for (const auto* array : {&positions_, &velocities_, &accelerations_}) {
      ORRERY_CUDA_CHECK(cudaMemsetAsync(array->data(), 0xff, bytes, stream_.get()));
    }
    devices().collect(positions_.data(), velocities_.data(), stream_.get(), accelerations_.data());
    return {read(positions_), read(velocities_), read(accelerations_)};
  }

  const Bodies bodies;

 private:
  static const cuda::Device& active(const cuda::Device& device) {
    device.activate();
    return device;
  }
  ResidentFacet& devices() { return *residents_of(*kernel_); }
  cuda::NonFiniteReport report() const { return {.d_first = finding_.data(), .seen = seen_.all().data()}; }
  std::vector<Vec4> read(const cuda::DeviceArray<Vec4>& array) {
    std::vector<Vec4> all(in_ball);
    cuda::download<Vec4>(array.data(), all, stream_.get());
    stream_.synchronize();
    return all;
  }

  const std::unique_ptr<ForceKernel> kernel_;
  const cuda::Stream stream_;
  const cuda::DeviceArray<Vec4> positions_, velocities_, accelerations_;
  const cuda::DeviceArray<cuda::PackedFinding> finding_;
  const cuda::HostArray<int> seen_;
};

class HeldBodies : public testing::TestWithParam<Holders> {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }
};

INSTANTIATE_TEST_SUITE_P(Of, HeldBodies, testing::Values(Holders::devices, Holders::ranks), test::name_of_holders);

TEST_P(HeldBodies, AreAllBodiesEachOnce) {
  for (const DeviceList& team : teams()) {
    SCOPED_TRACE(team.to_string());
    const HoldingTeam several{team, GetParam()};
    HeldBall ball{several.backends(), Settings{*test::find_kernel("cuda-tree")}};
    for (int evaluation = 0; evaluation < 4; ++evaluation) {
      ball.evaluate();
      const auto [positions, velocities, accelerations] = ball.collect();
      ASSERT_EQ(positions, ball.bodies.positions);
      ASSERT_EQ(velocities, ball.bodies.velocities);
      ASSERT_TRUE(std::ranges::all_of(accelerations, [](const Vec4& a) { return std::isfinite(a.x); }));
    }
  }
}

/// The borders of domains end in cells that have many bodies, which go to either side.
TEST_P(HeldBodies, MayLieAnywhere) {
  for (const Bodies& bodies :
       {test::coincident(in_ball), test::collinear(in_ball), test::lopsided(in_ball), test::massless(in_ball)}) {
    for (const DeviceList& team : teams()) {
      SCOPED_TRACE(team.to_string());
      const HoldingTeam several{team, GetParam()};
      HeldBall ball{several.backends(), Settings{*test::find_kernel("cuda-tree")}, bodies};
      for (int evaluation = 0; evaluation < 3; ++evaluation) ball.evaluate();
      const auto [positions, velocities, accelerations] = ball.collect();
      ASSERT_EQ(positions, bodies.positions);
      ASSERT_EQ(velocities, bodies.velocities);
      ASSERT_TRUE(std::ranges::all_of(accelerations, [](const Vec4& a) { return std::isfinite(a.x); }));
    }
  }
}

/// In the first evaluation, devices get all that the others have; then, only what they need.
TEST_P(HeldBodies, MissNothingThatTheyNeedOfOtherDevices) {
  for (const DeviceList& team : teams()) {
    for (const char* order : {"monopole", "local", "high"}) {
      SCOPED_TRACE(team.to_string() + ", order=" + order);
      // Warps that share a group would add in any order, and sorted anew, the bodies may have other parts.
      const HoldingTeam several{team, GetParam()};
      HeldBall ball{several.backends(),
                    Settings{*test::find_kernel("cuda-tree"), {{"order", order}, {"split", "1"}, {"rebuild", "8"}}}};
      ball.evaluate();
      const std::vector<Vec4> of_all = ball.collect().accelerations;
      for (int evaluation = 0; evaluation < 3; ++evaluation) {
        ball.evaluate();
        ASSERT_EQ(ball.collect().accelerations, of_all);
      }
    }
  }
}

/// A body of the last device is found: after the look, no device moves its bodies on.
TEST_P(HeldBodies, StayWhereTheyAreOnceOneIsNotFinite) {
  constexpr int fast = in_ball - 5;
  Bodies bodies = test::random_ball(in_ball);
  bodies.velocities[fast].x = 3e38f;
  for (const DeviceList& team : teams()) {
    SCOPED_TRACE(team.to_string());
    const HoldingTeam several{team, GetParam()};
    HeldBall ball{several.backends(), Settings{*test::find_kernel("cuda-tree")}, bodies};
    ball.drift(10, 1);
    const cuda::PackedFinding found = ball.look(2);
    EXPECT_EQ(found.body(), fast);
    EXPECT_EQ(found.pass(), 1u);
    const std::vector<Vec4> stopped = ball.collect().positions;
    EXPECT_NE(stopped[7], bodies.positions[7]);
    ball.drift(10, 3);
    const std::vector<Vec4> later = ball.collect().positions;
    for (int body = 0; body < fast; ++body) {
      ASSERT_EQ(later[static_cast<std::size_t>(body)], stopped[static_cast<std::size_t>(body)]) << body;
    }
  }
}

}  // namespace
}  // namespace orrery
