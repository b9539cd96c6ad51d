// A step that outlasts many frames.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "compute/sim/simulation.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

TEST(CpuEngine, ACommandAbandonsALongStepAndKeepsTheLastWholeOne) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 65'536}};
  sim.apply(SelectKernel{"cpu-serial"});
  const Bodies start = sim.bodies();
  ASSERT_EQ(sim.advance_frame(1), 1);  // many seconds of work
  EXPECT_EQ(sim.status().step, 0) << "it has not run yet";
  EXPECT_TRUE(sim.status().busy);
  EXPECT_EQ(sim.advance_frame(2), 0) << "busy";
  sim.apply(SetTimeStep{0.002f});
  EXPECT_EQ(sim.status().step, 0);
  EXPECT_EQ(sim.status().sim_time, 0);
  EXPECT_FALSE(sim.status().busy);
  EXPECT_EQ(sim.bodies(), start);
}

TEST(CpuEngine, KeepingAGoodStateLeavesAStepUnderWayAlone) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 65'536}};
  sim.apply(SelectKernel{"cpu-serial"});
  ASSERT_EQ(sim.advance_frame(1), 1);  // many seconds of work
  sim.apply(ProbeForces{64});
  sim.apply(MeasureConserved{});
  sim.apply(KeepCheckpoint{});
  EXPECT_TRUE(sim.status().busy);
  EXPECT_FALSE(sim.status().checkpoint_step) << "when the step has ended";
  sim.apply(SetTimeStep{0.002f});  // abandons it
  EXPECT_EQ(sim.status().checkpoint_step, 0);
  EXPECT_FALSE(sim.status().force_probe);
  EXPECT_FALSE(sim.status().conserved);
}

/// In a process of its own, that may start no thread; root may start any, and so becomes nobody.
void start_without_threads() {
  const rlimit one{1, 1};
  constexpr uid_t nobody = 65534;
  if (setrlimit(RLIMIT_NPROC, &one) != 0 || (geteuid() == 0 && setresuid(nobody, nobody, nobody) != 0)) _exit(2);
  try {
    const Simulation sim{test::backends(), {.scene = "plummer", .count = 8}, test::find_kernel("cpu-serial")};
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    _exit(1);
  }
  _exit(0);
}

TEST(CpuEngine, SaysWhyNoThreadCanBeStarted) {
  EXPECT_EXIT(start_without_threads(), testing::ExitedWithCode(1), "no thread can be started.*ulimit -u");
}

}  // namespace
}  // namespace orrery
