// The kernel of a simulation: left to the program, chosen or compiled while it runs, replaced, and removed.
#include "compute/core/error.h"
#include "compute/sim/backends.h"
#include "compute/sim/engine.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/kernel_doubles.h"
#include "tests/test.h"

namespace orrery {
namespace {

/// Says what the test tells it to, and remembers what it was asked.
class ToldChooser final : public KernelChooser {
 public:
  KernelChoice choose(const KernelDemand& demand, const ForceSystem& system, const std::stop_token&) override {
    asked.push_back(demand);
    softening = system.law.softening;
    bodies = system.bodies;
    if (fails) throw std::runtime_error("nothing can be measured");
    const KernelPtr kernel = test::find_kernel(answer);
    Settings settings{*kernel};
    for (const auto& [name, value] : values) settings.set(name, value);
    return {kernel, settings, "told"};
  }

  std::string answer = "cpu-simd";
  Settings::Values values{{"rows", "2"}};
  bool fails = false;
  std::vector<KernelDemand> asked;
  float softening = 0;  // of the system that was shown last, as its bodies
  Bodies bodies;
};

class AutoKernel : public testing::Test {
 protected:
  void answer(const std::string& id, const Settings::Values& values = {}) {
    chooser.answer = id;
    chooser.values = values;
  }

  ToldChooser chooser;
  Simulation sim{
      test::backends(), {.scene = "plummer", .count = 100}, test::find_kernel("cpu-openmp"), nullptr, &chooser};
};

TEST_F(AutoKernel, IsAskedForOnlyWhenItIsSelected) {
  EXPECT_TRUE(chooser.asked.empty());
  EXPECT_FALSE(sim.status().auto_choice);
  sim.apply(SelectKernel{auto_kernel});
  ASSERT_EQ(chooser.asked.size(), 1u);
  EXPECT_EQ(chooser.asked[0].count, 100);
  EXPECT_EQ(chooser.asked[0].law, LawId::gravity);
  const Status status = sim.status();
  EXPECT_EQ(status.kernel_id, "cpu-simd") << "the real one";
  EXPECT_EQ(status.settings.text("rows"), "2");
  ASSERT_TRUE(status.auto_choice);
  EXPECT_EQ(status.auto_choice->name, "auto: cpu-simd rows=2");
  EXPECT_EQ(status.auto_choice->how, "told");
  EXPECT_EQ(sim.run(2).steps, 2);
}

TEST_F(AutoKernel, IsChosenAnewForOtherNumbersOfBodiesAndLawsOnly) {
  sim.apply(SelectKernel{auto_kernel});
  const Bodies before = sim.bodies();
  answer("cpu-serial");
  sim.apply(SelectLaw{"attract-repel"});
  ASSERT_EQ(chooser.asked.size(), 2u);
  EXPECT_EQ(chooser.asked[1].law, LawId::attract_repel);
  EXPECT_EQ(sim.status().kernel_id, "cpu-serial");
  EXPECT_EQ(sim.status().auto_choice->name, "auto: cpu-serial");
  EXPECT_EQ(sim.bodies(), before);

  answer("cpu-simd", {{"rows", "4"}});
  sim.apply(LoadScene{{.scene = "plummer", .count = 257}});
  ASSERT_EQ(chooser.asked.size(), 3u);
  EXPECT_EQ(chooser.asked[2].count, 257);
  EXPECT_EQ(chooser.asked[2].law, LawId::attract_repel);
  EXPECT_EQ(sim.status().kernel_id, "cpu-simd");
  EXPECT_EQ(sim.status().settings.text("rows"), "4");
  EXPECT_EQ(sim.status().count, 257);

  test::apply(sim, Restart{}, SelectLaw{"attract-repel"}, SelectIntegrator{"euler"}, SetSoftening{0.5f},
              LoadScene{{.scene = "plummer", .count = 257}});
  EXPECT_EQ(chooser.asked.size(), 3u) << "neither the bodies nor the law is another";
  sim.apply(LoadScene{{.scene = "plummer", .count = 257, .seed = 9}});
  EXPECT_EQ(chooser.asked.size(), 4u) << "errors may be others";
  EXPECT_TRUE(sim.status().auto_choice);
  sim.apply(Reset{});
  ASSERT_EQ(chooser.asked.size(), 5u);
  EXPECT_EQ(chooser.asked[4].law, LawId::gravity) << "the scene's";
  EXPECT_EQ(sim.run(3).steps, 3);
}

TEST_F(AutoKernel, ComesBackAsItWasWithoutAnotherChoice) {
  answer("cpu-simd", {{"rows", "4"}});
  sim.apply(SelectKernel{auto_kernel});
  const Status before = sim.status();
  sim.apply(ReturnToRun{{.scene = {.scene = "disc", .count = 33},
                         .physics = before.scene_physics,
                         .kernel_id = "cpu-serial",
                         .settings = {}}});
  EXPECT_FALSE(sim.status().auto_choice) << "a row names its kernel";
  sim.apply(UndoReturn{});
  ASSERT_TRUE(sim.status().auto_choice);
  EXPECT_EQ(sim.status().auto_choice->name, before.auto_choice->name);
  EXPECT_EQ(sim.status().settings, before.settings);
  EXPECT_EQ(chooser.asked.size(), 1u);
}

TEST_F(AutoKernel, IsChosenAnewForAnotherAccuracy) {
  sim.apply(SetAccuracy{1e-3});
  EXPECT_TRUE(chooser.asked.empty()) << "it is for when auto is selected";
  EXPECT_EQ(sim.status().accuracy, 1e-3);
  sim.apply(SelectKernel{auto_kernel});
  ASSERT_EQ(chooser.asked.size(), 1u);
  EXPECT_EQ(chooser.asked[0].accuracy, 1e-3);
  sim.apply(SetAccuracy{1e-3});
  EXPECT_EQ(chooser.asked.size(), 1u);
  answer("cpu-tree", {{"theta", "0.5"}});
  sim.apply(SetAccuracy{0});
  ASSERT_EQ(chooser.asked.size(), 2u);
  EXPECT_EQ(chooser.asked[1].accuracy, 0);
  EXPECT_EQ(sim.status().auto_choice->name, "auto: cpu-tree theta=0.5");
  for (const double wrong : {-1e-4, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(sim.apply(SetAccuracy{wrong}), UsageError) << wrong;
  }
  EXPECT_EQ(sim.status().accuracy, 0);
  EXPECT_EQ(chooser.asked.size(), 2u);
}

TEST_F(AutoKernel, IsChosenForTheBodiesAsTheyAre) {
  sim.run(3);
  sim.apply(SelectKernel{auto_kernel});
  EXPECT_EQ(chooser.bodies, sim.bodies());
  sim.apply(LoadScene{{.scene = "plummer", .count = 500}});
  EXPECT_EQ(chooser.bodies, sim.bodies());
  EXPECT_EQ(chooser.softening, sim.status().law.softening) << "the new scene's";
}

TEST_F(AutoKernel, IsChosenAnewWhereMassesAreEqualNoMore) {
  sim.apply(SelectKernel{auto_kernel});
  EXPECT_TRUE(chooser.asked.back().equal_masses);
  Bodies bodies = sim.bodies();
  sim.set_bodies(bodies);
  EXPECT_EQ(chooser.asked.size(), 1u);
  bodies.positions[7].w *= 2;
  sim.set_bodies(bodies);
  ASSERT_EQ(chooser.asked.size(), 2u);
  EXPECT_FALSE(chooser.asked.back().equal_masses);
  sim.apply(SelectLaw{"attract-repel"});
  EXPECT_FALSE(chooser.asked.back().equal_masses);
}

TEST_F(AutoKernel, MovesTheBodiesWithTheKernelThatWasChosen) {
  answer("cpu-serial");
  sim.apply(SelectKernel{auto_kernel});
  answer("cpu-simd");
  sim.apply(LoadScene{{.scene = "plummer", .count = 333}});
  sim.run(4);
  Simulation named{test::backends(), {.scene = "plummer", .count = 333}, test::find_kernel("cpu-simd")};
  named.run(4);
  EXPECT_EQ(sim.bodies(), named.bodies());
}

TEST_F(AutoKernel, EndsWithAKernelThatIsNamed) {
  test::apply(sim, SelectKernel{auto_kernel}, SelectKernel{"cpu-simd"});
  EXPECT_FALSE(sim.status().auto_choice);
  EXPECT_EQ(sim.status().settings.text("rows"), "auto") << "nobody asked for what was chosen";
  test::apply(sim, LoadScene{{.scene = "plummer", .count = 64}}, SelectLaw{"attract-repel"});
  EXPECT_EQ(chooser.asked.size(), 1u);
}

TEST_F(AutoKernel, LeavesTheSettingsOfKernelsThatWereNamed) {
  test::apply(sim, SelectKernel{"cpu-simd", {{"rows", "4"}}}, SelectKernel{auto_kernel});
  EXPECT_EQ(sim.status().settings.text("rows"), "2");
  test::apply(sim, LoadScene{{.scene = "plummer", .count = 64}}, SelectKernel{"cpu-simd"});
  EXPECT_EQ(sim.status().settings.text("rows"), "4");
}

TEST_F(AutoKernel, EndsWithATunableThatIsSet) {
  test::apply(sim, SelectKernel{auto_kernel}, SetTunable{"rows", "4"});
  EXPECT_FALSE(sim.status().auto_choice);
  EXPECT_EQ(sim.status().kernel_id, "cpu-simd");
  EXPECT_EQ(sim.status().settings.text("rows"), "4");
  sim.apply(LoadScene{{.scene = "plummer", .count = 64}});
  EXPECT_EQ(chooser.asked.size(), 1u);
}

TEST_F(AutoKernel, TakesNoSettings) {
  EXPECT_USAGE_ERROR(sim.apply(SelectKernel{auto_kernel, {{"rows", "4"}}}), "rows", "auto", "cpu-simd");
  EXPECT_FALSE(sim.status().auto_choice);
  EXPECT_EQ(sim.status().kernel_id, "cpu-openmp");
}

TEST_F(AutoKernel, ChangesNothingWhereNothingCanBeChosen) {
  sim.apply(SelectKernel{auto_kernel});
  chooser.fails = true;
  EXPECT_THROW(sim.apply(LoadScene{{.scene = "plummer", .count = 200}}), std::runtime_error);
  EXPECT_THROW(sim.apply(SelectLaw{"attract-repel"}), std::runtime_error);
  const Status status = sim.status();
  EXPECT_EQ(status.count, 100);
  EXPECT_EQ(status.law.id, LawId::gravity);
  EXPECT_EQ(status.kernel_id, "cpu-simd");
  EXPECT_TRUE(status.auto_choice);
}

TEST_F(AutoKernel, IsTheDefaultWhereNobodyChooses) {
  Simulation alone{test::backends(), {.scene = "plummer", .count = 100}};
  alone.apply(SelectKernel{auto_kernel});
  EXPECT_EQ(alone.status().kernel_id, test::backends().default_kernel()->id);
  EXPECT_TRUE(alone.status().auto_choice);
}

TEST_F(AutoKernel, IsNamedBesideTheKernelsWhereOneIsUnknown) {
  EXPECT_USAGE_ERROR(sim.apply(SelectKernel{"cpu-smd"}), "cpu-smd", "cpu-simd", "auto");
  EXPECT_EQ(find_kernel_or_auto(test::catalog(), auto_kernel), nullptr);
  EXPECT_EQ(find_kernel_or_auto(test::catalog(), "cpu-simd"), test::find_kernel("cpu-simd"));
}

// A kernel that is chosen while the program goes on drawing.

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
  void collect_while(const std::function<bool()>& lasts) {
    for (int look = 0; lasts() && look < 30'000; ++look) {
      sim.collect();
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    ASSERT_FALSE(lasts());
  }
  void wait_for_choice() {
    collect_while([&] { return sim.status().choosing; });
  }
  void wait_until_nothing_measures() {
    collect_while([&] { return sim.measuring(); });
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
  test::apply(sim, SelectKernel{auto_kernel}, SelectKernel{"cpu-serial"});
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
  test::apply(sim, SelectKernel{auto_kernel}, SetSoftening{0.1f});
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
  test::apply(sim, SelectKernel{auto_kernel}, StepOnce{});
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

// A kernel that is compiled while the steps go on.

class KernelPreparation : public testing::Test {
 protected:
  KernelPreparation() { catalog.put(slow.info()); }
  ~KernelPreparation() override { slow.finish(); }

  Simulation simulation(Choosing choosing = Choosing::beside) {
    return {backends, {.scene = "plummer", .count = 33}, catalog.find("slow"), nullptr, nullptr, choosing};
  }
  /// Frames as a window makes them.
  static void frames_until(Simulation& sim, const std::function<bool()>& reached) {
    test::run_frames_until(sim, reached);
    ASSERT_TRUE(reached());
  }
  static void run_steps(Simulation& sim, int steps) {
    const std::int64_t end = sim.status().step + steps;
    frames_until(sim, [&] { return sim.status().step >= end; });
  }
  static void wait_until_made(Simulation& sim) {
    frames_until(sim, [&] { return !sim.status().preparing; });
  }
  static std::string block(const Simulation& sim) { return sim.status().settings.text("block"); }

  test::SlowKernel slow;
  KernelCatalog catalog;
  const Backends backends{catalog};
};

TEST_F(KernelPreparation, TheOldSettingGoesOnUntilTheNewOneIsCompiled) {
  Simulation sim = simulation();
  sim.apply(SetTunable{"block", "64"});
  ASSERT_TRUE(sim.status().preparing);
  EXPECT_EQ(sim.status().preparing->settings.text("block"), "64");
  run_steps(sim, 5);
  EXPECT_EQ(block(sim), "256");
  EXPECT_FALSE(sim.take_prepared());
  slow.finish();
  wait_until_made(sim);
  EXPECT_EQ(block(sim), "64");
  const auto prepared = sim.take_prepared();
  ASSERT_TRUE(prepared);
  EXPECT_FALSE(prepared->failure);
  EXPECT_EQ(prepared->settings.text("block"), "64");
  run_steps(sim, 3);
}

TEST_F(KernelPreparation, AnErrorIsReportedAndTheOldSettingStays) {
  Simulation sim = simulation();
  sim.apply(SetTunable{"block", "64"});
  run_steps(sim, 2);
  slow.finish("slow.cu(7): too many registers");
  wait_until_made(sim);
  EXPECT_EQ(block(sim), "256");
  EXPECT_EQ(sim.status().last_error, "slow.cu(7): too many registers");
  EXPECT_FALSE(sim.status().paused);
  const auto prepared = sim.take_prepared();
  ASSERT_TRUE(prepared);
  EXPECT_THROW(std::rethrow_exception(prepared->failure), std::runtime_error);
  run_steps(sim, 3);
}

TEST_F(KernelPreparation, OnlyTheLatestOfManyIsCompiled) {
  Simulation sim = simulation();
  sim.apply(SetTunable{"block", "64"});
  frames_until(sim, [&] { return slow.compiled() == "64"; });
  test::apply(sim, SetTunable{"block", "128"}, SetTunable{"block", "64"}, SetTunable{"block", "128"});
  slow.finish();
  wait_until_made(sim);
  EXPECT_EQ(slow.compiled(), "64 128");
  EXPECT_EQ(block(sim), "128");
}

TEST_F(KernelPreparation, OfANewVersionTakesASettingThatIsChangedMeanwhile) {
  Simulation sim = simulation();
  catalog.put(slow.info());
  const int version = catalog.find("slow")->revision;
  test::apply(sim, SelectKernel{"slow", {{"block", "128"}}}, SetTunable{"block", "64"});
  slow.finish();
  wait_until_made(sim);
  EXPECT_EQ(block(sim), "64");
  const auto prepared = sim.take_prepared();
  ASSERT_TRUE(prepared);
  EXPECT_EQ(prepared->kernel->revision, version);
}

TEST_F(KernelPreparation, EndsIfTheRunningSettingOrAnotherKernelIsSelected) {
  for (const Command& command : {Command{SetTunable{"block", "256"}}, Command{SelectKernel{"cpu-serial"}}}) {
    Simulation sim = simulation();
    test::apply(sim, SetTunable{"block", "64"}, command);
    EXPECT_FALSE(sim.status().preparing);
    slow.finish();
    run_steps(sim, 3);
    EXPECT_FALSE(sim.take_prepared());
    EXPECT_NE(sim.status().settings.text_or_none("block"), "64");
  }
}

TEST_F(KernelPreparation, OtherPhysicsAndBodiesGoWithIt) {
  Simulation sim = simulation();
  test::apply(sim, SetTunable{"block", "64"}, SelectLaw{"attract-repel"}, LoadScene{{.scene = "plummer", .count = 50}});
  EXPECT_TRUE(sim.status().preparing);
  slow.finish();
  wait_until_made(sim);
  EXPECT_EQ(block(sim), "64");
  EXPECT_EQ(sim.status().count, 50);
  EXPECT_EQ(sim.status().law.id, LawId::attract_repel);
  run_steps(sim, 2);
}

TEST_F(KernelPreparation, NoFrameDestroysAKernel) {
  Simulation sim = simulation();
  slow.finish();
  sim.apply(SetTunable{"block", "64"});
  wait_until_made(sim);
  frames_until(sim, [&] { return slow.present() == 1; });
  sim.apply(SetTunable{"block", "128"});
  while (slow.present() == 1) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  sim.apply(SelectKernel{"cpu-serial"});  // the one that was prepared, and the one that ran, are not used any more
  frames_until(sim, [&] { return slow.present() == 0; });
  EXPECT_EQ(slow.destroyed_by(std::this_thread::get_id()), 0);
}

TEST_F(KernelPreparation, AWrongValueIsRefusedAtOnce) {
  Simulation sim = simulation();
  sim.apply(SetTunable{"block", "64"});
  EXPECT_THROW(sim.apply(SetTunable{"block", "65"}), UsageError);
  EXPECT_THROW(sim.apply(SelectKernel{"slow", {{"tile", "1"}}}), UsageError);
  slow.finish();
  ASSERT_TRUE(sim.status().preparing);
  EXPECT_EQ(sim.status().preparing->settings.text("block"), "64");
}

TEST_F(KernelPreparation, ARepeatableRunWaitsForIt) {
  Simulation sim = simulation(Choosing::at_once);
  slow.finish();
  sim.apply(SetTunable{"block", "64"});
  EXPECT_EQ(block(sim), "64");
  EXPECT_FALSE(sim.status().preparing);
}

// A simulation with kernels that the catalog takes, replaces and forgets while it runs.

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
  test::apply(sim, SetPaused{true}, SetSoftening{0.25f});
  EXPECT_EQ(pull(sim), 1) << "other commands change nothing about it";
  sim.apply(SelectKernel{"uniform"});
  EXPECT_EQ(pull(sim), 2);
  test::apply(sim, SelectKernel{"cpu-serial"}, SelectKernel{"uniform"});
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
  EXPECT_USAGE_ERROR(sim.apply(SelectKernel{"uniform"}), "'uniform'", "cpu-serial", "auto");
  EXPECT_EQ(sim.status().kernel_id, "uniform");
  EXPECT_EQ(pull(sim), 1);
  EXPECT_EQ(sim.run(2).steps, 2);
}

TEST(Backends, HaveADeviceOrTheReasonWhyNot) {
  const Backends backends{test::catalog()};
  const BackendStatus& cuda = backends.status(Backend::cuda);
  EXPECT_TRUE(backends.status(Backend::cpu).available);
  EXPECT_FALSE(backends.status(Backend::cpu).device.empty());
  EXPECT_EQ(backends.device() != nullptr, cuda.available);
  EXPECT_EQ(cuda.reason.empty(), cuda.available);
  EXPECT_EQ(cuda.device.empty(), !cuda.available);
  EXPECT_EQ(backends.default_kernel()->backend, cuda.available ? Backend::cuda : Backend::cpu);
  for (const KernelPtr& kernel : test::kernels()) {
    const bool listed = backends.available_kernels().find(kernel->id) != std::string::npos;
    EXPECT_EQ(listed, backends.status(kernel->backend).available) << kernel->id;
  }
}

TEST(Backends, RefuseADeviceThatCannotBeOpened) {
  const Backends backends{test::catalog()};
  const BackendStatus& cuda = backends.status(Backend::cuda);
  if (cuda.available) {
    EXPECT_NO_THROW((Backends{test::catalog(), 0}));
    return;
  }
  EXPECT_RUNTIME_ERROR((Backends{test::catalog(), 0}), "CUDA device ", cuda.reason);
  EXPECT_RUNTIME_ERROR(backends.make_engine(Backend::cuda, nullptr), cuda.reason, "cpu-simd");
  KernelInfo kernel = *test::find_kernel("cpu-serial");
  kernel.backend = Backend::cuda;
  EXPECT_RUNTIME_ERROR(backends.make_kernel(kernel, Settings{kernel}), cuda.reason, "cpu-simd");
}

}  // namespace
}  // namespace orrery
