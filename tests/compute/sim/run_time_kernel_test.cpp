// A simulation with kernels that the catalog takes, replaces and forgets while it runs.
#include <gtest/gtest.h>

#include <memory>

#include "compute/core/error.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/kernel_info.h"
#include "tests/compute/support/uniform_kernel.h"

namespace orrery {
namespace {

class RunTimeKernel : public testing::Test {
 protected:
  void put(float strength, std::span<const Tunable> tunables = {}) {
    KernelInfo info = test::kernel_info("uniform", [strength](const Settings&, const cuda::Device*) {
      return std::make_unique<test::UniformKernel>(strength);
    });
    info.tunables = tunables;
    catalog.put(info);
  }
  static float pull(Simulation& sim) { return sim.accelerations().front().x; }

  KernelCatalog catalog;
  const Backends backends{catalog};
};

TEST_F(RunTimeKernel, IsSelectedByItsIdAndTakenUpAnewWhenItWasReplaced) {
  put(1);
  Simulation sim{backends, {.scene = "plummer", .count = 33}, catalog.find("cpu-serial")};
  sim.apply(SelectKernel{"uniform"});
  EXPECT_EQ(pull(sim), 1);
  const Vec4 before = sim.bodies().velocities.front();
  sim.apply(SetTimeStep{0.5f});
  sim.run(1);
  EXPECT_FLOAT_EQ(sim.bodies().velocities.front().x, before.x + 0.5f);

  put(2);
  EXPECT_EQ(pull(sim), 1) << "until it is selected again";
  sim.apply(SetPaused{true});
  sim.apply(SetSoftening{0.25f});
  EXPECT_EQ(pull(sim), 1) << "other commands change nothing about it";
  sim.apply(SelectKernel{"uniform"});
  EXPECT_EQ(pull(sim), 2);
  sim.apply(SelectKernel{"cpu-serial"});
  sim.apply(SelectKernel{"uniform"});
  EXPECT_EQ(pull(sim), 2);
}

TEST_F(RunTimeKernel, KeepsTheSettingsThatItsReplacementStillAllows) {
  constexpr const char* few[] = {"1", "2"};
  constexpr const char* more[] = {"1", "2", "4"};
  const Tunable wide[] = {{.name = "a", .notes = "a", .values = more, .initial = "1"},
                          {.name = "b", .notes = "b", .values = more, .initial = "1"},
                          {.name = "c", .notes = "c", .values = more, .initial = "1"}};
  const Tunable narrow[] = {{.name = "a", .notes = "a", .values = few, .initial = "1"},
                            {.name = "b", .notes = "b", .values = few, .initial = "1"}};
  put(1, wide);
  Simulation sim{backends, {.scene = "plummer", .count = 33}, catalog.find("uniform")};
  sim.apply(SelectKernel{"uniform", {{"a", "2"}, {"b", "4"}, {"c", "2"}}});
  put(2, narrow);
  EXPECT_EQ(sim.status().settings.to_string(), "a=2 b=4 c=2");
  sim.apply(SelectKernel{"uniform"});
  EXPECT_EQ(sim.status().settings.to_string(), "a=2 b=1");
}

TEST_F(RunTimeKernel, GoesOnWhenItWasRemovedAndIsUnknownFromThenOn) {
  put(1);
  Simulation sim{backends, {.scene = "plummer", .count = 33}, catalog.find("uniform")};
  catalog.remove("uniform");
  test::expect_failure(
      test::Failure::usage, [&] { sim.apply(SelectKernel{"uniform"}); }, "'uniform'", "cpu-serial", "auto");
  EXPECT_EQ(sim.status().kernel_id, "uniform");
  EXPECT_EQ(pull(sim), 1);
  EXPECT_EQ(sim.run(2).steps, 2);
}

}  // namespace
}  // namespace orrery
