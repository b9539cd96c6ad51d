// hermite4 and hermite4-blocks in a simulation, with every kernel that gives jerks.
#include "compute/core/error.h"
#include "compute/diagnostics/conserved.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/distances.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

std::vector<KernelPtr> jerk_kernels() {
  return test::kernels_under_test(&KernelInfo::gives_jerks);
}

/// Three bodies of mass 1 that follow each other on a figure eight (Chenciner & Montgomery 2000).
constexpr double eight_period = 6.32591398;
Bodies figure_eight() {
  const float x = 0.97000436f, y = -0.24308753f, vx = 0.93240737f / 2, vy = 0.86473146f / 2;
  return {{{x, y, 0, 1}, {-x, -y, 0, 1}, {0, 0, 0, 1}}, {{vx, vy, 0, 0}, {vx, vy, 0, 0}, {-2 * vx, -2 * vy, 0, 0}}};
}

double energy_of(Simulation& sim) {
  return conserved(sim.bodies(), sim.status().law).energy();
}

class Hermite : public test::KernelTest {
 protected:
  static Simulation simulation(const SceneRequest& scene, const char* integrator, const char* precision = "mixed") {
    Simulation sim{test::backends(), scene, GetParam()};
    test::apply(sim, SetTunable{"precision", precision}, SelectIntegrator{integrator});
    return sim;
  }
  static Simulation of_bodies(const Bodies& bodies, const char* integrator, double time_step,
                              const char* precision = "mixed") {
    Simulation sim = simulation({.scene = "two-body"}, integrator, precision);
    test::apply(sim, SetSoftening{Law::min_softening}, SetTimeStep{static_cast<float>(time_step)});
    sim.set_bodies(bodies);
    return sim;
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Hermite);

TEST_P(Hermite, ErrorFallsBySixteenWhenTheStepHalves) {
  const Bodies start = test::pair_on_ellipse(0.1);
  const auto closing_error = [&](int steps, const char* precision) {
    Simulation sim = of_bodies(start, "hermite4", 2 * std::numbers::pi / steps, precision);
    sim.run(steps);
    return test::distance(sim.bodies().positions[0], start.positions[0]);
  };
  for (const char* precision : {"mixed", "fp64"}) {
    const double coarse = closing_error(60, precision), fine = closing_error(120, precision);
    EXPECT_NEAR(coarse / fine, 16, 4) << precision << ' ' << coarse << ' ' << fine;
  }
}

/// The limits are those of pairs in float: at the passage, the potential is 20 and 200 times the energy, and so is the
/// effect of its rounding errors, which differ between a processor's and a GPU's reciprocal square root.
TEST_P(Hermite, BlockStepsFollowEccentricOrbits) {
  struct Case {
    double eccentricity;
    int steps;  // of a period
    double energy_error;
    int deepest;  // the level at the passage, at least
  };
  for (const auto& [eccentricity, steps, allowed, least] :
       {Case{0.9, 32, 3e-6, 4}, Case{0.99, 1024, 3e-5, 4}, Case{0.99, 32, 3e-5, 9}}) {
    SCOPED_TRACE(testing::Message() << eccentricity << ' ' << steps);
    const Bodies start = test::pair_on_ellipse(eccentricity);
    Simulation sim = of_bodies(start, "hermite4-blocks", 2 * std::numbers::pi / steps);
    sim.apply(SetEta{0.002f});
    const double before = energy_of(sim);
    int deepest = 0;
    for (int step = 0; step < 2 * steps; ++step) {
      sim.run(1);
      deepest = std::max(deepest, deepest_of(*sim.status().levels));
    }
    EXPECT_GE(deepest, least) << "the passage needs shorter steps";
    EXPECT_LE(deepest_of(*sim.status().levels), 3) << "the far end does not";
    EXPECT_NEAR(energy_of(sim), before, allowed * std::abs(before));
    EXPECT_LT(test::distance(sim.bodies().positions[0], start.positions[0]), 1e-4);
  }
}

TEST_P(Hermite, ThreeBodiesReturnOnTheFigureEight) {
  const Bodies start = figure_eight();
  for (const char* integrator : {"hermite4", "hermite4-blocks"}) {
    SCOPED_TRACE(integrator);
    Simulation sim = of_bodies(start, integrator, eight_period / 1000);
    sim.run(500);
    EXPECT_GT(test::apart(sim.bodies(), start), 0.1);
    sim.run(500);
    EXPECT_LT(test::apart(sim.bodies(), start), 3e-6);
  }
}

TEST_P(Hermite, AStarClusterKeepsItsEnergy) {
  for (const char* integrator : {"hermite4", "hermite4-blocks"}) {
    SCOPED_TRACE(integrator);
    Simulation sim = simulation({.scene = "plummer", .count = 257}, integrator);
    test::apply(sim, SetTimeStep{1.0f / 256}, SetEta{0.01f});
    const double before = energy_of(sim);
    sim.run(256);
    EXPECT_NEAR(energy_of(sim), before, 2e-7 * std::abs(before));
  }
}

TEST_P(Hermite, BlockStepsNearlyKeepMomentum) {
  Simulation sim = simulation({.scene = "plummer", .count = 600}, "hermite4-blocks");
  test::apply(sim, SetTimeStep{1.0f / 32}, SetEta{0.005f});
  const Conserved before = conserved(sim.bodies(), sim.status().law);
  sim.run(32);
  ASSERT_GT(deepest_of(*sim.status().levels), 1) << "otherwise this tests nothing";
  const Conserved after = conserved(sim.bodies(), sim.status().law);
  EXPECT_LT(test::distance(after.momentum, before.momentum), 1.7e-6);
}

/// One correction per step is not exactly reversible; its error is of the integrator's order.
TEST_P(Hermite, ShortStepsRetraceTheirWay) {
  Simulation sim = simulation({.scene = "plummer", .count = 257}, "hermite4");
  sim.apply(SetTimeStep{1.0f / 512});
  const Bodies start = sim.bodies();
  sim.run(256);
  Bodies turned = sim.bodies();
  EXPECT_GT(test::distance(turned.positions[7], start.positions[7]), 1e-3);
  for (Vec4& v : turned.velocities) v = {-v.x, -v.y, -v.z, 0};
  sim.set_bodies(turned);
  sim.run(256);
  EXPECT_LT(test::apart(sim.bodies(), start), 2e-6);
}

TEST_P(Hermite, SharedAndBlockStepsAgreeWithYoshida) {
  const auto after = [](const char* integrator, float time_step) {
    Simulation sim = simulation({.scene = "plummer", .count = 65}, integrator);
    test::apply(sim, SetSoftening{0.1f}, SetTimeStep{time_step}, SetEta{0.001f});
    sim.run(static_cast<int>(std::lround(1 / time_step)));
    return sim.bodies();
  };
  const Bodies exact = after("yoshida4", 1.0f / 256);
  EXPECT_LT(test::apart(after("hermite4", 1.0f / 256), exact), 1e-5) << "which yoshida4 computes in float";
  EXPECT_LT(test::apart(after("hermite4-blocks", 1.0f / 16), exact), 1e-5) << "which yoshida4 computes in float";
}

TEST_P(Hermite, DragActsUnderAttractRepel) {
  const auto after = [](const char* integrator) {
    Simulation sim = simulation({.scene = "plummer", .count = 100}, integrator);
    test::apply(sim, SelectLaw{"attract-repel"}, SetSoftening{0.1f}, SetDrag{1e-3f}, SetTimeStep{1.0f / 1024});
    sim.run(512);
    return sim.bodies();
  };
  const Bodies found = after("hermite4"), by_leapfrog = after("leapfrog");
  EXPECT_LT(test::apart(found, by_leapfrog), 2e-3);
  EXPECT_LT(std::abs(found.velocities[3].x - by_leapfrog.velocities[3].x), 2e-3);
}

TEST_P(Hermite, DigitsBelowFloatsStayBetweenBatches) {
  for (const char* integrator : {"hermite4", "hermite4-blocks"}) {
    SCOPED_TRACE(integrator);
    Simulation whole = simulation({.scene = "plummer", .count = 100}, integrator);
    Simulation parts = simulation({.scene = "plummer", .count = 100}, integrator);
    whole.run(6);
    parts.run(2);
    (void)parts.bodies();
    parts.start(1000, 0);
    parts.wait(std::stop_token{});
    parts.apply(Restart{});
    parts.run(2);
    (void)parts.snapshot();
    parts.run(4);
    EXPECT_EQ(parts.bodies(), whole.bodies());
    Simulation anew = simulation({.scene = "plummer", .count = 100}, integrator);
    anew.run(3);
    anew.set_bodies(anew.bodies());
    anew.run(3);
    EXPECT_NE(anew.bodies(), whole.bodies()) << "replaced bodies begin anew, from floats";
    EXPECT_LT(test::apart(anew.bodies(), whole.bodies()), 1e-6);
  }
}

TEST_P(Hermite, AResumedRunGoesOnBitForBit) {
  for (const char* integrator : {"hermite4", "hermite4-blocks"}) {
    for (const bool other_law : {false, true}) {  // then pulls are evaluated anew
      SCOPED_TRACE(testing::Message() << integrator << ' ' << other_law);
      Simulation first = simulation({.scene = "plummer", .count = 100}, integrator);
      first.run(5);
      if (other_law) first.apply(SetSoftening{0.05f});
      const RunSetup setup = test::setup_of(first.status());
      const Snapshot state = first.snapshot();
      const HermiteState hermite = first.hermite_state();
      const auto resumed = [&](const HermiteState& from) {
        Simulation second{test::backends(), {.scene = "two-body"}};
        second.resume(setup, state, 5, from);
        EXPECT_EQ(second.hermite_state().bodies.size(), from.bodies.size()) << "it may be kept again at once";
        EXPECT_EQ(second.hermite_state().pulls_current, from.pulls_current);
        second.run(1);
        second.run(3);
        return second.bodies();
      };
      first.run(4);
      EXPECT_EQ(hermite.pulls_current, !other_law);
      EXPECT_EQ(resumed(hermite), first.bodies());
      EXPECT_NE(resumed({}), first.bodies()) << "otherwise floats would do";
    }
  }
}

TEST_P(Hermite, OtherIntegratorsHaveNoStateOfIt) {
  Simulation sim = simulation({.scene = "plummer", .count = 100}, "hermite4");
  EXPECT_TRUE(sim.hermite_state().bodies.empty()) << "before the first step";
  sim.run(1);
  const HermiteState hermite = sim.hermite_state();
  EXPECT_EQ(hermite.bodies.size(), 100u);
  sim.apply(SelectIntegrator{"leapfrog"});
  EXPECT_TRUE(sim.hermite_state().bodies.empty());
  sim.resume(test::setup_of(sim.status()), sim.snapshot(), 1, hermite);
  EXPECT_TRUE(sim.hermite_state().bodies.empty()) << "a run of leapfrog has no use for it";
}

TEST_P(Hermite, ACancelledStepChangesNothing) {
  Simulation whole = simulation({.scene = "plummer", .count = 700}, "hermite4-blocks");
  Simulation cancelled = simulation({.scene = "plummer", .count = 700}, "hermite4-blocks");
  cancelled.start(1'000'000 / 700, 0);
  (void)cancelled.bodies();  // cancels
  const auto done = static_cast<int>(cancelled.status().step);
  cancelled.run(1);
  if (done > 0) whole.run(done);
  whole.run(1);
  EXPECT_EQ(cancelled.bodies(), whole.bodies());
}

TEST_P(Hermite, WhatIsShownIsTrue) {
  Simulation sim = simulation({.scene = "plummer", .count = 513}, "hermite4");
  sim.run(2);
  test::apply(sim, ProbeForces{100}, ReadAccelerations{}, MeasureConserved{});
  const StepTiming timing = sim.run(3);
  const Status& status = sim.status();
  ASSERT_TRUE(status.force_probe);
  EXPECT_LT(status.force_probe->error.median, GetParam()->tolerance.median);
  ASSERT_TRUE(status.conserved);
  EXPECT_EQ(status.conserved->step, 5);
  const Bodies bodies = sim.bodies();
  EXPECT_NEAR(status.conserved->sums.energy(), conserved(bodies, status.law).energy(), 1e-9);
  ASSERT_TRUE(status.accelerations);
  const std::vector<Vec4> accelerations = sim.accelerations();
  for (std::size_t i = 0; i < accelerations.size(); ++i) {
    const Vec4& a = accelerations[i];
    const double size = std::hypot(double{a.x}, a.y, a.z);
    ASSERT_NEAR(status.accelerations->magnitudes[i], size, 1e-4 * size) << i;
  }
  EXPECT_GT(status.force_probe->preparation_ms, 0) << "the probe's own evaluation";
  EXPECT_EQ(timing.evaluations, 3) << "one per step; that of the probe is not counted";
  EXPECT_NEAR(timing.interactions_per_evaluation, 513.0 * 513, 1e-6);
}

TEST_P(Hermite, BlockStepsCountWhatTheyEvaluate) {
  Simulation sim = simulation({.scene = "plummer", .count = 700}, "hermite4-blocks");
  sim.apply(SetTimeStep{0.1f});
  sim.run(1);
  const StepTiming timing = sim.run(1);
  EXPECT_GT(timing.evaluations, 4);
  EXPECT_LT(timing.interactions_per_evaluation, 0.9 * 700 * 700);
  EXPECT_NEAR(sim.status().interactions_per_step, timing.interactions_per_evaluation * timing.evaluations, 1);
  Simulation probed = simulation({.scene = "plummer", .count = 700}, "hermite4-blocks");
  probed.apply(SetTimeStep{0.1f});
  probed.run(1);
  probed.apply(ProbeForces{100});
  EXPECT_EQ(probed.run(1).evaluations, timing.evaluations) << "the probe's evaluation is not counted";
}

TEST_P(Hermite, ANonFiniteBodyStopsTheRun) {
  Bodies bodies = figure_eight();
  bodies.velocities[1].x = std::numeric_limits<float>::max();
  for (const char* integrator : {"hermite4", "hermite4-blocks"}) {
    Simulation sim = of_bodies(bodies, integrator, 0.5);
    EXPECT_THROW(sim.run(8), std::runtime_error) << integrator;
    ASSERT_TRUE(sim.status().non_finite) << integrator;
  }
}

TEST_P(Hermite, SwitchesOfTheIntegratorGoOnFromTheBodies) {
  Simulation sim = simulation({.scene = "plummer", .count = 100}, "leapfrog");
  for (const char* integrator : {"hermite4", "leapfrog", "hermite4-blocks", "hermite4", "yoshida4"}) {
    const Bodies before = sim.bodies();
    sim.apply(SelectIntegrator{integrator});
    EXPECT_EQ(sim.bodies(), before) << integrator;
    sim.run(2);
    EXPECT_GT(test::apart(sim.bodies(), before), 1e-5) << integrator;
    EXPECT_LT(test::apart(sim.bodies(), before), 0.3) << integrator;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Hermite, testing::ValuesIn(jerk_kernels()), test::test_name);

/// The message to a user who asks for a kernel and an integrator that do not go together.
class JerkNeeds : public test::BackendTest {
 protected:
  static KernelPtr plain() { return test::find_kernel(test::backend == Backend::cuda ? "cuda-naive" : "cpu-simd"); }
  static KernelPtr with_jerks() { return jerk_kernels().front(); }
};

TEST_F(JerkNeeds, AreToldInOneLineIfTheUserNamedTheKernel) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 10}, plain()};
  for (const char* id : {"hermite4", "hermite4-blocks"}) {
    EXPECT_USAGE_ERROR(sim.apply(SelectIntegrator{id}), id, plain()->id, "auto", with_jerks()->id);
  }
  EXPECT_EQ(sim.status().integrator_id, "leapfrog") << "nothing changed";
  test::apply(sim, SelectKernel{with_jerks()->id}, SelectIntegrator{"hermite4"});
  EXPECT_USAGE_ERROR(sim.apply(SelectKernel{plain()->id}), "hermite4", with_jerks()->id);
  EXPECT_EQ(sim.status().kernel_id, with_jerks()->id);
}

TEST_F(JerkNeeds, AreMetByAnotherDefaultIfNoOneNamedAKernel) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 10}};
  const std::string usual = sim.status().kernel_id;
  sim.apply(SelectIntegrator{"hermite4"});
  EXPECT_TRUE(sim.status().kernel->gives_jerks);
  sim.run(2);
  sim.apply(Reset{});
  EXPECT_EQ(sim.status().integrator_id, "leapfrog");
  EXPECT_EQ(sim.status().kernel_id, usual);
  sim.apply(SelectKernel{auto_kernel});  // without a chooser
  sim.apply(SelectIntegrator{"hermite4-blocks"});
  EXPECT_TRUE(sim.status().kernel->gives_jerks);
  EXPECT_TRUE(sim.status().auto_choice);
  sim.run(1);
}

}  // namespace
}  // namespace orrery
