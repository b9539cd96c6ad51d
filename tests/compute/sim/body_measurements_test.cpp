// A simulation's measurements of every body: accelerations and force errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "compute/diagnostics/reference.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"

namespace orrery {
namespace {

class BodyMeasurements : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }

  static Simulation small(const std::string& integrator) {
    Simulation sim{test::backends(), {.scene = "plummer", .count = 257}};
    const auto kernels = test::kernels_under_test();
    sim.apply(SelectKernel{(*std::ranges::find_if(kernels, &KernelInfo::repeatable))->id});
    sim.apply(SelectIntegrator{integrator});
    return sim;
  }
};

TEST_P(BodyMeasurements, AProbeHasTheErrorOfEachBodyAndTurnsReachAll) {
  Simulation sim = small(GetParam());
  std::set<int> seen;
  for (int turn = 0; turn < 3; ++turn) {
    sim.apply(ProbeForces{100, turn});
    sim.run(1);
    const auto probe = sim.status().force_probe;
    ASSERT_TRUE(probe && probe->bodies);
    EXPECT_EQ(probe->bodies->bodies, sample_targets(257, 100, turn));
    ASSERT_EQ(probe->bodies->errors.size(), 100u);
    EXPECT_EQ(std::ranges::max(probe->bodies->errors), probe->error.max);
    seen.insert(probe->bodies->bodies.begin(), probe->bodies->bodies.end());
  }
  EXPECT_EQ(seen.size(), 257u);
}

TEST_P(BodyMeasurements, OneBodyMoreIsComparedAndTheSampleKeepsItsError) {
  Simulation sim = small(GetParam()), alone = small(GetParam());
  const std::vector<int> sample = sample_targets(257, 100);
  int beside = 0;
  while (std::ranges::binary_search(sample, beside)) ++beside;
  for (const int body : {beside, sample[40], 257}) {
    SCOPED_TRACE(body);
    sim.apply(ProbeForces{.sample = 100, .body = body});
    alone.apply(ProbeForces{100});
    sim.run(1);
    alone.run(1);
    const auto probe = sim.status().force_probe, plain = alone.status().force_probe;
    ASSERT_TRUE(probe && probe->bodies && plain);
    EXPECT_EQ(probe->sample, 100);
    EXPECT_NEAR(probe->error.median, plain->error.median, 1e-12);  // a GPU may add up in another order
    EXPECT_NEAR(probe->error.rms, plain->error.rms, 1e-12);
    EXPECT_EQ(probe->error.worst, plain->error.worst);
    EXPECT_EQ(probe->bodies->bodies.size(), body == beside ? 101u : 100u);
    ASSERT_EQ(probe->bodies->of(body).has_value(), body < 257);
    if (body < 257) {
      EXPECT_LT(*probe->bodies->of(body), 1e-3);
      const Vec3d exact = reference_accelerations(sim.bodies().positions, {&body, 1}, sim.status().law).front();
      const auto compared = probe->bodies->acceleration_of(body);
      ASSERT_TRUE(compared);
      // Euler's method evaluates before it moves the bodies.
      const double near = 0.02 * std::hypot(exact.x, exact.y, exact.z);
      EXPECT_NEAR(compared->x, exact.x, near);
      EXPECT_NEAR(compared->y, exact.y, near);
      EXPECT_NEAR(compared->z, exact.z, near);
    }
    EXPECT_EQ(probe->bodies->errors.size(), probe->bodies->bodies.size());
  }
}

TEST_P(BodyMeasurements, AccelerationsAreThoseOfTheLastEvaluation) {
  for (const KernelPtr& kernel : test::kernels_under_test()) {
    SCOPED_TRACE(kernel->id);
    Simulation sim{test::backends(), {.scene = "two-body"}};
    sim.apply(SelectIntegrator{GetParam()});
    sim.apply(SelectKernel{kernel->id});
    EXPECT_FALSE(sim.status().accelerations);
    const Bodies first = sim.bodies();
    sim.apply(ReadAccelerations{});
    const StepTiming timing = sim.run(1);
    const auto read = sim.status().accelerations;
    ASSERT_TRUE(read);
    EXPECT_EQ(read->step, 1);
    // Euler evaluates before it moves the bodies, leapfrog after.
    const Bodies at = std::string{GetParam()} == "leapfrog" ? sim.bodies() : first;
    const float distance = at.positions[1].x - at.positions[0].x;  // the first step is along y
    ASSERT_EQ(read->magnitudes.size(), 2u);
    EXPECT_NEAR(read->magnitudes[0], 0.25f / (distance * distance), 1e-3f);
    EXPECT_NEAR(read->magnitudes[1], 0.75f / (distance * distance), 1e-3f);
    EXPECT_EQ(timing.evaluations, std::string{GetParam()} == "leapfrog" ? 2 : 1) << "no evaluation more";
    sim.run(1);
    EXPECT_EQ(sim.status().accelerations->step, 1) << "once";
    sim.apply(SetSoftening{0.5f});
    EXPECT_FALSE(sim.status().accelerations) << "of other forces";
  }
}

TEST_P(BodyMeasurements, APausedSystemIsMeasuredWhereItStands) {
  Simulation paused = small(GetParam()), plain = small(GetParam());
  paused.apply(SetPaused{true});
  EXPECT_EQ(paused.advance_frame(1), 0);
  for (int round = 0; round < 2; ++round) {
    paused.apply(ReadAccelerations{});
    paused.apply(ProbeForces{50, round});
    EXPECT_EQ(paused.advance_frame(2), 0);
    paused.wait();
    EXPECT_TRUE(paused.collect().empty()) << "no step was made";
    ASSERT_TRUE(paused.status().accelerations && paused.status().force_probe);
    EXPECT_EQ(paused.status().accelerations->step, round);
    EXPECT_EQ(paused.status().force_probe->step, round);
    EXPECT_EQ(paused.status().force_probe->sample, 50);
    const std::vector<Vec4> expected = plain.accelerations();
    for (const std::size_t i : {0u, 100u, 256u}) {
      const Vec4& a = expected[i];
      EXPECT_NEAR(paused.status().accelerations->magnitudes[i], std::hypot(a.x, a.y, a.z),
                  1e-4f * std::hypot(a.x, a.y, a.z));
    }
    plain.run(1);
    paused.run(1);
    EXPECT_EQ(paused.bodies(), plain.bodies()) << "measuring changes nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(Integrators, BodyMeasurements, testing::Values("leapfrog", "euler"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
}  // namespace orrery
