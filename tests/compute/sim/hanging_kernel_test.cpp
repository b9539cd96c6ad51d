// What is left of a simulation whose kernel does not end. A CPU kernel that nothing can cancel stands for one on a GPU.
#include "tests/compute/support/hanging_kernel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "compute/sim/simulation.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/kernel_info.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;

class HangingKernelTest : public testing::Test {
 protected:
  HangingKernelTest() {
    // It outlives the test: an engine that was left to itself uses it.
    KernelInfo info = test::kernel_info("mine", [](const Settings&, const cuda::Device*) {
      return std::make_unique<test::HangingKernel>(10, &let_go);
    });
    info.compiles = true;
    first = catalog.put(test::kernel_info(
        "mine", [](const Settings&, const cuda::Device*) { return std::make_unique<test::UniformKernel>(1.0f); }));
    second = catalog.put(info);
    let_go = false;
  }
  ~HangingKernelTest() override { let_go = true; }

  /// A run that will hang in its tenth evaluation.
  std::unique_ptr<Simulation> watched_run(KernelPtr kernel, std::chrono::milliseconds limit) const {
    auto sim = std::make_unique<Simulation>(backends, SceneRequest{.scene = "plummer", .count = 50}, kernel);
    sim->watch_steps(limit);
    return sim;
  }
  /// Frames of a window, until steps are in flight that do not end.
  static void run_until_it_hangs(Simulation& sim) {
    const std::int64_t end = sim.status().step + 8;
    for (int frame = 0; sim.status().step < end; ++frame) {
      sim.advance_frame(frame);
      (void)sim.collect();
    }
    sim.advance_frame(0);
    ASSERT_FALSE(sim.idle());
  }

  static inline std::atomic<bool> let_go{false};
  KernelCatalog catalog;
  KernelPtr first, second;
  const Backends backends{catalog};
};

TEST_F(HangingKernelTest, IsLeftWithTheLastCopyOfTheBodies) {
  const auto sim = watched_run(first, 500ms);
  sim->run(2);
  sim->apply(SelectKernel{"mine"});
  const Bodies kept = sim->snapshot().bodies;
  run_until_it_hangs(*sim);
  while (!sim->loss()) {
    (void)sim->collect();
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(sim->loss()->hangs);
  EXPECT_EQ(sim->loss()->cause, "no step of 50 bodies has ended within 1 s");
  EXPECT_TRUE(sim->loss()->ran);
  EXPECT_EQ(sim->loss()->kernel, second);
  EXPECT_EQ(sim->loss()->good, first) << "the version before";
  EXPECT_EQ(sim->status().step, 2);
  EXPECT_EQ(sim->bodies(), kept);
  EXPECT_TRUE(sim->status().paused);
  EXPECT_NE(sim->status().last_error.find("mine hangs: no step of 50 bodies has ended"), std::string::npos);
  sim->run(1);  // with another kernel
  EXPECT_EQ(sim->status().step, 3);
}

TEST_F(HangingKernelTest, IsNoticedByWhateverWaits) {
  const auto sim = watched_run(second, 500ms);
  run_until_it_hangs(*sim);
  test::expect_failure(
      test::Failure::runtime, [&] { sim->apply(SetTimeStep{0.5f}); }, "mine hangs");
  EXPECT_TRUE(sim->loss() && sim->loss()->hangs);
  EXPECT_EQ(sim->loss()->good, nullptr);
}

TEST_F(HangingKernelTest, IsNoticedByThoseWhoLookWhileTheOwnerWaits) {
  const auto sim = watched_run(second, 500ms);
  EXPECT_FALSE(sim->look_for_hang());
  const auto begin = std::chrono::steady_clock::now();
  run_until_it_hangs(*sim);
  while (!sim->look_for_hang()) std::this_thread::sleep_for(1ms);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 490ms);
}

TEST_F(HangingKernelTest, IsNoneThatIsOnlySlow) {
  const auto sim = watched_run(second, 10s);
  run_until_it_hangs(*sim);
  EXPECT_FALSE(sim->look_for_hang());
  let_go = true;
  const std::int64_t step = sim->status().step;
  EXPECT_EQ(sim->snapshot().bodies.count(), 50);
  EXPECT_GT(sim->status().step, step);
  EXPECT_FALSE(sim->loss());
}

TEST_F(HangingKernelTest, TakesTheDeviceFromAnotherRun) {
  const auto other = watched_run(second, 500ms), sim = watched_run(first, 500ms);
  sim->run(3);
  const Bodies kept = sim->snapshot().bodies;
  sim->run(2);
  run_until_it_hangs(*other);
  while (!other->look_for_hang()) std::this_thread::sleep_for(1ms);
  sim->share_loss(*other->loss());
  EXPECT_TRUE(sim->loss()->hangs);
  EXPECT_EQ(sim->loss()->kernel, second);
  EXPECT_EQ(sim->loss()->good, first) << "which is not at fault";
  EXPECT_EQ(sim->status().step, 3);
  EXPECT_EQ(sim->bodies(), kept);
}

// A step that was 20 times as long as the ones before has not ended yet, and this one is not even that.
TEST_F(HangingKernelTest, HasTheTimeThatItsStepsTookBefore) {
  struct Slow final : ForceKernel {
    void do_evaluate(const ForceArgs& args) override {
      std::this_thread::sleep_for(++evaluations == 10 ? 1500ms : 150ms);
      test::UniformKernel{1}.do_evaluate(args);
    }
    int evaluations = 0;
  };
  KernelInfo info = test::kernel_info("slow", create_kernel<Slow>);
  info.compiles = true;
  const auto sim = watched_run(catalog.put(info), 500ms);
  run_until_it_hangs(*sim);
  sim->wait();
  EXPECT_FALSE(sim->loss());
  EXPECT_GE(sim->status().step, 9);
}

TEST_F(HangingKernelTest, OfTheProgramIsTrusted) {
  const auto sim = watched_run(first, 1ms);
  for (int frame = 0; frame < 50; ++frame) {
    sim->advance_frame(frame);
    std::this_thread::sleep_for(1ms);
    (void)sim->collect();
  }
  EXPECT_FALSE(sim->loss());
}

}  // namespace
}  // namespace orrery
