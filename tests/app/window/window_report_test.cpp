// A window's parts of a page.
#include <unistd.h>

#include "app/features/report/page.h"
#include "app/features/roofline/roofline_window.h"
#include "app/features/sweep/sweep.h"
#include "app/window/step_statistics.h"
#include "compute/sim/simulation.h"
#include "tests/app/report/page_check.h"
#include "tests/app/support/fake_program.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

struct WindowReport : testing::Test {
  WindowReport() : simulation{backends(), {.scene = "plummer", .count = 64, .seed = 3}} {
    simulation.apply(SelectKernel{"cpu-openmp", {{"chunk", "16"}}});
    view.kernels = kernels();
  }
  Result result(const char* kernel, int count, bool swept) const {
    Result row;
    static_cast<Trial&>(row) = trial_of(simulation.status());
    row.kernel_id = kernel;
    row.settings.clear();
    row.count = count;
    row.scene.count = count;
    row.swept = swept;
    row.step_ms.median = 2;
    row.interactions_per_s = 1e9;
    return row;
  }
  ReportContent content() const { return window_content(simulation.status(), view); }

  Simulation simulation;
  ViewStatus view;
};

TEST(Trial, HasTheEtaOfBlockStepsOnly) {
  Status status;
  status.integrator_id = "leapfrog";
  status.eta = 0.5f;
  EXPECT_FALSE(trial_of(status).eta);
  EXPECT_EQ(integrator_words(trial_of(status)), "leapfrog");
  status.integrator_id = "leapfrog-blocks";
  status.block_steps = true;
  EXPECT_EQ(trial_of(status).eta, 0.5f);
  EXPECT_EQ(integrator_words(trial_of(status)), "leapfrog-blocks, eta 0.5");
  status.digits = Digits::compensated;
  EXPECT_EQ(integrator_words(trial_of(status)), "leapfrog-blocks, eta 0.5, digits compensated");
  EXPECT_EQ(run_of(trial_of(status)).physics.digits, Digits::compensated);
}

TEST_F(WindowReport, GroupsTheResultsBySystem) {
  view.results = {result("cpu-serial", 64, false), result("cpu-serial", 128, false), result("cpu-simd", 64, true)};
  view.results[2].step_ms.low = 1.9;
  view.results[2].step_ms.high = 2.1;
  view.results[2].error = ForceError{1e-7, 1e-7, 2e-7, 3e-7};
  const std::vector<ReportGroup> groups = content().groups;
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].title.substr(0, 26), "plummer, 64 bodies, seed 3");
  EXPECT_EQ(groups[1].title.substr(0, 19), "plummer, 128 bodies");
  ASSERT_EQ(groups[0].rows.size(), 2u);
  const ReportRow &tried = groups[0].rows[0], &swept = groups[0].rows[1];
  EXPECT_EQ(tried.how, "view");
  EXPECT_EQ(swept.how, "sweep");
  EXPECT_TRUE(std::isnan(tried.step_ms.low) && !tried.error);
  EXPECT_EQ(swept.step_ms.high, 2.1);
  EXPECT_EQ(swept.error->p99, 2e-7);
}

TEST_F(WindowReport, HasTheSpeedUpsOverThePinnedResult) {
  view.results = {result("cpu-serial", 64, false), result("cpu-simd", 64, false), result("cpu-openmp", 64, false)};
  view.results[0].pinned = true;
  view.results[0].speedup = 1;
  view.results[1].speedup = 12.345;
  const std::vector<ReportRow> rows = content().groups[0].rows;
  EXPECT_EQ(rows[0].speedup, "baseline");
  EXPECT_EQ(rows[1].speedup, "12.3\u00d7");
  EXPECT_EQ(rows[2].speedup, "");
}

TEST_F(WindowReport, HasTheDriftSinceTheFirstSum) {
  for (int i = 0; i < 3; ++i) {
    ConservedProbe probe;
    probe.step = i;
    probe.sim_time = 0.5 * i;
    probe.sums.kinetic = 1;
    probe.sums.potential = -2 + 0.01 * i;
    view.conserved_history.push_back(probe);
  }
  view.step_ms_history = {1, 2};
  const std::vector<ReportCurve> curves = content().curves;
  ASSERT_EQ(curves.size(), 2u);
  const std::vector<PlotPoint>&drift = curves[0].plot.lines.front().points,
        &steps = curves[1].plot.lines.front().points;
  EXPECT_TRUE(drift[0].x == 0 && drift[0].y == 0);
  EXPECT_NEAR(drift[2].y, 0.02, 1e-12);
  EXPECT_TRUE(steps[1].x == 2 && steps[1].y == 2);
}

TEST_F(WindowReport, ItsCommandsReadAFileAsTheWindowDid) {
  Status status = simulation.status();
  status.scene = {.scene = {}, .file = "a.tab", .hints = {.columns = {BodyColumn::x, BodyColumn::y, BodyColumn::z}}};
  status.scene.hints.units = galactic_units;
  status.units = galactic_units;
  const ReportContent made = window_content(status, view);
  for (const ReportCommand& command : made.commands) {
    EXPECT_TRUE(holds(command.line, "--units kpc,1e10Msun,km/s --columns=x,y,z a.tab")) << command.line;
  }
}

TEST_F(WindowReport, ItsCommandsShowTheSameSystem) {
  const std::string line = content().commands.front().line;
  EXPECT_TRUE(holds(line, "orrery view --scene plummer -n 64 --seed 3 --law gravity --softening ")) << line;
  EXPECT_TRUE(holds(line, "--kernel cpu-openmp --set chunk=16")) << line;
}

TEST_F(WindowReport, WithoutResultsThePageSaysSo) {
  ReportContent all = content();
  all.picture.words = "None.";
  const std::string page = report_page(all);
  expect_page(page);
  for (const char* part : {"Nothing was measured", "The energy drift was not measured",
                           "The time per step was not measured", "<td>Latest frame</td><td>not measured</td>"}) {
    EXPECT_TRUE(holds(page, part)) << part;
  }
}

// A kernel's machine code as the panels show it, with a cuobjdump that says what a test wants.

Status with_kernel(const char* function) {
  Status status;
  // Every build has this kernel, and one evaluation of the law is one interaction.
  status.kernel = find_kernel("cpu-serial");
  status.backend = Backend::cuda;
  status.card = KernelCard{.name = function, .architecture = 90};
  return status;
}

/// Returns the view of the function once its instructions have been counted. If they never are, the test hits its time
/// limit.
ViewStatus described(MachineFacts& facts, const char* function) {
  ViewStatus view;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    facts.describe(view, with_kernel(function));
  } while (view.instructions_reason == "they are being counted");
  return view;
}

TEST(MachineFacts, CountsEachFunctionOnce) {
  const FakeProgram cuobjdump{"cuobjdump"};
  cuobjdump.does("echo \"Function : $5\"; printf '/*0010*/ MUFU.RSQ R1, R1 ;\\n/*0020*/ BRA 0x10 ;\\n'");
  MachineFacts facts{backends()};
  EXPECT_EQ(described(facts, "first").instructions_per_interaction, 2.0);
  cuobjdump.does("exit 1");
  EXPECT_EQ(described(facts, "first").instructions_per_interaction, 2.0) << "it was known";
  const ViewStatus second = described(facts, "second");
  EXPECT_FALSE(second.instructions_per_interaction);
  expect_holds(second.instructions_reason, {"failed"});
}

TEST(MachineFacts, DoNotWaitAtTheEndForWhatNobodyWants) {
  const FakeProgram cuobjdump{"cuobjdump"};
  cuobjdump.does("exec sleep 1000");
  MachineFacts facts{backends()};
  ViewStatus view;
  facts.describe(view, with_kernel("endless"));
  EXPECT_FALSE(view.instructions_per_interaction);
  EXPECT_EQ(view.instructions_reason, "they are being counted");
}

TEST(MachineFacts, StartNothingWhileASweepMeasures) {
  const FakeProgram cuobjdump{"cuobjdump"};
  cuobjdump.does("echo \"Function : $5\"; printf '/*0010*/ MUFU.RSQ R1, R1 ;\\n/*0020*/ BRA 0x10 ;\\n'");
  MachineFacts facts{backends()};
  ViewStatus view;
  view.measurement = {&sweep_user};
  for (int frame = 0; frame < 100; ++frame) {
    facts.describe(view, with_kernel("swept"));
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  expect_holds(view.instructions_reason, {"sweep"});
  EXPECT_FALSE(view.instructions_per_interaction);
  EXPECT_EQ(described(facts, "swept").instructions_per_interaction, 2.0);
}

TEST(MachineFacts, OfAKernelOnTheCpuAreNone) {
  MachineFacts facts{backends()};
  ViewStatus view;
  view.instructions_per_interaction = 14;
  facts.describe(view, Status{});
  EXPECT_FALSE(view.instructions_per_interaction);
  EXPECT_NE(view.instructions_reason, "");
  EXPECT_FALSE(view.peak_rates);
}

/// A folder that is gone afterwards.
struct WriteResults : testing::Test {
  WriteResults() { std::filesystem::create_directories(folder_); }
  ~WriteResults() override { std::filesystem::remove_all(folder_); }

  static std::string read(const std::filesystem::path& file) {
    std::stringstream text;
    text << std::ifstream{file}.rdbuf();
    return text.str();
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("orrery_results_test_" + std::to_string(::getpid()));
};

TEST_F(WriteResults, WritesOneLineARow) {
  StepStatistics statistics;
  const StepWork pairs{.evaluations = 1, .interactions = 1e6};
  const Trial serial{.kernel_id = "cpu-serial", .integrator_id = "leapfrog", .count = 1000};
  statistics.add(serial, pairs, {.steps = 1, .evaluations = 1, .step_ms = 10});
  Trial other{.kernel_id = "cpu-simd", .settings = "threads=2", .integrator_id = "leapfrog", .count = 1000};
  other.law.id = LawId::attract_repel;
  other.scene.file = "a.tipsy";
  other.time_step = 0.25f;
  other.digits = Digits::compensated;
  other.kernel_version = 3;
  statistics.add(other, pairs, {.steps = 1, .evaluations = 1, .step_ms = 2.5});
  statistics.add_error(other, {.rms = 1, .median = 3e-7, .p99 = 4e-6, .max = 5e-5});
  statistics.pin(1, true);
  const std::string file = (folder_ / "results.csv").string();
  EXPECT_EQ(write_results(file, {{"program", "orrery"}}, statistics.results()), file);
  EXPECT_EQ(
      read(file),
      "# {\"program\":\"orrery\"}\n"
      "kernel,settings,law,softening,repulsion,drag,integrator,dt,eta,scene,seed,n,median_ms,interactions_per_s,"
      "speedup,"
      "pinned,steps,error_median,error_p99,error_max,by,digits,version\n"
      "cpu-serial,,gravity,0.02,,,leapfrog,0,,collision,1,1000,10,1e+08,,,1,,,,view,float,\n"
      "cpu-simd,threads=2,attract-repel,0.02,0.002,1e-06,leapfrog,0.25,,a.tipsy,,1000,2.5,4e+08,1,yes,1,3e-07,4e-06,"
      "5e-05,view,compensated,3\n");
}

TEST_F(WriteResults, KeepsWhatIsThere) {
  std::ofstream{folder_ / "results.csv"} << "an unfinished recording";
  EXPECT_EQ(write_results((folder_ / "results.csv").string(), {}, {}), (folder_ / "results-1.csv").string());
  EXPECT_EQ(read(folder_ / "results.csv"), "an unfinished recording");
}

TEST_F(WriteResults, NamesTheFileThatCannotBeWritten) {
  const std::string file = (folder_ / "missing" / "results.csv").string();
  EXPECT_EQ(failure_of([&] { (void)write_results(file, {}, {}); }).message,
            "cannot write '" + file + "': No such file or directory");
}

}  // namespace
}  // namespace orrery::test
