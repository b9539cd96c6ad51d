// A window's legacy to the program that goes on in its place.
#include "app/window/handover.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>

#include "app/commands/command_text.h"
#include "app/recording/run_checkpoint.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/window_commands.h"
#include "app/window/rescue.h"
#include "app/window/run_view.h"
#include "app/window/step_statistics.h"
#include "compute/core/process.h"
#include "compute/kernels/runtime/kernel_file.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

using HandoverTest = InFolder;

TEST_F(HandoverTest, IsReadBackAsItWasWritten) {
  Handover left{.message = "the device failed",
                .window = {},
                .requests = {SetStepsPerFrame{3}, ShowLegend{false}},
                .picks = {PickBody{7}},
                .camera = {.azimuth = 0.25, .elevation = -0.5, .distance = 3, .target = {1, 2, 4}},
                .recording = "",
                .kernel = Handover::Kernel{.file = "my.cu", .text = "// id: my \xff\n", .version = 4},
                .workshop = KernelHistory{.file = "my.cu", .kernel_id = "my", .versions = {{{}, "// id: my\n"}}},
                .same_kernel = true};
  left.window.sections = {{"scene", true}};
  left.window.place = WindowPlace{10, 20, {800, 600}};
  write_handover(folder.path(), left);
  const Handover read = read_handover(folder.path());
  EXPECT_EQ(read.message, left.message);
  EXPECT_EQ(read.window.place, left.window.place);
  EXPECT_EQ(read.window.sections, left.window.sections);
  ASSERT_EQ(read.requests.size(), 2u);
  EXPECT_EQ(command_json(read.requests[0]), command_json(left.requests[0]));
  EXPECT_EQ(command_json(read.requests[1]), command_json(left.requests[1]));
  ASSERT_EQ(read.picks.size(), 1u);
  EXPECT_EQ(command_json(read.picks[0]), command_json(left.picks[0]));
  EXPECT_EQ(read.camera.azimuth, 0.25);
  EXPECT_EQ(read.camera.target.z, 4);
  EXPECT_EQ(read.recording, "") << "one in the usual file";
  ASSERT_TRUE(read.kernel && read.workshop);
  EXPECT_EQ(read.kernel->version, 4);
  EXPECT_EQ(read.kernel->text, left.kernel->text) << "also what is no UTF-8";
  EXPECT_EQ(read.workshop->versions.front().text, "// id: my\n");
  EXPECT_TRUE(read.same_kernel);

  left.recording.reset();
  left.kernel.reset();
  left.workshop.reset();
  write_handover(folder.path(), left);
  const Handover without = read_handover(folder.path());
  EXPECT_FALSE(without.recording || without.kernel || without.workshop);
}

TEST_F(HandoverTest, HasTheLongestTextsOfKernelFiles) {
  const std::string text(KernelFile::most_bytes, '/');
  Handover left;
  left.kernel = Handover::Kernel{.file = "my.cu", .text = text, .version = 2};
  left.workshop = KernelHistory{.file = "my.cu", .kernel_id = "my", .versions = {{{}, text}, {{}, text + '\n'}}};
  write_handover(folder.path(), left);
  const Handover read = read_handover(folder.path());
  EXPECT_EQ(read.kernel->text, text);
  ASSERT_EQ(read.workshop->versions.size(), 2u);
  EXPECT_EQ(read.workshop->versions[0].text, text);
  EXPECT_EQ(read.workshop->versions[1].text, text + '\n');
}

TEST_F(HandoverTest, IsRemovedWithoutTheFilesOfOthers) {
  const TemporaryFolder parent;
  const std::filesystem::path folder = parent / "handover", other = folder / "other.txt";
  std::filesystem::create_directory(folder);
  Handover left;
  left.kernel = Handover::Kernel{.file = "my.cu", .text = "// id: my\n", .version = 2};
  left.workshop = KernelHistory{.file = "my.cu", .kernel_id = "my", .versions = {{{}, "1"}, {{}, "2"}}};
  std::ofstream{other} << "of another program";
  write_handover(folder, left);
  std::ofstream{Handover::checkpoint_in(folder)} << "a run";
  remove_handover(folder);
  ASSERT_TRUE(std::filesystem::remove(other));
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << "all of its own files are gone";
  write_handover(folder, left);
  remove_handover(folder);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(HandoverTest, ThatIsDamagedIsOneLine) {
  for (const char* const text : {"", "{}", "[]", "{\"message\": 1}"}) {
    write("handover.json", text);
    const std::string said = failure_of([&] { (void)read_handover(folder.path()); }).message;
    EXPECT_TRUE(!said.empty() && !holds(said, "\n")) << text << ": " << said;
  }
}

TEST_F(HandoverTest, LeavesTheOptionsThatConcernTheEnd) {
  ViewOptions given;
  given.scene.file = "bodies.tipsy";
  given.setup = {SetPaused{true}};
  given.record_file = "a.csv";
  given.kernel_file = "my.cu";
  given.save_file = "end.tipsy";
  const ViewOptions next = options_after_handover(given, "/tmp/x");
  EXPECT_TRUE(next.scene.file.empty() && next.setup.empty() && next.record_file.empty() && next.kernel_file.empty());
  EXPECT_EQ(next.save_file, "end.tipsy");
  EXPECT_EQ(next.resume_file, "/tmp/x/run.checkpoint");
  EXPECT_EQ(next.handover, "/tmp/x");
}

TEST_F(HandoverTest, IsNamedForTheUserWhileItIsThere) {
  EXPECT_EQ(continuation(folder.path()), "") << "taken over";
  const std::string checkpoint = Handover::checkpoint_in(folder.path()).string();
  std::ofstream{checkpoint} << "a run";
  EXPECT_EQ(continuation(folder.path()), "'orrery view --resume " + checkpoint + "' continues");
}

TEST_F(HandoverTest, IsNotTakenOverAfterAStopRequest) {
  std::ofstream{Handover::checkpoint_in(folder.path())} << "a run";
  const auto end = [&] {
    watch_stop_signals();
    std::raise(SIGTERM);
    std::fputs(start_anew(folder.path(), {"--help"}).c_str(), stderr);
    std::_Exit(stop_status());
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(128 + SIGTERM), "orrery view --resume .*run.checkpoint' continues");
}

TEST_F(HandoverTest, OnlyTheProgramsOwnWordsAreTakenAway) {
  std::vector<std::string> words = "view take-over-window -n 5"_words;
  EXPECT_FALSE(take_handover(words));
  EXPECT_EQ(words.size(), 4u);
  words = "take-over-window /tmp/x view -n 5"_words;
  EXPECT_EQ(take_handover(words), "/tmp/x");
  EXPECT_EQ(words, (std::vector<std::string>{"view", "-n", "5"}));
}

struct NextKernelTest : testing::Test {
  NextKernelTest() {
    view_.kernels = kernels();
    view_.backends = backends().statuses();
    status_.integrator_id = "leapfrog";
    status_.count = 1000;
    select(auto_kernel);
  }

  void select(const std::string& id) {
    const KernelPtr named = find_kernel_or_auto(catalog(), id);
    status_.kernel = named ? named : backends().default_kernel();
    status_.kernel_id = status_.kernel->id;
    status_.auto_choice = named ? std::nullopt : std::optional{AutoChoice{}};
  }
  NextKernel next(Direction direction = Direction::forward) const {
    return next_kernel(status_, view_, results_, direction);
  }
  void measured(const char* id, int count, double median_ms) {
    Result row;
    row.kernel_id = id;
    row.integrator_id = "leapfrog";
    row.count = count;
    row.step_ms.median = median_ms;
    results_.push_back(row);
  }
  double forecast(const char* id) const { return forecast_step_s(*find_kernel(id), status_, results_); }

  Status status_;
  ViewStatus view_;
  std::vector<Result> results_;
};

TEST_F(NextKernelTest, VisitsEveryUsableKernelAndAutoAndComesBack) {
  std::size_t choices = 1;
  for (const KernelPtr& kernel : kernels()) choices += backends().status(kernel->backend).available ? 1 : 0;
  std::set<std::string> visited;
  for (std::size_t i = 0; i < choices; ++i) {
    const NextKernel to = next();
    EXPECT_TRUE(to.slow.empty() && to.notice().empty());
    visited.insert(to.id);
    select(to.id);
    EXPECT_TRUE(backends().status(status_.kernel->backend).available) << status_.kernel_id;
  }
  EXPECT_EQ(visited.size(), choices);
  EXPECT_TRUE(status_.auto_choice);
}

TEST_F(NextKernelTest, VisitsOnlyKernelsThatSuitTheIntegrator) {
  status_.integrator_id = "hermite4";
  std::set<std::string> visited;
  for (int i = 0; i < 4; ++i) {
    visited.insert(next().id);
    select(next().id);
    EXPECT_TRUE(status_.auto_choice || status_.kernel->gives_jerks) << status_.kernel_id;
  }
  EXPECT_TRUE(visited.contains("cpu-jerk"));
  EXPECT_TRUE(visited.contains(auto_kernel));
}

TEST_F(NextKernelTest, GoesBack) {
  for (const char* id : {auto_kernel, backends().default_kernel()->id}) {
    select(id);
    const NextKernel to = next();
    EXPECT_NE(to.id, id);
    select(to.id);
    EXPECT_EQ(next(Direction::back).id, id);
  }
}

TEST_F(NextKernelTest, PassesOverWhatIsMuchTooSlow) {
  status_.count = 1 << 18;  // some minutes per step of one thread
  ASSERT_STREQ(view_.kernels.front()->id, "cpu-serial");
  const NextKernel to = next();
  EXPECT_EQ(std::ranges::count(to.slow, "cpu-serial"), 1);
  EXPECT_NE(to.id, "cpu-serial");
  expect_holds(to.notice(), {"cpu-serial", "0.5 s per step"});
  EXPECT_EQ(forecast("cpu-tree"), 0) << "nothing is known of a tree";
  select("cpu-tree");
  for (const Direction way : {Direction::forward, Direction::back}) {
    EXPECT_EQ(std::ranges::count(next(way).slow, "cpu-tree"), 0) << "it is the present one";
  }
}

TEST_F(NextKernelTest, GoesByWhatWasMeasured) {
  status_.count = 2000;
  measured("cpu-serial", 1000, 250);
  EXPECT_DOUBLE_EQ(forecast("cpu-serial"), 1.0) << "of twice as many bodies";
  EXPECT_EQ(next().slow, std::vector<std::string>{"cpu-serial"});
  measured("cpu-serial", 1000, 25);
  EXPECT_DOUBLE_EQ(forecast("cpu-serial"), 0.1) << "with its best settings";
  EXPECT_TRUE(next().slow.empty());
  measured("cpu-tree", 1000, 25);
  EXPECT_DOUBLE_EQ(forecast("cpu-tree"), 0.05);
}

TEST_F(NextKernelTest, AnIntegratorWithMoreEvaluationsIsSlower) {
  const double leapfrog = forecast("cpu-serial");
  EXPECT_GT(leapfrog, 0);
  status_.integrator_id = "yoshida4";
  EXPECT_DOUBLE_EQ(forecast("cpu-serial"), 3 * leapfrog);
  measured("cpu-serial", 1000, 200);
  EXPECT_DOUBLE_EQ(forecast("cpu-serial"), 0.6) << "measured with leapfrog";
}

TEST_F(NextKernelTest, KernelsWithoutTargetsEvaluateAllBodiesInEverySubstep) {
  const double equal_steps = forecast("cpu-symmetric");
  status_.integrator_id = "leapfrog-blocks";
  status_.block_steps = true;
  status_.levels = LevelCounts{900, 0, 0, 100};
  EXPECT_DOUBLE_EQ(forecast("cpu-symmetric"), 8 * equal_steps);
  measured("cpu-symmetric", 1000, 100);
  EXPECT_DOUBLE_EQ(forecast("cpu-symmetric"), 0.8) << "measured with leapfrog";
  measured("cpu-symmetric", 1000, 300);
  results_.back().integrator_id = "leapfrog-blocks";
  results_.back().eta = 0.5f;
  results_.back().step_ms.median = 10;
  EXPECT_DOUBLE_EQ(forecast("cpu-symmetric"), 0.8) << "of other levels";
  results_.back().eta = status_.eta;
  EXPECT_DOUBLE_EQ(forecast("cpu-symmetric"), 0.01);
}

TEST_F(NextKernelTest, AKernelOutsideTheListLeadsToItsBegin) {
  select("cpu-simd");
  status_.kernel_id = "removed";
  EXPECT_EQ(next().id, auto_kernel);
}

TEST_F(NextKernelTest, StaysIfThereIsNoOther) {
  for (const KernelPtr& kernel : view_.kernels) measured(kernel->id, 1000, 1e6);
  const NextKernel to = next();
  EXPECT_EQ(to.id, auto_kernel) << "it is never passed over";
  select(view_.kernels.front()->id);
  EXPECT_EQ(next().id, auto_kernel);
}

namespace fs = std::filesystem;

struct AutosaveTest : testing::Test {
  static constexpr double soon = 1e-6;  // seconds

  AutosaveTest() { simulation_.apply(SelectKernel{"cpu-serial"}); }

  /// Steps once and follows until nothing is written any more. Returns what was said.
  std::string step(Autosave& autosave) {
    simulation_.run(1);
    std::string said = autosave.follow(simulation_);
    for (int i = 0; i < 3000 && said.empty() && !fs::exists(present()); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
      said = autosave.follow(simulation_);
    }
    return said;
  }
  fs::path present() const { return present_; }
  fs::path state() const { return folder_ / "state"; }

  TemporaryFolder folder_;
  fs::path present_ = folder_ / "state/run.checkpoint";
  Simulation simulation_{backends(), {.scene = "plummer", .count = 50}};
};

TEST_F(AutosaveTest, KeepsTheRunForTheNextWindow) {
  {
    Autosave first{state(), soon};
    EXPECT_FALSE(first.last_run() || first.last_run_age_s());
    EXPECT_EQ(step(first), "");
  }
  const auto kept = find_checkpoint(present().string());
  EXPECT_EQ(kept.checkpoint.step, 1);
  EXPECT_EQ(kept.checkpoint.state.bodies, simulation_.bodies());
  for (int session = 0; session < 2; ++session) {  // the second finds what the first did not replace
    const Autosave next{state(), 1e6};
    ASSERT_TRUE(next.last_run());
    EXPECT_EQ(find_checkpoint(next.last_run()->string()).checkpoint.step, 1);
    EXPECT_LT(*next.last_run_age_s(), 60);
    EXPECT_FALSE(fs::exists(present())) << "a later run is not that one";
  }
}

TEST_F(AutosaveTest, KeepsTheLastStateAtTheEnd) {
  {
    Autosave first{state(), 1e6};
    EXPECT_EQ(first.finish(simulation_), "");
    EXPECT_FALSE(fs::exists(present())) << "nothing was done";
    simulation_.run(3);
    EXPECT_EQ(first.finish(simulation_), "") << "long before the period has passed";
  }
  {
    Autosave next{state(), 1e6};
    ASSERT_TRUE(next.last_run());
    EXPECT_EQ(next.last_run_words(), fmt::format("plummer, 50 bodies, t = {:.4g}", simulation_.status().sim_time));
    EXPECT_EQ(find_checkpoint(next.last_run()->string()).checkpoint.state.bodies, simulation_.bodies());
    next.continued(simulation_.status().step);
    EXPECT_EQ(next.finish(simulation_), "");
    EXPECT_FALSE(fs::exists(present())) << "it has not gone on";
    simulation_.run(2);
    EXPECT_EQ(next.finish(simulation_), "");
  }
  const Autosave last{state(), 1e6};
  ASSERT_TRUE(last.last_run());
  EXPECT_EQ(find_checkpoint(last.last_run()->string()).checkpoint.step, 5) << "not the older state again";
  EXPECT_EQ(find_checkpoint(previous_name(last.last_run()->string())).checkpoint.step, 3);
}

TEST_F(AutosaveTest, KeepsNothingAtTheEndIfItIsOff) {
  simulation_.run(1);
  for (const auto& [folder, period_s] : {std::pair{state(), 0.0}, {fs::path{}, 1.0}}) {
    Autosave autosave{folder, period_s};
    EXPECT_EQ(autosave.finish(simulation_), "");
  }
  EXPECT_FALSE(fs::exists(present()));
}

TEST_F(AutosaveTest, WritesNothingTooSoonNorWithoutAStep) {
  for (const double period_s : {1e6, 0.0}) {
    Autosave autosave{state(), period_s};
    simulation_.run(1);
    EXPECT_EQ(autosave.follow(simulation_), "");
  }
  Simulation unmoved{backends(), {.scene = "plummer", .count = 50}};
  {
    Autosave autosave{state(), soon};
    EXPECT_EQ(autosave.follow(unmoved), "");
  }
  EXPECT_FALSE(fs::exists(present()));
}

TEST_F(AutosaveTest, WindowsThatAreOpenTogetherKeepTheirOwnRuns) {
  const fs::path first_file = present_, second_file = folder_ / "state/run-2.checkpoint";
  {
    Autosave first{state(), soon};
    EXPECT_EQ(step(first), "");
    Autosave second{state(), soon};
    EXPECT_FALSE(second.last_run()) << "that of the first goes on";
    present_ = second_file;
    EXPECT_EQ(step(second), "");
    EXPECT_EQ(find_checkpoint(first_file.string()).checkpoint.step, 1);
  }
  EXPECT_EQ(find_checkpoint(second_file.string()).checkpoint.step, 2);
  fs::last_write_time(first_file, fs::last_write_time(second_file) - std::chrono::minutes{5});
  const Autosave third{state(), soon}, fourth{state(), soon}, fifth{state(), soon};
  ASSERT_TRUE(third.last_run() && fourth.last_run());
  EXPECT_EQ(third.last_run()->filename(), "last-run-2.checkpoint") << "the latest";
  EXPECT_EQ(fourth.last_run()->filename(), "last-run.checkpoint");
  EXPECT_FALSE(fifth.last_run());
}

TEST_F(AutosaveTest, SaysInOneLineThatTooManyWindowsAreOpen) {
  std::vector<std::unique_ptr<Autosave>> open;
  for (int i = 0; i < Autosave::most_places; ++i) open.push_back(std::make_unique<Autosave>(state(), soon));
  Autosave more{state(), soon};
  simulation_.run(1);
  expect_holds(more.follow(simulation_), {"does not keep its run"});
  EXPECT_EQ(more.follow(simulation_), "") << "once";
}

TEST_F(AutosaveTest, DoesNotWaitForEverForAnotherProcess) {
  fs::create_directories(state());
  const auto held = locked_file(state() / "windows.lock", true);
  Autosave autosave{state(), soon, {}, std::chrono::milliseconds{1}};
  simulation_.run(1);
  expect_holds(autosave.follow(simulation_), {"windows.lock"});
  EXPECT_FALSE(autosave.last_run());
}

TEST_F(AutosaveTest, SaysInOneLineWhyItFailed) {
  std::ofstream{state()} << "a file";
  Autosave autosave{state(), soon};
  const std::string said = step(autosave);
  expect_holds(said, {"not saved for the next window"});
  expect_lacks(said, {"\n"});
}

// When the thread of the rescue may look at a run.

using namespace std::chrono_literals;

TEST(Rescue, LooksAtTheRunOnlyWhileItsOwnerIsOutside) {
  Rescue rescue;
  std::atomic<int> looks{0};
  rescue.watch([&] { ++looks; });
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(looks, 0) << "the owner uses the run's state";
  rescue.outside([&] {
    while (looks < 2) std::this_thread::sleep_for(1ms);
  });
  const int seen = looks;
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(looks, seen);
  rescue.disarm(0);
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(looks, seen) << "the run has ended";
}

}  // namespace
}  // namespace orrery::test
