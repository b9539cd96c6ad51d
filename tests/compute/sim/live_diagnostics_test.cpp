// A simulation's measurements while it runs, of the whole and of every body, and its stop at a body that is not finite.
#include "compute/diagnostics/conserved.h"
#include "compute/diagnostics/reference.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/distances.h"
#include "tests/test.h"

namespace orrery {
namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float huge = std::numeric_limits<float>::max();

class LiveDiagnostics : public test::BackendTest {
 protected:
  static Simulation small(const std::string& integrator = "leapfrog", int count = 257) {
    Simulation sim{test::backends(), {.scene = "plummer", .count = count}};
    const auto kernels = test::kernels_under_test();
    // One whose runs are the same to the bit: some tests compare two of them.
    sim.apply(SelectKernel{(*std::ranges::find_if(kernels, &KernelInfo::repeatable))->id});
    sim.apply(SelectIntegrator{integrator});
    return sim;
  }

  /// Bodies whose body 17 leaves the range of float in the drift of the third step, for dt = 1.
  static Bodies runaway(Simulation& sim) {
    sim.apply(SetTimeStep{1});
    Bodies bodies = sim.bodies();
    bodies.positions[17].x = 0.1f * huge;
    bodies.velocities[17].x = 0.35f * huge;
    return bodies;
  }

  static Bodies with_nan_velocities(Bodies bodies) {
    bodies.velocities[40].y = nan_value;
    bodies.velocities[17].z = nan_value;
    return bodies;
  }
};

void expect_non_finite(const Simulation& sim, std::int64_t step, int body) {
  const Status status = sim.status();
  ASSERT_TRUE(status.non_finite);
  EXPECT_EQ(status.non_finite->step, step);
  EXPECT_EQ(status.non_finite->body, body);
  EXPECT_EQ(status.step, step);
  EXPECT_TRUE(status.paused);
  EXPECT_FALSE(status.busy);
  const std::string start = "body " + std::to_string(body) + " is not finite after step " + std::to_string(step) +
                            " (kernel " + status.kernel_id + "): the run stops there";
  EXPECT_EQ(status.last_error.substr(0, start.size()), start);
}

class EveryIntegrator : public LiveDiagnostics, public testing::WithParamInterface<const char*> {};

TEST_P(EveryIntegrator, AProbeIsTheErrorOfTheRunningEvaluation) {
  for (const KernelPtr& kernel : test::kernels_under_test()) {
    SCOPED_TRACE(kernel->id);
    Simulation sim = small(GetParam());
    sim.apply(SelectKernel{kernel->id});
    const Bodies bodies = sim.bodies();
    const std::vector<int> targets = sample_targets(bodies.count(), 100);
    const ForceError expected =
        force_error(sim.accelerations(), targets, reference_accelerations(bodies.positions, targets, sim.status().law));
    sim.set_bodies(bodies);  // so that leapfrog's first step begins with an evaluation, as Euler's does
    EXPECT_FALSE(sim.status().force_probe);
    sim.apply(ProbeForces{100});
    const StepTiming timing = sim.run(3);
    const auto probe = sim.status().force_probe;
    ASSERT_TRUE(probe);
    EXPECT_EQ(probe->step, 1);
    EXPECT_EQ(probe->sample, 100);
    EXPECT_GT(probe->ms, 0);
    if (kernel->repeatable) {
      EXPECT_NEAR(probe->error.median, expected.median, 1e-3 * expected.median + 1e-12);
      EXPECT_NEAR(probe->error.max, expected.max, 1e-3 * expected.max + 1e-12);
      EXPECT_EQ(probe->error.worst, expected.worst);
    }
    EXPECT_LE(probe->error.median, kernel->tolerance.median);
    EXPECT_EQ(timing.evaluations, std::string{GetParam()} == "leapfrog" ? 4 : 3) << "no evaluation more";
    sim.run(2);
    EXPECT_EQ(sim.status().force_probe->step, 1) << "once";
  }
}

TEST_P(EveryIntegrator, AProbeOfALaterStepIsHeldAgainstThePositionsOfItsForces) {
  for (const KernelPtr& kernel : test::kernels_under_test()) {
    SCOPED_TRACE(kernel->id);
    Simulation sim = small(GetParam());
    test::apply(sim, SelectKernel{kernel->id}, SetTimeStep{0.1f});
    sim.run(1);
    const std::vector<Vec4> before = sim.accelerations();
    sim.apply(ProbeForces{257});
    sim.run(1);
    const auto probe = sim.status().force_probe;
    ASSERT_TRUE(probe);
    EXPECT_EQ(probe->step, 2);
    EXPECT_LE(probe->error.median, kernel->tolerance.median);
    EXPECT_LE(probe->error.max, kernel->tolerance.max);

    const Bodies after = sim.bodies();
    const std::vector<int> targets = sample_targets(after.count(), 257);
    const ForceError a_drift_apart =
        force_error(before, targets, reference_accelerations(after.positions, targets, sim.status().law));
    EXPECT_GT(a_drift_apart.median, 5 * kernel->tolerance.median) << "a probe of other positions would not be seen";
  }
}

TEST_P(EveryIntegrator, AProbeChangesNothing) {
  Simulation plain = small(GetParam()), probed = small(GetParam());
  plain.run(4);
  for (int i = 0; i < 4; ++i) {
    test::apply(probed, ProbeForces{64}, MeasureConserved{}, KeepCheckpoint{});
    EXPECT_EQ(probed.run(1).steps, 1);
    EXPECT_EQ(probed.status().force_probe->step, i + 1);
    EXPECT_EQ(probed.status().conserved->step, i + 1);
  }
  EXPECT_EQ(plain.bodies(), probed.bodies());
}

TEST_P(EveryIntegrator, ABodyThatIsNotFiniteAtTheStartStopsTheRunThere) {
  Simulation sim = small(GetParam());
  sim.set_bodies(with_nan_velocities(sim.bodies()));
  EXPECT_RUNTIME_ERROR(sim.run(5), "body 17 is not finite after step 0", sim.status().kernel_id, "the run stops there");
  expect_non_finite(sim, 0, 17);
}

TEST_P(EveryIntegrator, AProbeHasTheErrorOfEachBodyAndTurnsReachAll) {
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

TEST_P(EveryIntegrator, OneBodyMoreIsComparedAndTheSampleKeepsItsError) {
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
      EXPECT_LT(test::distance(Vec3d{compared->x, compared->y, compared->z}, exact), near);
    }
    EXPECT_EQ(probe->bodies->errors.size(), probe->bodies->bodies.size());
  }
}

TEST_P(EveryIntegrator, AccelerationsAreThoseOfTheLastEvaluation) {
  for (const KernelPtr& kernel : test::kernels_under_test()) {
    SCOPED_TRACE(kernel->id);
    Simulation sim{test::backends(), {.scene = "two-body"}};
    test::apply(sim, SelectIntegrator{GetParam()}, SelectKernel{kernel->id});
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

TEST_P(EveryIntegrator, APausedSystemIsMeasuredWhereItStands) {
  Simulation paused = small(GetParam()), plain = small(GetParam());
  paused.apply(SetPaused{true});
  EXPECT_EQ(paused.advance_frame(1), 0);
  for (int round = 0; round < 2; ++round) {
    test::apply(paused, ReadAccelerations{}, ProbeForces{50, round});
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

INSTANTIATE_TEST_SUITE_P(Registry, EveryIntegrator, testing::Values("leapfrog", "euler"),
                         [](const auto& instance) { return std::string{instance.param}; });

TEST_F(LiveDiagnostics, ARunStopsAtTheStepThatMadeABodyNotFinite) {
  for (const char* integrator : {"leapfrog", "euler", "leapfrog-blocks"}) {
    for (const int batch : {1, 2, 7}) {  // in a batch of its own, at a batch's start, within a batch
      SCOPED_TRACE(std::string{integrator} + ' ' + std::to_string(batch));
      Simulation sim = small(integrator);
      sim.set_bodies(runaway(sim));
      const auto run_to_the_end = [&] {
        for (int i = 0; i < 7; ++i) sim.run(batch);
      };
      EXPECT_RUNTIME_ERROR(run_to_the_end(), "body 17 is not finite after step 3");
      expect_non_finite(sim, 3, 17);
      EXPECT_NEAR(sim.status().sim_time, 3, 1e-12);
    }
  }
}

TEST_F(LiveDiagnostics, FramesStopAtANonFiniteBodyAndStayStopped) {
  Simulation sim = small();
  sim.set_bodies(runaway(sim));
  int steps = 0;
  for (int frame = 0; frame < 20; ++frame) {  // some are in flight when the non-finite body is seen
    steps += sim.advance_frame(frame);
    if (frame % 3 == 2) sim.wait();
  }
  sim.wait();
  int reported = 0;
  for (const StepTiming& timing : sim.collect()) reported += timing.steps;
  expect_non_finite(sim, 3, 17);
  EXPECT_EQ(reported, 3) << "batches tell of the steps that count";
  EXPECT_GE(steps, reported);

  const std::string line = sim.status().last_error;
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto equal_bits = [](const Bodies& a, const Bodies& b) {
    return a.count() == b.count() &&
           std::memcmp(a.positions.data(), b.positions.data(), a.positions.size() * sizeof(Vec4)) == 0 &&
           std::memcmp(a.velocities.data(), b.velocities.data(), a.velocities.size() * sizeof(Vec4)) == 0;
  };
  const Bodies frozen = sim.bodies();
  for (const Command& command : {Command{SetPaused{false}}, Command{StepOnce{}}, Command{SetTimeStep{0.5f}}}) {
    sim.report("");
    sim.apply(command);
    EXPECT_EQ(sim.status().last_error, line) << "said again";
    EXPECT_EQ(sim.advance_frame(100), 0);
    sim.wait();
    EXPECT_TRUE(sim.status().paused);
  }
  EXPECT_THROW(sim.run(1), std::runtime_error);
  EXPECT_TRUE(equal_bits(sim.bodies(), frozen));
  EXPECT_FALSE(std::isfinite(frozen.positions[17].x));
  EXPECT_EQ(sim.status().step, 3);
}

TEST_F(LiveDiagnostics, RestartClearsANonFiniteBody) {
  Simulation sim = small();
  const Bodies start = sim.bodies();
  sim.set_bodies(with_nan_velocities(start));
  EXPECT_THROW(sim.run(1), std::runtime_error);
  sim.apply(Restart{});
  const Status status = sim.status();
  EXPECT_FALSE(status.non_finite);
  EXPECT_EQ(status.last_error, "");
  EXPECT_EQ(status.step, 0);
  EXPECT_EQ(sim.bodies(), start);
  sim.apply(SetPaused{false});
  EXPECT_EQ(sim.run(2).steps, 2);
  EXPECT_EQ(sim.status().step, 2);

  sim.set_bodies(with_nan_velocities(start));
  EXPECT_THROW(sim.run(1), std::runtime_error);
  sim.apply(LoadScene{{.scene = "disc", .count = 300}});
  EXPECT_FALSE(sim.status().non_finite);
  EXPECT_EQ(sim.run(2).steps, 2);
}

TEST_F(LiveDiagnostics, TheCheckpointComesBackBitForBit) {
  Simulation sim = small();
  EXPECT_USAGE_ERROR(sim.apply(RestoreCheckpoint{}), "no checkpoint", "'reset'");
  sim.run(3);
  sim.apply(KeepCheckpoint{});
  sim.wait();
  EXPECT_EQ(sim.status().checkpoint_step, 3);
  const Bodies at_three = sim.bodies();
  const double time_at_three = sim.status().sim_time;
  sim.run(2);
  sim.apply(KeepCheckpoint{});
  sim.wait();
  EXPECT_EQ(sim.status().checkpoint_step, 5);
  const Bodies at_five = sim.bodies();
  sim.run(2);
  const Bodies at_seven = sim.bodies();
  sim.apply(RestoreCheckpoint{});
  EXPECT_EQ(sim.bodies(), at_five);
  EXPECT_EQ(sim.status().step, 5);
  EXPECT_NEAR(sim.status().sim_time, time_at_three * 5 / 3, 1e-9);
  sim.run(2);
  for (std::size_t i = 0; i < at_seven.positions.size(); ++i) {
    ASSERT_NEAR(sim.bodies().positions[i].x, at_seven.positions[i].x, 1e-5);
  }
  EXPECT_EQ(sim.status().checkpoint_step, 5) << "it can be brought back again";
  sim.apply(Restart{});
  EXPECT_FALSE(sim.status().checkpoint_step);
  EXPECT_NE(at_three, at_five);
}

TEST_F(LiveDiagnostics, AfterANonFiniteBodyTheCheckpointGoesOn) {
  Simulation sim = small();
  sim.set_bodies(runaway(sim));
  sim.run(2);
  sim.apply(KeepCheckpoint{});
  const Bodies at_two = sim.bodies();
  EXPECT_RUNTIME_ERROR(sim.run(4), "body 17 is not finite after step 3", "the run stops there");
  sim.apply(KeepCheckpoint{});
  sim.wait();
  EXPECT_EQ(sim.status().checkpoint_step, 2) << "what is not finite is not kept";
  sim.apply(RestoreCheckpoint{});
  EXPECT_FALSE(sim.status().non_finite);
  EXPECT_EQ(sim.status().last_error, "");
  EXPECT_EQ(sim.status().step, 2);
  EXPECT_EQ(sim.bodies(), at_two);
  EXPECT_RUNTIME_ERROR(sim.run(4), "after step 3", "the run stops there");
  test::apply(sim, RestoreCheckpoint{}, SetTimeStep{1e-3f});
  EXPECT_EQ(sim.run(4).steps, 4);
  EXPECT_EQ(sim.status().step, 6);
}

TEST_F(LiveDiagnostics, AStateThatIsNotFiniteIsNotKept) {
  Simulation sim = small();
  sim.set_bodies(with_nan_velocities(sim.bodies()));
  sim.apply(KeepCheckpoint{});
  sim.wait();
  EXPECT_FALSE(sim.status().checkpoint_step);
  sim.advance_frame(1);
  sim.apply(KeepCheckpoint{});
  sim.wait();
  EXPECT_FALSE(sim.status().checkpoint_step);
  expect_non_finite(sim, 0, 17);
}

TEST_F(LiveDiagnostics, TheCheckpointOutlivesASwitchOfKernels) {
  Simulation sim = small();
  sim.run(3);
  sim.apply(KeepCheckpoint{});
  const Bodies kept = sim.bodies();
  for (const KernelPtr& kernel : test::kernels()) {  // both backends, to and fro
    if (!test::backends().status(kernel->backend).available) continue;
    SCOPED_TRACE(kernel->id);
    sim.apply(SelectKernel{kernel->id});
    sim.run(1);
    EXPECT_EQ(sim.status().checkpoint_step, 3);
    sim.apply(RestoreCheckpoint{});
    EXPECT_EQ(sim.bodies(), kept);
    EXPECT_EQ(sim.status().step, 3);
  }
}

TEST_F(LiveDiagnostics, ConservedSumsAreThoseOfTheStateAfterTheBatch) {
  for (const char* law : {"gravity", "attract-repel"}) {
    std::vector<int> counts{1, 2, 255, 256, 257, 600, 1100};
    if (test::backend == Backend::cuda) counts.push_back(24000);  // in more than one launch
    for (const int count : counts) {
      SCOPED_TRACE(std::string{law} + " " + std::to_string(count));
      Simulation sim = small("leapfrog", count);
      test::apply(sim, SelectLaw{law}, MeasureConserved{});
      sim.run(2);
      const auto probe = sim.status().conserved;
      ASSERT_TRUE(probe);
      EXPECT_EQ(probe->step, 2);
      EXPECT_EQ(probe->sim_time, sim.status().sim_time);
      EXPECT_GT(probe->ms, 0);
      test::apply(sim, Restart{}, MeasureConserved{});
      sim.run(2);
      EXPECT_EQ(sim.status().conserved->sums.potential, probe->sums.potential) << "to the bit";
      EXPECT_EQ(sim.status().conserved->sums.angular_momentum, probe->sums.angular_momentum);
      const Conserved expected = conserved(sim.bodies(), sim.status().law);
      const auto expect_equal = [](double found, double value, double scale) {
        EXPECT_NEAR(found, value, 1e-12 * scale);
      };
      expect_equal(probe->sums.mass, expected.mass, expected.mass);
      expect_equal(probe->sums.kinetic, expected.kinetic, std::abs(expected.kinetic));
      expect_equal(probe->sums.potential, expected.potential, std::abs(expected.potential));
      for (const auto axis : {&Vec3d::x, &Vec3d::y, &Vec3d::z}) {  // sums of terms that cancel, each below 1
        expect_equal(probe->sums.momentum.*axis, expected.momentum.*axis, 1);
        expect_equal(probe->sums.angular_momentum.*axis, expected.angular_momentum.*axis, 1);
      }
    }
  }
}

TEST_F(LiveDiagnostics, MeasurementsAreForgottenWithWhatTheyBelongTo) {
  Simulation sim = small();
  const auto measure = [&] {
    test::apply(sim, ProbeForces{4096}, MeasureConserved{});
    sim.run(1);
    ASSERT_TRUE(sim.status().force_probe);
    EXPECT_EQ(sim.status().force_probe->sample, 257) << "all bodies where there are fewer";
  };
  for (const Command& command : {Command{SetSoftening{0.1f}}, Command{SelectLaw{"attract-repel"}},
                                 Command{SelectKernel{test::kernels_under_test().back()->id}}}) {
    measure();
    sim.apply(command);
    EXPECT_FALSE(sim.status().force_probe);
    EXPECT_TRUE(sim.status().conserved);
  }
  measure();
  sim.apply(SetTimeStep{1e-4f});
  EXPECT_TRUE(sim.status().force_probe) << "the same forces";
  sim.apply(Restart{});
  EXPECT_FALSE(sim.status().force_probe);
  EXPECT_FALSE(sim.status().conserved);
}

TEST_F(LiveDiagnostics, AProbeTakesOneTo4096Bodies) {
  Simulation sim = small();
  for (const int bad : {0, -1, 4097}) {
    EXPECT_USAGE_ERROR(sim.apply(ProbeForces{bad}), "1 to 4096");
  }
}

TEST_F(LiveDiagnostics, PeriodicMeasurementsLeaveWhatWasSaid) {
  Simulation sim = small();
  sim.report("a refusal");
  for (const Command& command : {Command{ProbeForces{10}}, Command{ReadAccelerations{}}, Command{ReadDomains{}},
                                 Command{MeasureConserved{}}, Command{KeepCheckpoint{}}}) {
    sim.apply(command);
    EXPECT_EQ(sim.status().last_error, "a refusal");
  }
  sim.apply(SetPaused{true});
  EXPECT_EQ(sim.status().last_error, "");
}

}  // namespace
}  // namespace orrery
