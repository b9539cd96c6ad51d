// A window's parts of a page.
#include "app/window/window_report.h"

#include <gtest/gtest.h>

#include "app/report/page.h"
#include "compute/sim/simulation.h"
#include "tests/app/report/page_check.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

using test::holds;

class WindowReport : public testing::Test {
 protected:
  WindowReport() : simulation{test::backends(), {.scene = "plummer", .count = 64, .seed = 3}} {
    simulation.apply(SelectKernel{"cpu-openmp", {{"chunk", "16"}}});
    view.kernels = test::kernels();
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
  EXPECT_EQ(curves[0].points[0], (std::pair{0.0, 0.0}));
  EXPECT_NEAR(curves[0].points[2].second, 0.02, 1e-12);
  EXPECT_EQ(curves[1].points[1], (std::pair{2.0, 2.0}));
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
  test::expect_page(page);
  for (const char* part : {"Nothing was measured", "The energy drift was not measured",
                           "The time per step was not measured", "<td>Latest frame</td><td>not measured</td>"}) {
    EXPECT_TRUE(holds(page, part)) << part;
  }
}

}  // namespace
}  // namespace orrery
