// Bodies that several devices, of one process or of ranks, hold from step to step move like those of one device, and
// keep their numbers.
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/kernels/shared_facets.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/distances.h"
#include "tests/compute/support/random_ball.h"
#include "tests/compute/support/teams.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::apart;
using test::expect_equal_masses;
using test::Several;
using test::teams;

constexpr int count = 20'011;

std::string name_of_holders(const testing::TestParamInfo<bool>& info) {
  return info.param ? "ranks" : "devices";
}

/// Calls use(backends) for each team of devices: of one process, or of ranks.
template <class Use>
void on_each_team(bool ranks, const Use& use) {
  for (const DeviceList& team : teams()) {
    SCOPED_TRACE(team.to_string());
    use(Several{{team, ranks}}.backends());
  }
}

/// The parameter: whether the devices belong to ranks.
class Residents : public test::BackendTest, public testing::WithParamInterface<bool> {
 protected:
  static KernelPtr tree() { return test::find_kernel("cuda-tree"); }
  /// Returns a simulation of `bodies` by cuda-tree.
  static Simulation simulation(const Backends& backends, const Bodies& bodies) {
    Simulation simulation{backends, {.scene = "plummer", .count = bodies.count()}, tree()};
    simulation.set_bodies(bodies);
    return simulation;
  }
};

INSTANTIATE_TEST_SUITE_P(Of, Residents, testing::Bool(), name_of_holders);

class ResidentsOfDevices : public test::BackendTest {};

TEST_P(Residents, AreHeldWhereTheyAreManyAndDevicesReachEachOther) {
  on_each_team(GetParam(), [&](const Backends& backends) {
    const auto kernel = backends.make_kernel(*tree(), Settings{*tree()});
    ResidentFacet* const devices = residents_of(*kernel);
    ASSERT_NE(devices, nullptr);
    EXPECT_TRUE(devices->can_hold(count));
    EXPECT_FALSE(devices->can_hold(1000));
  });
  EXPECT_EQ(residents_of(*test::backends().make_kernel(*tree(), Settings{*tree()})), nullptr);
}

TEST_P(Residents, MoveLikeTheBodiesOfOneDevice) {
  const Bodies ball = test::random_ball(count), lopsided = test::lopsided(count);
  for (const Bodies* const bodies : {&ball, &lopsided}) {
    for (const char* integrator : {"leapfrog", "euler", "yoshida4"}) {
      for (const char* rebuild : {"1", "4"}) {
        const auto run = [&](const Backends& backends) {
          Simulation simulation = Residents::simulation(backends, *bodies);
          test::apply(simulation, SelectIntegrator{integrator}, SetTunable{"rebuild", rebuild});
          for (int batch = 0; batch < 5; ++batch) simulation.run(3);
          return simulation.bodies();
        };
        const Bodies expected = run(test::backends());
        ASSERT_GT(apart(expected, *bodies), 1e-2);
        for (const DeviceList& team : teams()) {
          SCOPED_TRACE(team.to_string() + ", " + integrator + ", rebuild=" + rebuild);
          const Bodies found = run(Several{{team, GetParam()}}.backends());
          expect_equal_masses(found, *bodies);
          EXPECT_LT(apart(found, expected), 0.05 * apart(expected, *bodies));
        }
      }
    }
  }
}

/// In the first evaluation, most bodies of each rank leave it: in several shipments.
TEST_P(Residents, LeaveTheirDevicesInGreatNumbers) {
  const Bodies bodies = test::random_ball(900'000);
  const auto run = [&](const Backends& backends) {
    Simulation simulation = Residents::simulation(backends, bodies);
    simulation.run(2);
    return simulation.bodies();
  };
  const Bodies expected = run(test::backends());
  on_each_team(GetParam(), [&](const Backends& backends) {
    const Bodies found = run(backends);
    expect_equal_masses(found, bodies);
    EXPECT_LT(apart(found, expected), 0.05 * apart(expected, bodies));
  });
}

TEST_P(Residents, StayDividedWhileABodyFliesAway) {
  constexpr std::size_t flying = 17;
  Bodies bodies = test::random_ball(count);
  bodies.velocities[flying].x = 1e6f;  // so that borders are suddenly small parts of the cube
  const auto run = [&](const Backends& backends) {
    Simulation simulation = Residents::simulation(backends, bodies);
    for (int batch = 0; batch < 5; ++batch) simulation.run(3);
    return simulation.bodies();
  };
  Bodies expected = run(test::backends());
  ASSERT_GT(expected.positions[flying].x, 1e3f);
  expected.positions[flying] = bodies.positions[flying];  // the others matter
  on_each_team(GetParam(), [&](const Backends& backends) {
    Bodies found = run(backends);
    found.positions[flying] = bodies.positions[flying];
    expect_equal_masses(found, bodies);
    EXPECT_LT(apart(found, expected), 0.05 * apart(expected, bodies));
  });
}

TEST_P(Residents, AreReadAtAnyTime) {
  const Bodies bodies = test::random_ball(count);
  on_each_team(GetParam(), [&](const Backends& backends) {
    Simulation read = simulation(backends, bodies), left = simulation(backends, bodies);
    for (int batch = 0; batch < 6; ++batch) {
      read.run(1), left.run(1);
      const Bodies now = read.bodies();
      expect_equal_masses(now, bodies);
      EXPECT_EQ(read.bodies(), now) << "reading them changes nothing";
      if (batch == 2) read.apply(ReadAccelerations{});  // which the first device evaluates for
      if (batch == 4) read.apply(MeasureConserved{});
    }
    EXPECT_LT(apart(read.bodies(), left.bodies()), 1e-2 * apart(left.bodies(), bodies));
    read.apply(SelectKernel{"cuda-tiled"});
    EXPECT_EQ(read.bodies().count(), count);
    expect_equal_masses(read.bodies(), bodies);
    read.run(1);
    read.apply(Restart{});
    read.run(1);
  });
}

TEST_P(Residents, KeepTheirEnergy) {
  on_each_team(GetParam(), [&](const Backends& backends) {
    Simulation simulation{backends, {.scene = "plummer", .count = count}, tree()};
    const auto energy = [&] {
      simulation.apply(MeasureConserved{});
      simulation.run(1);
      const Conserved& sums = simulation.status().conserved->sums;
      return sums.kinetic + sums.potential;
    };
    const double before = energy();
    simulation.run(100);
    EXPECT_NEAR(energy(), before, 2e-3 * std::abs(before));
  });
}

TEST_P(Residents, StopAtTheStepOfOneDevice) {
  Bodies bodies = test::random_ball(count);
  bodies.velocities[count / 3].x = 1e38f;  // infinitely far away after some steps, and then so is the tree's cube
  const auto end_of = [&](const Backends& backends) {
    Simulation simulation = Residents::simulation(backends, bodies);
    simulation.apply(SetTimeStep{1.0f});
    EXPECT_THROW(simulation.run(20), std::runtime_error);
    return *simulation.status().non_finite;
  };
  const NonFinite expected = end_of(test::backends());
  on_each_team(GetParam(), [&](const Backends& backends) {
    const NonFinite found = end_of(backends);
    EXPECT_EQ(found.body, expected.body);
    EXPECT_EQ(found.step, expected.step);
  });
}

TEST_P(Residents, MakeRoomForOthers) {
  on_each_team(GetParam(), [&](const Backends& backends) {
    Simulation simulation{backends, {.scene = "plummer", .count = count}, tree()};
    simulation.run(2);
    simulation.apply(LoadScene{{.scene = "plummer", .count = count + 5000}});
    simulation.run(2);
    simulation.apply(LoadScene{{.scene = "plummer", .count = 500}});  // the first device evaluates for them alone
    simulation.run(2);
    simulation.apply(LoadScene{{.scene = "plummer", .count = count}});
    simulation.run(2);
    Simulation same{backends, {.scene = "plummer", .count = count}, tree()};
    const Bodies first = same.bodies();
    same.run(2);
    EXPECT_LT(apart(simulation.bodies(), same.bodies()), 0.05 * apart(same.bodies(), first));
  });
}

TEST_P(Residents, TellTheErrorsOfTheirForces) {
  const auto error = [](const Backends& backends) {
    Simulation simulation{backends, {.scene = "plummer", .count = count}, tree()};
    simulation.run(2);
    simulation.apply(ProbeForces{1000});
    simulation.run(2);
    simulation.run(1);
    EXPECT_EQ(simulation.status().force_probe->step, 3);
    return simulation.status().force_probe->error;
  };
  const ForceError one = error(test::backends());
  on_each_team(GetParam(), [&](const Backends& backends) {
    const ForceError found = error(backends);
    EXPECT_LT(found.median, 1.3 * one.median);
    EXPECT_GT(found.median, 0.5 * one.median);
    EXPECT_LT(found.max, 5 * one.max);
  });
}

/// Two domains of at most three quarters of the bodies each, on one device.
TEST_F(ResidentsOfDevices, TakeNoMemoryToBeHandedOut) {
  constexpr int many = 1 << 23;
  const Backends backends{test::catalog(), teams().front()};
  const std::size_t before = backends.device()->free_memory();
  Simulation simulation{backends, {.scene = "plummer", .count = many}, test::find_kernel("cuda-tree")};
  simulation.run(1);
  simulation.run(1);
  const double each = static_cast<double>(before - backends.device()->free_memory()) / many;
  EXPECT_GT(each, 2 * 100);
  EXPECT_LT(each, 2 * 100 + 35) << "a third of what handing them out takes, or what the engine has of them";
  EXPECT_EQ(simulation.bodies().count(), many) << "they come back";
  EXPECT_EQ(simulation.accelerations().size(), static_cast<std::size_t>(many));
}

TEST_P(Residents, ShowTheirCells) {
  on_each_team(GetParam(), [&](const Backends& backends) {
    Simulation simulation{backends, {.scene = "plummer", .count = count}, tree()};
    simulation.run(2);
    simulation.apply(ReadTreeCells{});
    simulation.run(1);
    ASSERT_TRUE(simulation.status().tree_cells);
    EXPECT_EQ(simulation.status().tree_cells->step, 3);
    simulation.run(2);
    test::apply(simulation, SetPaused{true}, ReadTreeCells{});
    for (int frame = 0; frame < 3; ++frame) {
      simulation.advance_frame(frame);
      simulation.wait();
      simulation.collect();
    }
    EXPECT_EQ(simulation.status().tree_cells->step, 5);
    EXPECT_GT(simulation.status().tree_cells->cells.size(), 1000u);
  });
}

TEST_P(Residents, ShowTheirDevices) {
  on_each_team(GetParam(), [&](const Backends& backends) {
    Simulation simulation = Residents::simulation(backends, test::random_ball(count));
    for (int batch = 0; batch < 3; ++batch) {
      simulation.apply(ReadDomains{});
      simulation.run(2);
    }
    ASSERT_TRUE(simulation.status().domains);
    const BodyOwners& owners = simulation.status().domains->owners;
    ASSERT_EQ(owners.of_body.size(), static_cast<std::size_t>(count));
    std::vector<int> bodies(owners.names.size());
    for (const int owner : owners.of_body) ++bodies.at(static_cast<std::size_t>(owner));
    for (const int held : bodies) EXPECT_GT(held, count / static_cast<int>(2 * bodies.size()));
  });
}

// Where the bodies of the engine are while several devices hold theirs.

TEST(ResidentsMemory, IsNotNeededForTheEnginesOwnOnTheFirstDevice) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const KernelPtr tree = test::find_kernel("cuda-tree");
  constexpr int many = 8'000'000;
  constexpr std::size_t mib = std::size_t{1} << 20;
  const SceneRequest scene{.scene = "plummer", .count = many};
  const Backends backends{test::catalog(), DeviceList{.ordinals = {0, 0}}};
  const cuda::Device& gpu = *backends.device();
  const auto needed = [&] {
    const auto kernel = backends.make_kernel(*tree, Settings{*tree});
    const std::size_t before = gpu.free_memory();
    kernel->prepare(many);
    return before - gpu.free_memory();
  }();
  Simulation roomy{backends, scene, tree};
  roomy.run(3);
  const Bodies expected = roomy.bodies();
  roomy.apply(LoadScene{{.scene = "plummer", .count = 2}});
  // The bodies take 244 MiB, and 256 are to stay free. Others may use the GPU as well.
  auto taken = cuda::DeviceArray<char>{gpu, gpu.free_memory() - needed - 350 * mib};
  Simulation tight{backends, scene, tree};
  tight.run(3);
  test::expect_equal_masses(tight.bodies(), expected);
  EXPECT_LT(test::apart(tight.bodies(), expected), 1e-4);
  tight.run(1);  // once more after they were read
  EXPECT_USAGE_ERROR(tight.accelerations(std::vector{17}),
                     "8000000 bodies need more memory than the GPU has free, unless several GPUs hold them");
  tight.run(1);  // the devices hold them once more
  taken = {};
  EXPECT_EQ(tight.accelerations(std::vector{17}).size(), expected.positions.size());
  tight.run(1);
  EXPECT_EQ(tight.status().step, 6);
}

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
  /// Bodies that no device holds are not finite.
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

class HeldBodies : public test::BackendTest, public testing::WithParamInterface<bool> {};

INSTANTIATE_TEST_SUITE_P(Of, HeldBodies, testing::Bool(), name_of_holders);

TEST_P(HeldBodies, AreAllBodiesEachOnce) {
  on_each_team(GetParam(), [&](const Backends& backends) {
    HeldBall ball{backends, Settings{*test::find_kernel("cuda-tree")}};
    for (int evaluation = 0; evaluation < 4; ++evaluation) {
      ball.evaluate();
      const auto [positions, velocities, accelerations] = ball.collect();
      ASSERT_EQ(positions, ball.bodies.positions);
      ASSERT_EQ(velocities, ball.bodies.velocities);
      ASSERT_TRUE(std::ranges::all_of(accelerations, [](const Vec4& a) { return std::isfinite(a.x); }));
    }
  });
}

/// The borders of domains end in cells that have many bodies, which go to either side.
TEST_P(HeldBodies, MayLieAnywhere) {
  for (const Bodies& bodies :
       {test::coincident(in_ball), test::collinear(in_ball), test::lopsided(in_ball), test::massless(in_ball)}) {
    for (const DeviceList& team : teams()) {
      SCOPED_TRACE(team.to_string());
      const Several several{{team, GetParam()}};
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
      const Several several{{team, GetParam()}};
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
  on_each_team(GetParam(), [&](const Backends& backends) {
    HeldBall ball{backends, Settings{*test::find_kernel("cuda-tree")}, bodies};
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
  });
}

}  // namespace
}  // namespace orrery
