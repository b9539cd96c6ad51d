// What a run keeps of the file that it started from.
#include <gtest/gtest.h>

#include "compute/core/temporary_folder.h"
#include "compute/scenes/scene.h"
#include "compute/sim/simulation.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/support/backend.h"

namespace orrery {
namespace {

class RunFromAFile : public testing::Test {
 protected:
  static constexpr int count = 600;  // of each species a third
  static constexpr double start = 12.5;

  void SetUp() override {
    ORRERY_SKIP_WITHOUT_BACKEND();
    written_.bodies = find_scene("plummer").generate(count, 3).bodies;
    for (int i = 0; i < count; ++i) {
      written_.bodies.positions[static_cast<std::size_t>(i)].w = 1e-3f * static_cast<float>(1 + i);
      written_.properties.species.push_back(i < count / 3       ? Species::gas
                                            : i < 2 * count / 3 ? Species::dark
                                                                : Species::star);
      written_.properties.softening.push_back(1e-4f * static_cast<float>(1 + i));
    }
    written_.time = start;
    write_snapshot(file(), written_);
  }
  std::filesystem::path file() const { return folder_ / "start.tipsy"; }
  SceneRequest request() const { return {.file = file().string()}; }
  Simulation simulation() const { return {test::backends(), request(), test::kernels_under_test().front()}; }

  TemporaryFolder folder_;
  Snapshot written_;
};

TEST_F(RunFromAFile, ContinuesItsTime) {
  Simulation sim = simulation();
  EXPECT_EQ(sim.status().sim_time, start);
  EXPECT_EQ(sim.status().step, 0);
  sim.apply(SetTimeStep{0.25f});
  sim.apply(MeasureConserved{});
  sim.run(4);
  EXPECT_EQ(sim.status().sim_time, start + 1);
  EXPECT_EQ(sim.status().step, 4);
  EXPECT_EQ(sim.snapshot().time, start + 1);
  ASSERT_TRUE(sim.status().conserved);
  EXPECT_EQ(sim.status().conserved->sim_time, start + 1);
}

TEST_F(RunFromAFile, GoesBackToItsTime) {
  Simulation sim = simulation();
  for (const Command& back : {Command{Restart{}}, Command{Reset{}}, Command{LoadScene{request()}}}) {
    sim.run(2);
    EXPECT_GT(sim.status().sim_time, start);
    sim.apply(back);
    EXPECT_EQ(sim.status().sim_time, start);
    EXPECT_EQ(sim.status().step, 0);
  }
  sim.run(1);
  const Snapshot before = sim.snapshot();
  const Status status = sim.status();
  sim.apply(ReturnToRun{{.scene = {.scene = "two-body", .count = 2},
                         .physics = status.scene_physics,
                         .kernel_id = status.kernel_id,
                         .settings = {}}});
  EXPECT_EQ(sim.status().sim_time, 0) << "another scene has its own time";
  EXPECT_EQ(sim.snapshot().properties, BodyProperties{});
  sim.apply(UndoReturn{});
  EXPECT_EQ(sim.snapshot().time, before.time);
  EXPECT_EQ(sim.snapshot().properties, before.properties);
}

TEST_F(RunFromAFile, EveryKernelLeavesEachBodyInItsPlace) {
  Simulation sim = simulation();
  for (const KernelPtr& kernel : test::kernels_under_test()) {
    sim.apply(SelectKernel{kernel->id});
    sim.run(3);
    const Snapshot now = sim.snapshot();
    EXPECT_EQ(now.properties, written_.properties) << kernel->id;
    for (std::size_t i = 0; i < count; ++i) {  // each mass is there once
      ASSERT_EQ(now.bodies.positions[i].w, written_.bodies.positions[i].w) << kernel->id << ", body " << i;
    }
  }
}

TEST_F(RunFromAFile, ASavedStateStartsWhereTheRunWas) {
  Simulation sim = simulation();
  sim.run(3);
  const Snapshot saved = sim.snapshot();
  write_snapshot(folder_ / "later.tipsy", saved);
  Simulation later{test::backends(), {.file = (folder_ / "later.tipsy").string()}, test::kernels_under_test().front()};
  const Snapshot found = later.snapshot();
  EXPECT_EQ(found.time, saved.time);
  EXPECT_EQ(found.bodies, saved.bodies);
  EXPECT_EQ(found.properties, written_.properties);
}

TEST_F(RunFromAFile, BodiesWithoutLengthsHaveThoseOfTheRun) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 20}, test::kernels_under_test().front()};
  sim.apply(SetSoftening{0.375f});
  write_snapshot(folder_ / "soft.tipsy", sim.snapshot());
  EXPECT_EQ(read_snapshot(folder_ / "soft.tipsy").properties.softening, std::vector<float>(20, 0.375f));
}

}  // namespace
}  // namespace orrery
