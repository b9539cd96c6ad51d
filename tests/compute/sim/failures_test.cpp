// A simulation after its kernel or its device has failed. A CPU kernel that fails on demand stands for both, so
// that no GPU is needed.
#include "compute/sim/simulation.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/kernel_doubles.h"
#include "tests/compute/support/short_memory.h"
#include "tests/test.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;

/// When the kernel fails, and how.
struct Faults {
  bool create = false;
  int most_bodies = 1 << 30;
  std::atomic<bool> evaluate = false;
  std::atomic<bool> lose_device = false;
  std::atomic<bool> lose_bodies = false;
};

class FaultyKernel final : public ForceKernel {
 public:
  explicit FaultyKernel(Faults& faults) : faults_{faults} {
    if (faults_.create) throw std::runtime_error("out of memory (create)");
  }
  void prepare(int count) override {
    if (count > faults_.most_bodies) throw std::runtime_error("out of memory (prepare)");
  }
  void do_evaluate(const ForceArgs& args) override {
    if (faults_.lose_device) throw test::LostDevice{"an illegal memory access"};
    if (faults_.lose_bodies) throw test::LostBodies{"the bodies are gone"};
    if (faults_.evaluate) throw std::runtime_error("invalid launch");
    uniform_.do_evaluate(args);
  }

 private:
  Faults& faults_;
  test::UniformKernel uniform_{1};
};

class Failures : public testing::Test {
 protected:
  Failures() {
    catalog.put(test::kernel_info(
        "faulty", [this](const Settings&, const cuda::Device*) { return std::make_unique<FaultyKernel>(faults); }));
  }
  SceneRequest scene(int count) const { return {.scene = "plummer", .count = count}; }
  static void run_frames(Simulation& sim, std::int64_t step) {
    test::run_frames_until(sim, [&] { return sim.status().step >= step; });
  }
  static void run_until_paused(Simulation& sim) {
    test::run_frames_until(sim, [&] { return sim.status().paused; });
  }
  void expect_undisturbed(Simulation& sim, int count) {
    Simulation same{backends, scene(count), catalog.find("cpu-serial")};
    const std::int64_t steps = sim.status().step;
    if (steps > 0) same.run(static_cast<int>(steps));
    EXPECT_EQ(sim.bodies(), same.bodies());
  }

  Faults faults;
  KernelCatalog catalog;
  const Backends backends{catalog};
};

TEST_F(Failures, OfAKernelThatCannotBeMadeLeaveTheOldOne) {
  Simulation sim{backends, scene(33), catalog.find("cpu-serial")};
  sim.run(3);
  faults.create = true;
  EXPECT_RUNTIME_ERROR(sim.apply(SelectKernel{"faulty"}), "out of memory (create)");
  EXPECT_EQ(sim.status().kernel_id, "cpu-serial");
  sim.run(2);
  EXPECT_EQ(sim.status().step, 5);
  expect_undisturbed(sim, 33);
}

TEST_F(Failures, OfAKernelWithoutMemoryForMoreBodiesLeaveTheOldNumber) {
  Simulation sim{backends, scene(33), catalog.find("faulty")};
  sim.run(3);
  const Bodies before = sim.bodies();
  faults.most_bodies = 100;
  EXPECT_RUNTIME_ERROR(sim.apply(LoadScene{scene(101)}), "out of memory (prepare)");
  EXPECT_EQ(sim.status().count, 33);
  EXPECT_EQ(sim.status().step, 3);
  EXPECT_EQ(sim.bodies(), before);
  sim.run(1);
  EXPECT_EQ(sim.status().step, 4);
}

TEST_F(Failures, OfTheFirstLaunchBringTheOldKernelBack) {
  Simulation sim{backends, scene(33), catalog.find("cpu-serial")};
  run_frames(sim, 3);
  faults.evaluate = true;
  sim.apply(SelectKernel{"faulty"});
  run_frames(sim, sim.status().step + 3);
  EXPECT_EQ(sim.status().kernel_id, "cpu-serial");
  EXPECT_FALSE(sim.status().paused);
  EXPECT_EQ(sim.status().last_error, "faulty cannot run: invalid launch; cpu-serial goes on");
  EXPECT_GE(sim.status().step, 6);
  expect_undisturbed(sim, 33);
}

TEST_F(Failures, OfALaterLaunchPauseAfterTheLastWholeStep) {
  Simulation sim{backends, scene(33), catalog.find("faulty")};
  run_frames(sim, 3);
  faults.evaluate = true;
  run_until_paused(sim);
  EXPECT_TRUE(sim.status().paused);
  EXPECT_EQ(sim.status().kernel_id, "faulty");
  EXPECT_EQ(sim.status().last_error, "invalid launch");
  const std::int64_t step = sim.status().step;
  EXPECT_GE(step, 3);
  faults.evaluate = false;
  sim.apply(SetPaused{false});
  run_frames(sim, step + 2);
  EXPECT_GE(sim.status().step, step + 2);
  EXPECT_EQ(sim.status().last_error, "");
}

// The same kernel must not take its own place again and again.
TEST_F(Failures, AfterAnotherLawDoNotCountAsThoseOfANewKernel) {
  Simulation sim{backends, scene(33), catalog.find("faulty")};
  run_frames(sim, 3);
  sim.apply(SelectLaw{"attract-repel"});
  faults.evaluate = true;
  run_until_paused(sim);
  EXPECT_TRUE(sim.status().paused);
  EXPECT_EQ(sim.status().last_error, "invalid launch");
}

TEST_F(Failures, OfADeviceLeaveTheLatestCopyOrTheFirstStateToTheProcessor) {
  for (const bool copied : {true, false}) {
    SCOPED_TRACE(copied);
    faults.lose_device = false;
    Simulation sim{backends, scene(33), catalog.find("faulty")};
    const Bodies first = sim.bodies();
    run_frames(sim, 3);
    const std::int64_t step = copied ? sim.status().step : 0;
    const Bodies left = copied ? sim.snapshot().bodies : first;
    run_frames(sim, sim.status().step + 5);
    faults.lose_device = true;
    run_until_paused(sim);
    const Status& status = sim.status();
    EXPECT_TRUE(status.paused);
    EXPECT_EQ(status.kernel_id, "cpu-simd");
    EXPECT_EQ(status.step, step);
    EXPECT_EQ(sim.bodies(), left);
    const std::string start =
        "the device failed: an illegal memory access; left are the bodies of step " + std::to_string(step);
    EXPECT_EQ(status.last_error.find(start), 0u) << status.last_error;
    EXPECT_EQ(status.last_error.find('\n'), std::string::npos);
    sim.apply(SetPaused{false});
    run_frames(sim, step + 2);
    EXPECT_GE(sim.status().step, step + 2) << "it goes on";
  }
}

TEST_F(Failures, ThatCostOnlyTheBodiesDoNotBlameTheDevice) {
  Simulation sim{backends, scene(33), catalog.find("faulty")};
  run_frames(sim, 3);
  faults.lose_bodies = true;
  run_until_paused(sim);
  EXPECT_EQ(sim.status().last_error,
            "the bodies are gone; left are the bodies of step 0, with which cpu-simd can go on");
  EXPECT_EQ(sim.status().kernel_id, "cpu-simd");
  faults.lose_bodies = false;
  test::apply(sim, SelectKernel{"faulty"}, SetPaused{false});
  run_frames(sim, 3);
  EXPECT_GE(sim.status().step, 3) << "it can be used again";
}

TEST_F(Failures, OfADeviceDuringACommandAreOneMessage) {
  Simulation sim{backends, scene(33), catalog.find("faulty")};
  sim.set_bodies(sim.bodies(), 4.5);
  faults.lose_device = true;
  sim.start(1, 0);
  EXPECT_RUNTIME_ERROR(sim.apply(SetTimeStep{0.5f}), "the device failed", "bodies of step 0");
  EXPECT_EQ(sim.status().kernel_id, "cpu-simd");
  EXPECT_EQ(sim.status().sim_time, 4.5) << "of the bodies that were set";
}

TEST_F(Failures, OfADeviceNameTheKernelWithWhichToGoOn) {
  const auto put_edited = [this](const char* id) {
    KernelInfo edited = *catalog.find("faulty");
    edited.id = id;
    edited.compiles = true;
    catalog.put(edited);
  };
  put_edited("edited");
  const auto loss_after = [&](std::initializer_list<const char*> kernels) {
    faults.lose_device = false;
    Simulation sim{backends, scene(33), catalog.find(*kernels.begin())};
    for (const char* const kernel : kernels) {
      sim.apply(SelectKernel{kernel});
      run_frames(sim, sim.status().step + 2);
    }
    EXPECT_FALSE(sim.loss());
    faults.lose_device = true;
    run_until_paused(sim);
    return sim.loss();
  };
  const auto built_in = loss_after({"cpu-serial", "faulty"});
  ASSERT_TRUE(built_in && built_in->good);
  EXPECT_STREQ(built_in->good->id, "faulty") << "a built-in kernel is not blamed";
  EXPECT_EQ(built_in->cause, "an illegal memory access");
  EXPECT_TRUE(built_in->ran);

  const auto edited = loss_after({"cpu-serial", "cpu-openmp", "edited"});
  ASSERT_TRUE(edited && edited->good);
  EXPECT_STREQ(edited->kernel->id, "edited");
  EXPECT_STREQ(edited->good->id, "cpu-openmp") << "the last one before it";

  const auto alone = loss_after({"edited"});
  ASSERT_TRUE(alone);
  EXPECT_FALSE(alone->good) << "nothing ran before it";
}

TEST_F(Failures, OfADeviceThatIsNotInUseLeaveTheStateAlone) {
  catalog.put(
      test::kernel_info("on-lost-device", [](const Settings&, const cuda::Device*) -> std::unique_ptr<ForceKernel> {
        throw test::LostDevice{"an illegal memory access", Backend::cuda};
      }));
  Simulation sim{backends, scene(33), catalog.find("cpu-serial")};
  (void)sim.snapshot();  // a copy that must not come back
  sim.run(3);
  EXPECT_RUNTIME_ERROR(sim.apply(SelectKernel{"on-lost-device"}), "the device failed",
                       "an illegal memory access; cpu-serial goes on");
  EXPECT_EQ(sim.status().kernel_id, "cpu-serial");
  EXPECT_FALSE(sim.status().paused);
  sim.run(2);
  EXPECT_EQ(sim.status().step, 5);
  expect_undisturbed(sim, 33);
}

/// Every allocation of a command that is as large as an array of bodies fails once.
TEST_F(Failures, OfMemoryForACommandLeaveTheOldState) {
  if (!test::memory_can_be_short) GTEST_SKIP() << "ThreadSanitizer has an operator new of its own";
  constexpr int count = 1000;
  const Command commands[] = {SetDigits{Digits::compensated}, LoadScene{scene(2 * count)}, RestoreCheckpoint{},
                              Restart{}};
  for (const Command& command : commands) {
    SCOPED_TRACE("command " + std::to_string(command.index()));
    int failures = 0;
    for (bool succeeds = false; !succeeds;) {
      Simulation sim{backends, scene(count), catalog.find("cpu-serial")};
      sim.run(2);
      sim.apply(KeepCheckpoint{});
      sim.run(1);
      const Bodies before = sim.bodies();
      try {
        const test::ShortMemory short_memory{count * sizeof(Vec4), failures};
        sim.apply(command);
        succeeds = true;
      } catch (const std::exception& failure) {
        SCOPED_TRACE(failure.what());
        ++failures;
        EXPECT_EQ(sim.bodies(), before);
        EXPECT_EQ(sim.status().step, 3);
        EXPECT_EQ(sim.status().digits, Digits::single);
        EXPECT_EQ(sim.status().checkpoint_step, 2);
        sim.run(2);
        expect_undisturbed(sim, count);
      }
    }
    EXPECT_GE(failures, 2);
  }
}

/// A kernel that does not end. A CPU kernel that nothing can cancel stands for one on a GPU.
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
  EXPECT_RUNTIME_ERROR(sim->apply(SetTimeStep{0.5f}), "mine hangs");
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
