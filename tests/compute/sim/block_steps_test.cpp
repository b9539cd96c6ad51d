// leapfrog-blocks in a simulation, with every kernel: with those that evaluate some bodies, and with those that cannot.
#include "compute/diagnostics/conserved.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/distances.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

class BlockSteps : public test::KernelTest {
 protected:
  static Simulation simulation(const char* scene, int count, const char* integrator = "leapfrog-blocks") {
    Simulation sim{test::backends(), {.scene = scene, .count = count}, GetParam()};
    sim.apply(SelectIntegrator{integrator});
    return sim;
  }
  static int bodies_in(const LevelCounts& levels) { return std::accumulate(levels.begin(), levels.end(), 0); }
  /// Evaluations of one body in one step.
  static double evaluations_of_bodies(const LevelCounts& levels) {
    double sum = 0;
    for (int level = 0; level < level_count; ++level) sum += std::ldexp(levels[static_cast<std::size_t>(level)], level);
    return sum;
  }
};

TEST_P(BlockSteps, AreThoseOfThePlainSum) {
  for (const int count : {1, 2, 33, 257}) {
    SCOPED_TRACE(count);
    Simulation here = simulation("plummer", count), plain = simulation("plummer", count);
    plain.apply(SelectKernel{"cpu-serial"});
    for (Simulation* const sim : {&here, &plain}) {
      test::apply(*sim, SetTimeStep{0.05f}, SetEta{0.0005f});
      sim->run(4);
    }
    EXPECT_LT(test::apart(here.bodies(), plain.bodies()), 1e-5f + 2 * static_cast<float>(GetParam()->tolerance.median));
    if (count > 2) {
      EXPECT_GE(deepest_of(*here.status().levels), 2);
    }
  }
}

TEST_P(BlockSteps, ErrorsFallByFourWhenEtaFallsByFour) {
  if (GetParam()->is_tree || !GetParam()->full_fp32) return;  // errors of its forces are larger than those of steps
  const auto after = [](const char* integrator, float time_step, float eta) {
    Simulation sim = simulation("plummer", 65, integrator);
    test::apply(sim, SetSoftening{0.1f}, SetTimeStep{time_step}, SetEta{eta});
    sim.run(static_cast<int>(std::lround(1 / time_step)));
    return sim.bodies();
  };
  const Bodies exact = after("yoshida4", 1.0f / 256, 0.025f);
  const auto mean_error = [&](float eta) {
    const Bodies found = after("leapfrog-blocks", 0.0625f, eta);
    double sum = 0;
    for (std::size_t i = 0; i < 65; ++i) sum += test::distance(found.positions[i], exact.positions[i]);
    return sum / 65;
  };
  const double coarse = mean_error(4e-3f), fine = mean_error(1e-3f);
  EXPECT_NEAR(coarse / fine, 4, 1.2) << coarse << ' ' << fine;
}

TEST_P(BlockSteps, CountTheInteractionsThatTheyEvaluate) {
  constexpr int count = 700;
  Simulation sim = simulation("plummer", count);
  test::apply(sim, SetTimeStep{0.1f}, SetEta{0.035f});
  EXPECT_EQ(sim.status().interactions_per_step, 0) << "nothing is known yet";
  EXPECT_FALSE(sim.status().levels);
  sim.run(1);
  const StepTiming timing = sim.run(1);
  const auto levels = sim.status().levels;
  ASSERT_TRUE(levels);
  EXPECT_EQ(bodies_in(*levels), count);
  const int deepest = deepest_of(*levels);
  ASSERT_GT(deepest, 1) << "otherwise this tests nothing";
  EXPECT_LT((*levels)[static_cast<std::size_t>(deepest)], count / 2);
  EXPECT_EQ(timing.evaluations, 1 << deepest);
  const double found = timing.interactions_per_evaluation * timing.evaluations;
  const double all = std::ldexp(1.0 * count * count, deepest);
  if (GetParam()->is_tree) {
    EXPECT_LT(found, all);
  } else {
    EXPECT_NEAR(found, GetParam()->takes_targets ? evaluations_of_bodies(*levels) * count : all, 1e-9 * all);
  }
  EXPECT_NEAR(sim.status().interactions_per_step, found, 1e-9 * all);
  EXPECT_NEAR(timing.interactions_per_s * timing.step_ms * 1e-3, found, 1e-9 * all);
  sim.apply(SetTimeStep{0.05f});
  EXPECT_FALSE(sim.status().levels) << "of other steps";
  EXPECT_EQ(sim.status().interactions_per_step, 0);
}

TEST_P(BlockSteps, GoOnBitForBitFromACheckpoint) {
  Simulation first = simulation("plummer", 300);
  first.apply(SetTimeStep{0.1f});
  first.run(3);
  const Snapshot state = first.snapshot();
  Simulation second{test::backends(), {.scene = "two-body"}, GetParam()};
  second.resume(test::setup_of(first.status()), state, first.status().step);
  EXPECT_EQ(second.status().integrator_id, "leapfrog-blocks");
  first.run(2);
  second.run(1);
  second.run(1);
  ASSERT_GT(deepest_of(*second.status().levels), 0);
  if (GetParam()->repeatable) {
    EXPECT_EQ(second.bodies(), first.bodies());
    EXPECT_EQ(second.status().levels, first.status().levels);
  } else {
    EXPECT_LT(test::apart(second.bodies(), first.bodies()), 1e-4f);
  }
}

TEST_P(BlockSteps, ConserveEnergyAndNearlyMomentum) {
  Simulation sim = simulation("plummer", 600);
  const Law law = sim.status().law;
  sim.apply(SetTimeStep{0.05f});
  const Conserved before = conserved(sim.bodies(), law);
  sim.run(20);
  const Conserved after = conserved(sim.bodies(), law);
  EXPECT_NEAR(after.energy(), before.energy(), 2e-3 * std::abs(before.energy()));
  // Bodies of different levels pull each other at different times.
  const double drift = 1e-4 + (GetParam()->full_fp32 ? 0 : 0.1 * GetParam()->tolerance.median);
  EXPECT_LT(test::distance(after.momentum, before.momentum), 1.7 * drift);
}

TEST_P(BlockSteps, TakeMasslessAndCoincidentBodiesWithoutSoftening) {
  Simulation sim = simulation("plummer", 40);
  sim.apply(SetSoftening{GetParam()->full_fp32 ? Law::min_softening : 0.01f});  // a pull may be too large for few bits
  Bodies bodies = sim.bodies();
  for (std::size_t i = 30; i < 40; ++i) bodies.positions[i].w = 0;
  for (std::size_t i = 10; i < 14; ++i) {
    bodies.positions[i] = bodies.positions[10];
    bodies.velocities[i] = bodies.velocities[10];
  }
  sim.set_bodies(bodies);
  sim.apply(SetTimeStep{0.01f});
  if (std::string_view{GetParam()->id} == "cuda-symmetric") {
    EXPECT_THROW(sim.run(1), UsageError) << "it divides by masses";
    return;
  }
  const Bodies start = sim.bodies();
  EXPECT_EQ(sim.run(5).steps, 5);
  const Bodies end = sim.bodies();
  if (GetParam()->repeatable) {  // or pulls on bodies at one place differ by their rounding, which throws them apart
    EXPECT_LT(test::apart(end, start), 1);
  }
  EXPECT_NE(end, start);
  EXPECT_EQ(bodies_in(*sim.status().levels), 40);
  for (std::size_t i = 0; i < 40; ++i) ASSERT_EQ(end.positions[i].w, bodies.positions[i].w);

  for (Vec4& body : bodies.positions) body.w = 0;
  sim.set_bodies(bodies);
  EXPECT_EQ(sim.run(5).steps, 5);
  EXPECT_EQ((*sim.status().levels)[0], 40) << "nothing pulls";
}

INSTANTIATE_TEST_SUITE_P(Kernels, BlockSteps, testing::ValuesIn(test::kernels_under_test()), test::test_name);

class BlockStepsOfOneKernel : public test::BackendTest {
 protected:
  /// A repeatable direct sum that takes targets.
  static Simulation simulation(const SceneRequest& scene, const char* integrator = "leapfrog-blocks") {
    const auto kernels = test::kernels_under_test();
    const auto suits = [](const KernelPtr& k) { return k->repeatable && k->takes_targets && !k->is_tree; };
    Simulation sim{test::backends(), scene, *std::ranges::find_if(kernels, suits)};
    sim.apply(SelectIntegrator{integrator});
    return sim;
  }
};

TEST_F(BlockStepsOfOneKernel, AgreeWithTheProcessor) {
  const SceneRequest scene{.scene = "collapse", .count = 1000};
  Simulation here = simulation(scene), processor{test::backends(), scene, test::find_kernel("cpu-serial")};
  processor.apply(SelectIntegrator{"leapfrog-blocks"});
  for (Simulation* const sim : {&here, &processor}) {
    sim->apply(SetTimeStep{8 * sim->status().time_step});
    sim->run(3);
  }
  EXPECT_GT(deepest_of(*here.status().levels), 0);
  for (std::size_t level = 0; level < level_count; ++level) {
    EXPECT_NEAR((*here.status().levels)[level], (*processor.status().levels)[level], 2) << level;
  }
  EXPECT_LT(test::apart(here.bodies(), processor.bodies()), 1e-4f);
}

/// The work of a run to `end`, and how well it kept the energy.
struct Outcome {
  double interactions = 0, energy_error = 0, momentum_change = 0;
};
Outcome outcome_of(Simulation& sim, float time_step, float eta, float end) {
  test::apply(sim, SetTimeStep{time_step}, SetEta{eta});
  const Law law = sim.status().law;
  const Conserved before = conserved(sim.bodies(), law);
  Outcome outcome;
  for (int left = static_cast<int>(std::lround(end / time_step)), batch = 0; left > 0; left -= batch) {
    batch = std::min(left, std::max(1, static_cast<int>(end / time_step / 16)));
    const StepTiming timing = sim.run(batch);
    outcome.interactions += timing.interactions_per_evaluation * timing.evaluations;
    const Conserved now = conserved(sim.bodies(), law);
    outcome.energy_error = std::max(outcome.energy_error, std::abs((now.energy() - before.energy()) / before.energy()));
    outcome.momentum_change = std::max(outcome.momentum_change, test::distance(now.momentum, before.momentum));
  }
  return outcome;
}

/// Two galaxies with dense centers, with a tenth of the scene's softening. (With all of it, equal steps do better.)
TEST_F(BlockStepsOfOneKernel, KeepTheEnergyOfDenseSystemsBetterThanEqualStepsOfTheSameWork) {
  const SceneRequest scene{.scene = "collision", .count = 600};
  Simulation blocks = simulation(scene), equal = simulation(scene, "leapfrog");
  for (Simulation* const sim : {&blocks, &equal}) sim->apply(SetSoftening{0.003f});
  constexpr float end = 2;
  const Outcome own = outcome_of(blocks, 1.0f / 32, 0.01f, end);
  const double steps = std::ceil(own.interactions / (600.0 * 600));
  const Outcome shared = outcome_of(equal, static_cast<float>(end / steps), StepCriterion::usual_eta, end);
  EXPECT_GE(shared.interactions, 0.99 * own.interactions);
  EXPECT_LT(own.energy_error, shared.energy_error / 2);
  EXPECT_LT(own.momentum_change, 8e-3) << "of a total mass of 1 and speeds about 1";
}

TEST_F(BlockStepsOfOneKernel, KeepTheEnergyOfAnEccentricPairFarBetterThanEqualStepsOfTheSameWork) {
  Simulation blocks = simulation({.scene = "two-body"}), equal = simulation({.scene = "two-body"}, "leapfrog");
  for (Simulation* const sim : {&blocks, &equal}) {
    sim->apply(SetSoftening{1e-4f});
    sim->set_bodies(test::pair_on_ellipse(0.9));
  }
  constexpr float end = 12.6f;  // two periods
  const Outcome own = outcome_of(blocks, 0.02f, 1e-4f, end);
  const double steps = std::ceil(own.interactions / 4);
  const Outcome shared = outcome_of(equal, static_cast<float>(end / steps), StepCriterion::usual_eta, end);
  EXPECT_LT(own.energy_error, 3e-3);
  EXPECT_LT(own.energy_error, shared.energy_error / 20);
  EXPECT_LT(own.momentum_change, 1e-6) << "both have the same level";
}

TEST_F(BlockStepsOfOneKernel, AProbeIsOfAnEvaluationOfAllBodiesAndChangesNothing) {
  Simulation plain = simulation({.scene = "plummer", .count = 257}),
             probed = simulation({.scene = "plummer", .count = 257});
  for (Simulation* const sim : {&plain, &probed}) sim->apply(SetTimeStep{0.1f});
  plain.run(3);
  for (int step = 1; step <= 3; ++step) {
    test::apply(probed, ProbeForces{257}, ReadAccelerations{});
    probed.run(1);
    const auto probe = probed.status().force_probe;
    ASSERT_TRUE(probe && probed.status().accelerations);
    EXPECT_EQ(probe->step, step);
    EXPECT_LT(probe->error.max, 5e-3);
    EXPECT_EQ(probed.status().accelerations->step, step);
  }
  EXPECT_GT(deepest_of(*probed.status().levels), 0);
  EXPECT_EQ(plain.bodies(), probed.bodies());
}

}  // namespace
}  // namespace orrery
