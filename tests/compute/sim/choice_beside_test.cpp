// A kernel that is chosen while the program goes on drawing.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "compute/sim/simulation.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/lost_device.h"

namespace orrery {
namespace {

/// Measures until the test says what it found.
class WaitingChooser final : public KernelChooser {
 public:
  KernelChoice choose(const KernelDemand& demand, const ForceSystem&, const std::stop_token& stop) override {
    std::unique_lock lock{mutex_};
    asked_.push_back(demand);
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds{10}, [&] { return !stubborn_; });
    stubborn_ = false;
    changed_.wait(lock, stop, [&] { return !answer_.empty(); });
    if (stop.stop_requested()) throw Cancelled{};
    if (answer_ == "fail") throw std::runtime_error("nothing can be measured");
    if (answer_ == "lose") throw test::LostDevice{"an illegal memory access", loses_};
    const KernelPtr kernel = test::find_kernel(answer_);
    answer_.clear();
    return {kernel, Settings{*kernel}, "told"};
  }
  void answer(const std::string& kernel) {
    const std::lock_guard lock{mutex_};
    answer_ = kernel;
    changed_.notify_all();
  }
  /// Whose device is lost by the answer "lose".
  void loses(Backend backend) { loses_ = backend; }
  /// Whether it ignores its stop, for 10 s at most, as one that is in the middle of a long evaluation.
  void be_stubborn(bool stubborn) {
    const std::lock_guard lock{mutex_};
    stubborn_ = stubborn;
    changed_.notify_all();
  }
  bool stubborn() const {
    const std::lock_guard lock{mutex_};
    return stubborn_;
  }
  std::vector<KernelDemand> wait_for_demands(std::size_t count) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, std::chrono::seconds{30}, [&] { return asked_.size() >= count; });
    return asked_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<KernelDemand> asked_;
  std::string answer_;
  bool stubborn_ = false;
  Backend loses_ = Backend::cpu;
};

class ChoiceBeside : public testing::Test {
 protected:
  void wait_for_choice() {
    for (int look = 0; sim.status().choosing && look < 30'000; ++look) {
      sim.collect();
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    ASSERT_FALSE(sim.status().choosing);
  }
  void wait_until_nothing_measures() {
    for (int look = 0; sim.measuring() && look < 30'000; ++look) {
      sim.collect();
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    ASSERT_FALSE(sim.measuring());
  }

  WaitingChooser chooser;
  Simulation sim{
      test::backends(), {.scene = "plummer", .count = 100}, test::find_kernel("cpu-openmp"), nullptr, &chooser,
      Choosing::beside};
};

TEST_F(ChoiceBeside, IsTakenOverWhenItHasBeenMade) {
  sim.apply(SelectKernel{auto_kernel});
  EXPECT_TRUE(sim.status().choosing);
  EXPECT_TRUE(sim.status().auto_choice);
  EXPECT_EQ(sim.status().kernel_id, "cpu-openmp") << "the last one, until then";
  EXPECT_EQ(sim.advance_frame(0), 0) << "steps would be measured as well";
  const std::vector<KernelDemand> asked = chooser.wait_for_demands(1);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(asked[0].beside_drawing);
  EXPECT_EQ(asked[0].count, 100);
  chooser.answer("cpu-serial");
  wait_for_choice();
  EXPECT_EQ(sim.status().kernel_id, "cpu-serial");
  EXPECT_EQ(sim.status().auto_choice->name, "auto: cpu-serial");
  EXPECT_EQ(sim.advance_frame(1), 1);
}

TEST_F(ChoiceBeside, ThatLosesTheDeviceInUseLeavesTheLatestCopy) {
  sim.run(2);
  const Bodies copy = sim.snapshot().bodies;
  sim.run(1);
  chooser.loses(Backend::cpu);
  sim.apply(SelectKernel{auto_kernel});
  chooser.answer("lose");
  wait_for_choice();
  EXPECT_EQ(sim.status().last_error.find("the device failed: an illegal memory access; left are the bodies of step 2"),
            0u)
      << sim.status().last_error;
  EXPECT_TRUE(sim.status().paused);
  EXPECT_EQ(sim.status().kernel_id, "cpu-simd");
  EXPECT_FALSE(sim.status().auto_choice);
  EXPECT_EQ(sim.bodies(), copy);
}

TEST_F(ChoiceBeside, ThatLosesAnotherDeviceLeavesTheBodiesAlone) {
  sim.run(3);
  const Bodies before = sim.bodies();
  chooser.loses(Backend::cuda);
  sim.apply(SelectKernel{auto_kernel});
  chooser.answer("lose");
  wait_for_choice();
  EXPECT_EQ(
      sim.status().last_error,
      "the device failed: an illegal memory access; cpu-openmp goes on; start the program again to use the device");
  EXPECT_EQ(sim.status().kernel_id, "cpu-openmp");
  EXPECT_EQ(sim.bodies(), before);
  EXPECT_EQ(sim.advance_frame(0), 1);
}

TEST_F(ChoiceBeside, EndsWithAKernelThatIsNamed) {
  sim.apply(SelectKernel{auto_kernel});
  sim.apply(SelectKernel{"cpu-serial"});
  EXPECT_FALSE(sim.status().choosing);
  EXPECT_FALSE(sim.status().auto_choice);
  EXPECT_EQ(sim.status().kernel_id, "cpu-serial");
  wait_until_nothing_measures();
  EXPECT_EQ(sim.advance_frame(0), 1);
}

TEST_F(ChoiceBeside, NoCommandWaitsForAChoiceThatItCancels) {
  const std::vector<Command> commands{SelectKernel{"cpu-serial"}, SetTunable{"threads", "1"}, SelectKernel{auto_kernel},
                                      LoadScene{{.scene = "plummer", .count = 300}},
                                      ReturnToRun{{.scene = {.scene = "plummer", .count = 100},
                                                   .physics = sim.status().scene_physics,
                                                   .kernel_id = "cpu-serial",
                                                   .settings = {}}}};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    chooser.be_stubborn(true);
    sim.apply(SelectKernel{auto_kernel});
    chooser.wait_for_demands(i + 1);
    sim.apply(commands[i]);
    ASSERT_TRUE(chooser.stubborn()) << "command " << i << " waited";
    EXPECT_EQ(sim.advance_frame(0), 0) << "steps would be measured as well";
    sim.apply(SelectKernel{"cpu-openmp"});
    EXPECT_FALSE(sim.status().choosing);
    chooser.be_stubborn(false);
    wait_until_nothing_measures();
    EXPECT_EQ(chooser.wait_for_demands(i + 1).size(), i + 1) << "a choice that was cancelled before its start";
    EXPECT_EQ(sim.run(1).steps, 1);
  }
}

TEST_F(ChoiceBeside, StartsWhenTheCancelledOneHasEnded) {
  chooser.be_stubborn(true);
  sim.apply(SelectKernel{auto_kernel});
  chooser.wait_for_demands(1);
  sim.apply(LoadScene{{.scene = "plummer", .count = 300}});
  for (int look = 0; look < 20; ++look) {
    sim.collect();
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  EXPECT_EQ(chooser.wait_for_demands(1).size(), 1u) << "one measures at a time";
  EXPECT_TRUE(sim.status().choosing);
  chooser.be_stubborn(false);
  chooser.answer("cpu-serial");
  wait_for_choice();
  EXPECT_EQ(chooser.wait_for_demands(2).back().count, 300);
  EXPECT_EQ(sim.status().kernel_id, "cpu-serial");
}

TEST_F(ChoiceBeside, StartsAgainForOtherBodies) {
  sim.apply(SelectKernel{auto_kernel});
  sim.apply(SetSoftening{0.1f});
  chooser.wait_for_demands(1);
  sim.apply(LoadScene{{.scene = "plummer", .count = 300}});
  chooser.answer("cpu-serial");
  wait_for_choice();
  const std::vector<KernelDemand> asked = chooser.wait_for_demands(2);
  ASSERT_EQ(asked.size(), 2u) << "softening is no other demand";
  EXPECT_EQ(asked[1].count, 300);
  EXPECT_EQ(sim.status().kernel_id, "cpu-serial");
  EXPECT_EQ(sim.status().count, 300);
}

TEST_F(ChoiceBeside, TheDefaultStandsInForAnotherNumberOfBodies) {
  sim.apply(SelectKernel{auto_kernel});
  chooser.answer("cpu-serial");
  wait_for_choice();
  sim.apply(LoadScene{{.scene = "plummer", .count = 300}});
  EXPECT_TRUE(sim.status().choosing);
  EXPECT_EQ(sim.status().kernel_id, test::backends().default_kernel()->id) << "the last one might not take so many";
}

TEST_F(ChoiceBeside, StaysUnderWayWhereACommandIsRefused) {
  sim.apply(SelectKernel{auto_kernel});
  EXPECT_THROW(sim.apply(LoadScene{{.file = "/no/such/file"}}), std::runtime_error);
  EXPECT_THROW(sim.apply(SetAccuracy{2}), std::runtime_error);
  EXPECT_TRUE(sim.status().choosing);
  chooser.answer("cpu-serial");
  wait_for_choice();
  EXPECT_EQ(sim.status().kernel_id, "cpu-serial");
}

TEST_F(ChoiceBeside, AStepThatWasAskedForRunsWithTheChosenKernel) {
  sim.apply(SelectKernel{auto_kernel});
  sim.apply(StepOnce{});
  EXPECT_EQ(sim.advance_frame(0), 0);
  chooser.answer("cpu-serial");
  wait_for_choice();
  EXPECT_EQ(sim.advance_frame(1), 1);
  EXPECT_EQ(sim.advance_frame(2), 0) << "paused";
}

TEST_F(ChoiceBeside, IsMadeAgainWhereAReturnIsUndone) {
  sim.apply(SelectKernel{auto_kernel});
  const Status before = sim.status();
  sim.apply(
      ReturnToRun{{.scene = before.scene, .physics = before.scene_physics, .kernel_id = "cpu-serial", .settings = {}}});
  EXPECT_FALSE(sim.status().choosing);
  EXPECT_EQ(sim.status().kernel_id, "cpu-serial");
  sim.apply(UndoReturn{});
  EXPECT_TRUE(sim.status().choosing);
  chooser.answer("cpu-simd");
  wait_for_choice();
  EXPECT_EQ(sim.status().auto_choice->name, "auto: cpu-simd");
}

TEST_F(ChoiceBeside, LeavesTheKernelAndSaysWhyWhereItFails) {
  sim.apply(SelectKernel{auto_kernel});
  chooser.answer("fail");
  wait_for_choice();
  const Status status = sim.status();
  EXPECT_EQ(status.kernel_id, "cpu-openmp");
  EXPECT_EQ(status.last_error, "nothing can be measured");
  EXPECT_EQ(status.auto_choice->name, "auto: cpu-openmp");
  EXPECT_EQ(sim.advance_frame(0), 1);
}

TEST_F(ChoiceBeside, IsNotWaitedForAtTheEnd) {
  sim.apply(SelectKernel{auto_kernel});
  chooser.wait_for_demands(1);
}  // which returns although nobody answers

}  // namespace
}  // namespace orrery
