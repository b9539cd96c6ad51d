// cuda-symmetric's promises beyond what every kernel does: a path of its own for equal masses, large systems, sums
// that can be made the same in every run, and momentum.
#include "compute/diagnostics/conserved.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::attract_repel;

class CudaSymmetric : public test::BackendTest {
 protected:
  static const KernelInfo& info() { return *test::find_kernel("cuda-symmetric"); }
  static Settings settings(const char* name, const char* value) { return Settings{info(), {{name, value}}}; }

  static void expect_agreement(const Bodies& bodies, const Settings& settings, const Law& law) {
    SCOPED_TRACE(settings.to_string() + ", " + law_info(law.id).id + ", n = " + std::to_string(bodies.count()));
    const ForceError error = test::sampled_error(info(), settings, bodies, law);
    EXPECT_LE(error.median, info().tolerance.median);
    EXPECT_LE(error.max, info().tolerance.max);
  }
};

TEST_F(CudaSymmetric, EqualMassesAgreeForEveryCount) {
  for (const char* bodies_per_lane : {"1", "2", "4", "8", "11", "13"}) {
    for (const int count : {1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 4097}) {
      const Bodies bodies = test::with_equal_masses(test::random_ball(count));
      for (const Law& law : {Law{}, attract_repel}) {
        expect_agreement(bodies, settings("bodies-per-lane", bodies_per_lane), law);
      }
    }
  }
}

TEST_F(CudaSymmetric, LargeSystemsAgree) {
  for (const int count : {16'385, 65'537}) {
    const Bodies unequal = test::random_ball(count), equal = test::with_equal_masses(unequal);
    for (const Law& law : {Law{}, attract_repel}) {
      for (const char* deterministic : {"off", "on"}) {
        expect_agreement(unequal, settings("deterministic", deterministic), law);
        expect_agreement(equal, settings("deterministic", deterministic), law);
      }
    }
  }
}

TEST_F(CudaSymmetric, MassesMayDifferByTwelveOrders) {
  Bodies bodies = test::random_ball(1000);
  for (Vec4& position : bodies.positions) position.w *= 1e-9f;
  bodies.positions[7].w = 1;
  for (const char* deterministic : {"off", "on"})
    expect_agreement(bodies, settings("deterministic", deterministic), {});
}

TEST_F(CudaSymmetric, ABodyThatIsNotFiniteLeavesNothingBehind) {
  for (const char* deterministic : {"off", "on"}) {
    const auto kernel = test::backends().make_kernel(info(), settings("deterministic", deterministic));
    Bodies bodies = test::random_ball(1010);
    kernel->prepare(bodies.count());
    Bodies degenerate = test::random_ball(1000);
    degenerate.positions[3].x = std::numeric_limits<float>::infinity();
    test::evaluate(*kernel, test::with_equal_masses(degenerate), {.law = {}});
    test::expect_agreement(test::evaluate(*kernel, bodies, {.law = {}}).accelerations, bodies, {}, info().tolerance);
  }
}

TEST_F(CudaSymmetric, DeterministicSumsHaveEqualBitsInEveryRun) {
  for (const int count : {33, 4097, 65'537}) {
    const Bodies unequal = test::random_ball(count), equal = test::with_equal_masses(unequal);
    for (const Bodies* bodies : {&unequal, &equal}) {
      for (const Law& law : {Law{}, attract_repel}) {
        const auto first = test::accelerations(info(), settings("deterministic", "on"), *bodies, law);
        for (int run = 0; run < 3; ++run) {
          EXPECT_EQ(test::accelerations(info(), settings("deterministic", "on"), *bodies, law), first)
              << "n = " << count << ", run " << run;
        }
      }
    }
  }
}

TEST_F(CudaSymmetric, FloatSumsDoNotHaveThem) {
  const Bodies bodies = test::random_ball(65'537);
  const auto first = test::accelerations(info(), Settings{info()}, bodies, {});
  bool differs = false;
  for (int run = 0; run < 3 && !differs; ++run) {
    differs = test::accelerations(info(), Settings{info()}, bodies, {}) != first;
  }
  EXPECT_TRUE(differs) << "the test above would then say nothing about the setting";
}

TEST_F(CudaSymmetric, MomentumStaysThroughAThousandSteps) {
  Simulation sim{test::backends(), {.scene = "collision", .count = 2000}};
  sim.apply(SelectKernel{info().id});
  const auto momentum_scale = [](const Bodies& bodies) {
    double sum = 0;
    for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
      const Vec4& v = bodies.velocities[i];
      sum += bodies.positions[i].w * std::hypot(v.x, v.y, v.z);
    }
    return sum;
  };
  const Conserved before = conserved(sim.bodies(), sim.status().law);
  sim.run(1000);
  const Bodies bodies = sim.bodies();
  const Conserved after = conserved(bodies, sim.status().law);
  const double change = std::hypot(after.momentum.x - before.momentum.x, after.momentum.y - before.momentum.y,
                                   after.momentum.z - before.momentum.z);
  EXPECT_LE(change, 1e-6 * momentum_scale(bodies));
}

}  // namespace
}  // namespace orrery
