// Digits::compensated: what steps add up, with every kernel and every integrator.
#include "compute/core/temporary_folder.h"
#include "compute/core/vec.h"
#include "compute/diagnostics/conserved.h"
#include "compute/integrators/integrator.h"
#include "compute/sim/simulation.h"
#include "compute/snapshots/checkpoint.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/distances.h"
#include "tests/test.h"

namespace orrery {
namespace {

class CompensatedState : public test::KernelTest {
 protected:
  static Simulation simulation(const char* integrator, Digits digits, int count = 0) {
    Simulation sim{test::backends(), {.scene = count > 0 ? "plummer" : "two-body", .count = count}, GetParam()};
    test::apply(sim, SelectIntegrator{integrator}, SetDigits{digits});
    return sim;
  }
  /// The integrators that the kernel suits.
  static std::vector<const IntegratorInfo*> suited_integrators() {
    std::vector<const IntegratorInfo*> suited;
    for (const IntegratorInfo* each : integrators()) {
      if (GetParam()->gives_jerks || !each->needs_jerks) suited.push_back(each);
    }
    return suited;
  }
};

Bodies reversed(Bodies bodies) {
  for (auto* vectors : {&bodies.velocities, &bodies.velocities_low}) {
    for (Vec4& v : *vectors) v = {-v.x, -v.y, -v.z, 0};
  }
  return bodies;
}

/// Two bodies at distance 1 that attract each other with 1/2 and move on together. Each kick and each drift is less
/// than half a unit in the last place of a float.
TEST_P(CompensatedState, TinyStepsAddUp) {
  constexpr float dt = 0x1p-30f;
  constexpr int steps = 400;
  const Bodies start{{{1, 1, 1, 0.5f}, {2, 1, 1, 0.5f}}, {{1, 1, 1, 0}, {1, 1, 1, 0}}};
  for (const IntegratorInfo* integrator : suited_integrators()) {
    SCOPED_TRACE(integrator->id);
    const auto after = [&](Digits digits) {
      Simulation sim = simulation(integrator->id, digits);
      test::apply(sim, SetSoftening{1e-6f}, SetTimeStep{dt});
      sim.set_bodies(start);
      sim.run(steps);
      return sim.bodies();
    };
    if (!integrator->needs_jerks) {  // or it has all digits while it runs
      EXPECT_EQ(after(Digits::single), start) << "floats lose all of it";
    }
    const Bodies moved = after(Digits::compensated);
    const double time = double{dt} * steps;
    const double error = 2 * GetParam()->tolerance.median + 1e-6;  // of the pull
    for (const std::size_t i : {0u, 1u}) {
      const Vec3d x = test::position(moved, i), v = joined<double>(moved.velocities[i], moved.velocities_low[i]);
      const double pull = i == 0 ? 0.5 : -0.5;
      EXPECT_NEAR((v.x - 1) / time, pull, error);
      EXPECT_NEAR((v.y - 1) / time, 0, error);
      EXPECT_NEAR((x.y - 1) / time, 1, 1e-6);
      EXPECT_EQ(moved.positions[i].w, 0.5f);
    }
  }
}

TEST_P(CompensatedState, GoesWhereFloatsGo) {
  for (const IntegratorInfo* integrator : suited_integrators()) {
    SCOPED_TRACE(integrator->id);
    const auto after = [&](Digits digits) {
      Simulation sim = simulation(integrator->id, digits, 300);
      sim.apply(SetTimeStep{0.01f});
      sim.run(10);
      return sim.bodies();
    };
    EXPECT_LT(test::apart(after(Digits::compensated), after(Digits::single)), 1e-5 + GetParam()->tolerance.median);
  }
}

/// On a GPU, the kicks of two steps of one batch are one pass.
TEST_P(CompensatedState, GoesTheSameWayInBatchesOfAnyLength) {
  if (!GetParam()->repeatable) return;
  for (const IntegratorInfo* integrator : suited_integrators()) {
    SCOPED_TRACE(integrator->id);
    const auto after = [&](const std::vector<int>& batches) {
      Simulation sim = simulation(integrator->id, Digits::compensated, 300);
      if (!integrator->needs_jerks) sim.apply(SelectLaw{"attract-repel"});  // its drag is that of each kick
      for (const int steps : batches) sim.run(steps);
      return sim.bodies();
    };
    const Bodies in_one = after({5});
    EXPECT_EQ(after({1, 1, 1, 1, 1}), in_one);
    EXPECT_EQ(after({3, 2}), in_one);
  }
}

TEST_P(CompensatedState, KeepsItsDigitsFromCommandToCommand) {
  Simulation sim = simulation("leapfrog", Digits::compensated, 100);
  EXPECT_EQ(sim.status().digits, Digits::compensated);
  sim.run(3);
  const Bodies here = sim.bodies();
  ASSERT_EQ(here.digits(), Digits::compensated);
  EXPECT_NE(here, with_digits(with_digits(here, Digits::single), Digits::compensated)) << "there are low words";
  test::apply(sim, KeepCheckpoint{}, SelectKernel{"cpu-serial"});
  EXPECT_EQ(sim.bodies(), here) << "another kernel, perhaps in other memory";
  test::apply(sim, SelectKernel{GetParam()->id}, SetTimeStep{0.001f});
  EXPECT_EQ(sim.bodies(), here);
  sim.run(2);
  sim.apply(RestoreCheckpoint{});
  EXPECT_EQ(sim.bodies(), here);
  sim.apply(SetDigits{Digits::single});
  EXPECT_EQ(sim.bodies(), with_digits(here, Digits::single));
  sim.apply(RestoreCheckpoint{});
  EXPECT_EQ(sim.bodies(), with_digits(here, Digits::single)) << "the digits are those of the run";
  test::apply(sim, SetDigits{Digits::compensated}, Restart{});
  EXPECT_EQ(sim.bodies(), with_digits(find_scene("plummer").generate(100, 1).bodies, Digits::compensated));
  sim.apply(Reset{});
  EXPECT_EQ(sim.status().digits, Digits::single) << "the scene's";
  const TemporaryFolder folder;
  const std::string file = (folder / "low.checkpoint").string();
  write_checkpoint(file, Checkpoint{.snapshot = {here}}, Existing::keep);
  sim.apply(LoadScene{{.file = file}});
  EXPECT_EQ(sim.bodies(), here) << "a file brings its digits";
}

TEST_P(CompensatedState, MeasuresWhatItHolds) {
  Simulation sim = simulation("leapfrog", Digits::compensated, 200);
  sim.run(5);
  sim.apply(MeasureConserved{});
  sim.run(1);
  const Conserved expected = conserved(sim.bodies(), sim.status().law);
  const Conserved rounded = conserved(with_digits(sim.bodies(), Digits::single), sim.status().law);
  ASSERT_TRUE(sim.status().conserved);
  const double energy = sim.status().conserved->sums.energy();
  EXPECT_NEAR(energy / expected.energy(), 1, 1e-13);
  EXPECT_GT(std::abs(energy / rounded.energy() - 1), 1e-12) << "low words count";
  sim.apply(ProbeForces{200});
  sim.run(1);
  ASSERT_TRUE(sim.status().force_probe);
  const ForceError error = sim.status().force_probe->error;
  EXPECT_LT(error.median, GetParam()->reads_low_words ? 4e-8 : GetParam()->tolerance.median + 2e-7);
}

INSTANTIATE_TEST_SUITE_P(Kernels, CompensatedState, testing::ValuesIn(test::kernels_under_test()), test::test_name);

/// Kernels that see all digits, so that the steps' own errors are what remains.
class AllDigits : public CompensatedState {};

/// A circle of diameter 1 with a third body around it, to time 1, in steps that are powers of two.
Bodies after_time_1(Simulation sim, int steps) {
  sim.set_bodies({{{0.5f, 0, 0, 0.5f}, {-0.5f, 0, 0, 0.5f}, {0, 3, 0.5f, 0.1f}},
                  {{0, 0.5f, 0, 0}, {0, -0.5f, 0, 0}, {0.5f, 0, 0, 0}}});
  test::apply(sim, SetSoftening{1e-3f}, SetTimeStep{1.0f / static_cast<float>(steps)});
  sim.run(steps);
  return sim.bodies();
}

TEST_P(AllDigits, ErrorsFallWithTheOrderFarBelowFloats) {
  const struct {
    const char* integrator;
    int steps;
    double ratio, least;
  } cases[] = {{"leapfrog", 1024, 4, 1e-7}, {"yoshida4", 256, 16, 1e-10}};
  for (const auto& tried : cases) {
    const auto& integrator = tried.integrator;
    const int steps = tried.steps;
    SCOPED_TRACE(integrator);
    const auto after = [&](int n) { return after_time_1(simulation(integrator, Digits::compensated), n); };
    const Bodies coarse = after(steps), middle = after(2 * steps), fine = after(4 * steps);
    const double first = test::apart(coarse, middle), second = test::apart(middle, fine);
    EXPECT_NEAR(first / second, tried.ratio, 0.05 * tried.ratio) << first << ' ' << second;
    EXPECT_LT(second, tried.least);
    const auto in_floats = [&](int n) { return after_time_1(simulation(integrator, Digits::single), n); };
    EXPECT_GT(test::apart(in_floats(2 * steps), middle), 3 * second) << "floats have lost this";
  }
}

TEST_P(AllDigits, LookingAtAccelerationsChangesNothing) {
  const auto after = [](bool looks) {
    Simulation sim = simulation("leapfrog", Digits::compensated, 60);
    for (int i = 0; i < 5; ++i) {
      sim.run(1);
      Bodies moved = sim.bodies();
      moved.positions_low.front().x += 1e-9f;
      sim.set_bodies(moved);
      if (looks) (void)sim.accelerations();
    }
    sim.run(1);
    return sim.bodies();
  };
  EXPECT_EQ(after(true), after(false));
}

TEST_P(AllDigits, TimeReversedStepsLeadBack) {
  const auto lost = [](Digits digits) {
    Simulation sim = simulation("leapfrog", digits, 60);
    sim.apply(SetTimeStep{0x1p-8f});
    const Bodies start = sim.bodies();
    sim.run(256);
    sim.set_bodies(reversed(sim.bodies()));
    sim.run(256);
    return test::apart(sim.bodies(), start);
  };
  const double in_floats = lost(Digits::single), compensated = lost(Digits::compensated);
  EXPECT_LT(compensated, 1e-11);
  EXPECT_LT(compensated, in_floats / 1e4) << in_floats;
}

INSTANTIATE_TEST_SUITE_P(Kernels, AllDigits, testing::ValuesIn(test::kernels_under_test(&KernelInfo::reads_low_words)),
                         test::test_name);

}  // namespace
}  // namespace orrery
