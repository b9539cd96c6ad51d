// The promises of the equations of motion, whatever kernel and integrator do the work.
#include "compute/diagnostics/conserved.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/distances.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

class EquationsOfMotion : public test::KernelTest {
 protected:
  Simulation simulation(const std::string& scene, int count, const std::string& integrator = "leapfrog") const {
    Simulation sim{test::backends(), {.scene = scene, .count = count}};
    test::apply(sim, SelectKernel{GetParam()->id}, SelectIntegrator{integrator});
    return sim;
  }
};

/// Period of the relative orbit of two bodies, from its energy (G = 1).
double period(const Bodies& two) {
  const double mass = static_cast<double>(two.positions[0].w) + two.positions[1].w;
  const double speed = test::distance(two.velocities[0], two.velocities[1]);
  const double axis = 1 / (2 / test::distance(two.positions[0], two.positions[1]) - speed * speed / mass);
  return 2 * std::acos(-1.0) * std::sqrt(axis * axis * axis / mass);
}

/// Two bodies on a circle of diameter 1, so that no step is harder than another.
Bodies circle() {
  return test::pair_on_ellipse(0);
}

/// How far from its start a body of the circle is after one period, in `steps` steps.
double closing_error(Simulation& sim, int steps) {
  const Bodies start = circle();
  sim.set_bodies(start);
  test::apply(sim, SetSoftening{1e-4f}, SetTimeStep{static_cast<float>(period(start) / steps)});
  sim.run(steps);
  return test::distance(sim.bodies().positions[0], start.positions[0]);
}

TEST_P(EquationsOfMotion, TwoBodyOrbitCloses) {
  Simulation sim = simulation("two-body", 0);
  const Bodies start = sim.bodies();
  constexpr int steps = 20'000;
  test::apply(sim, SetSoftening{1e-4f}, SetTimeStep{static_cast<float>(period(start) / steps)});
  sim.run(steps / 2);
  EXPECT_GT(test::distance(sim.bodies().positions[0], start.positions[0]), 0.1)
      << "half a period later it is elsewhere";
  sim.run(steps / 2);
  EXPECT_LT(test::distance(sim.bodies().positions[0], start.positions[0]), 5e-3);
}

TEST_P(EquationsOfMotion, ErrorFallsWithTheOrderWhenTheStepHalves) {
  // A pull that is too strong by a small part d turns the circle by 4 pi d in one period, on top of either error.
  const double by_force = 4 * std::acos(-1.0) * GetParam()->tolerance.median * circle().positions[0].x;
  const struct {
    const char* integrator;
    int steps;
    double ratio, allowed, forces;
  } rows[] = {{"leapfrog", 50, 4, 0.4, 5}, {"yoshida4", 20, 16, 4, 20}};
  for (const auto& row : rows) {
    Simulation sim = simulation("two-body", 0, row.integrator);
    const double coarse = closing_error(sim, row.steps), fine = closing_error(sim, 2 * row.steps);
    EXPECT_NEAR(coarse, row.ratio * fine, row.allowed * fine + row.forces * by_force)
        << row.integrator << ' ' << coarse << ' ' << fine;
  }
}

TEST_P(EquationsOfMotion, EulerErrorFallsByTwoWhenTheStepHalves) {
  Simulation sim = simulation("two-body", 0, "euler");
  // Half a turn away the first-order error of this symplectic scheme shows in the phase of the velocity.
  const auto quarter_error = [&](int steps) {
    const Bodies start = circle();
    sim.set_bodies(start);
    test::apply(sim, SetSoftening{1e-4f}, SetTimeStep{static_cast<float>(period(start) / (4 * steps))});
    sim.run(steps);
    return test::distance(sim.bodies().positions[0], {0, 0.5f, 0, 0});
  };
  const double coarse = quarter_error(50), fine = quarter_error(100);
  EXPECT_NEAR(coarse / fine, 2, 0.3) << coarse << " " << fine;
}

TEST_P(EquationsOfMotion, ReversibleIntegratorsRetraceTheirStepsWhenVelocitiesFlip) {
  for (const char* integrator : {"leapfrog", "yoshida4"}) {
    SCOPED_TRACE(integrator);
    Simulation sim = simulation("plummer", 257, integrator);
    const Bodies start = sim.bodies();
    sim.run(50);
    Bodies turned = sim.bodies();
    EXPECT_GT(test::distance(turned.positions[7], start.positions[7]), 1e-3);
    for (Vec4& v : turned.velocities) v = {-v.x, -v.y, -v.z, 0};
    sim.set_bodies(turned);
    sim.run(50);
    EXPECT_LT(test::apart(sim.bodies(), start), 1e-4);
  }
}

TEST_P(EquationsOfMotion, MomentumAndEnergyAreConserved) {
  // A cell's pull on a body has no exact counterpart.
  const double drift = GetParam()->is_tree ? 0.1 * GetParam()->tolerance.median : 1e-5;
  for (const char* integrator : {"leapfrog", "euler", "yoshida4"}) {
    SCOPED_TRACE(integrator);
    Simulation sim = simulation("plummer", 500, integrator);
    const Law law = sim.status().law;
    const Conserved before = conserved(sim.bodies(), law);
    sim.run(200);
    const Conserved after = conserved(sim.bodies(), law);
    EXPECT_LT(test::distance(after.momentum, before.momentum), 1.7 * drift);
    EXPECT_NEAR(after.energy(), before.energy(), 2e-3 * std::abs(before.energy()));
  }
}

TEST_P(EquationsOfMotion, DragTakesEnergyUnderAttractRepelOnly) {
  Simulation sim = simulation("plummer", 100);
  sim.apply(SetDrag{1e-3f});  // a tenth of a body's mass per unit of time
  sim.run(20);
  const Bodies gravity = sim.bodies();
  test::apply(sim, Restart{}, SetDrag{0});
  sim.run(20);
  if (GetParam()->repeatable) {
    EXPECT_EQ(gravity, sim.bodies()) << "gravity has no drag";
  } else {
    EXPECT_LT(test::apart(gravity, sim.bodies()), 1e-5) << "gravity has no drag";
  }

  test::apply(sim, SelectLaw{"attract-repel"}, Restart{});
  const double before = conserved(sim.bodies(), sim.status().law).energy();
  sim.run(100);
  const double without = conserved(sim.bodies(), sim.status().law).energy();
  test::apply(sim, Restart{}, SetDrag{1e-3f});
  sim.run(100);
  const double with = conserved(sim.bodies(), sim.status().law).energy();
  EXPECT_NEAR(without, before, 1e-2 * std::abs(before));
  EXPECT_LT(with, without - 1e-2 * std::abs(before));
}

INSTANTIATE_TEST_SUITE_P(Registry, EquationsOfMotion, testing::ValuesIn(test::kernels_under_test()), test::test_name);

}  // namespace
}  // namespace orrery
