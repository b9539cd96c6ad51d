#include "app/features/sweep/sweep_window.h"

#include "compute/core/error.h"
#include "tests/app/support/test.h"
#include "tests/app/window/beside_a_window.h"

namespace orrery::test {
namespace {

class SweepBesideAWindow : public BesideAWindow<SweepControl, SweepStatus> {};

TEST_F(SweepBesideAWindow, MeasuresPausesAndWritesFiles) {
  shown.apply(SelectIntegrator{"euler"});
  control.start({.kernels = {"cpu-serial", "cpu-simd"}, .tunables = {}, .counts = {8, 33}}, shown, status);
  EXPECT_TRUE(status.active);
  EXPECT_EQ(status.total, 4);
  EXPECT_TRUE(shown.status().paused);
  frames([&] { return status.done > 0; });
  ASSERT_EQ(status.rows.size(), 1u);
  EXPECT_EQ(status.rows[0].kernel_id, "cpu-serial");
  EXPECT_GT(status.left_s, 0);
  expect_holds(status.present, {"cpu-simd"});
  frames();
  EXPECT_FALSE(status.active);
  EXPECT_FALSE(shown.status().paused) << "it goes on";
  EXPECT_EQ(shown.status().step, 0) << "the sweep has a simulation of its own";
  ASSERT_EQ(status.rows.size(), 4u);
  for (const Measurement& row : status.rows) {
    EXPECT_EQ(row.problem.text, "");
    EXPECT_GT(row.step_ms.median, 0);
    EXPECT_GE(row.rank.first, 1);
    EXPECT_LE(row.rank.last, 2);
    ASSERT_TRUE(row.error);
    EXPECT_LT(row.error->median, 1e-5);
    EXPECT_EQ(row.integrator_id, "euler");
    EXPECT_EQ(row.scene, (SceneRequest{.scene = "plummer", .count = row.count}));
    EXPECT_GT(row.steps, 0);
  }
  EXPECT_EQ(status.error, "");
  ASSERT_EQ(status.files.size(), 2u);
  for (const std::string& file : status.files) EXPECT_GT(std::filesystem::file_size(file), 0u) << file;
  const Json whole = Json::parse(std::ifstream{status.files[1]});
  EXPECT_EQ(whole["metadata"]["integrator"], "euler");
  EXPECT_EQ(whole["results"].size(), 4u);
}

TEST_F(SweepBesideAWindow, StopsAndLeavesAPausedSystemPaused) {
  shown.apply(SetPaused{true});
  control.start({.kernels = {"cpu-serial", "cpu-simd"}, .tunables = {}, .counts = {}}, shown, status);
  EXPECT_THROW(control.start({}, shown, status), UsageError) << "one at a time";
  frames([&] { return status.done > 0; });
  EXPECT_TRUE(control.stop(shown, status));
  EXPECT_FALSE(control.stop(shown, status));
  EXPECT_FALSE(status.active);
  EXPECT_TRUE(shown.status().paused);
  EXPECT_GE(status.rows.size(), 1u);
  EXPECT_EQ(status.files.size(), 2u);
}

TEST(NeedsMachine, WhatRunsStepsOnly) {
  const Status shown;
  EXPECT_TRUE(needs_machine(SetPaused{false}, shown));
  EXPECT_TRUE(needs_machine(StepOnce{}, shown));
  EXPECT_TRUE(needs_machine(MeasureConserved{}, shown)) << "it comes with the next steps";
  for (const Command& command : {Command{SetPaused{true}}, Command{Restart{}}, Command{SelectIntegrator{"euler"}},
                                 Command{LoadScene{}}, Command{SelectKernel{"cpu-simd"}}}) {
    EXPECT_FALSE(needs_machine(command, shown));
  }
}

TEST(NeedsMachine, WhatChoosesAKernelByMeasuring) {
  Status shown;
  EXPECT_TRUE(needs_machine(SelectKernel{auto_kernel}, shown));
  shown.auto_choice = AutoChoice{};
  for (const Command& command :
       {Command{LoadScene{}}, Command{SetAccuracy{1e-4}}, Command{SelectLaw{"gravity"}}, Command{UndoReturn{}}}) {
    EXPECT_TRUE(needs_machine(command, shown));
  }
}

TEST_F(SweepBesideAWindow, TellsWhereFilesCannotBeWritten) {
  std::ofstream{"orrery-out"} << "no folder";
  control.start({.kernels = {"cpu-serial"}, .tunables = {}, .counts = {}}, shown, status);
  frames();
  EXPECT_FALSE(status.active);
  expect_holds(status.error, {"sweep.csv"});
  EXPECT_TRUE(status.files.empty());
  EXPECT_FALSE(shown.status().paused);
}

TEST_F(SweepBesideAWindow, VariesATunableAndKeepsTheOtherSettings) {
  shown.apply(SetTunable{"threads", "1"});
  const Tunable* rows = find_kernel("cpu-simd")->tunable("rows");
  ASSERT_NE(rows, nullptr);
  const SweepPlan plan = sweep_plan(backends(), {.kernels = {}, .tunables = {"rows"}, .counts = {}}, shown.status());
  EXPECT_EQ(plan.variants.size(), rows->values.size());
  EXPECT_EQ(plan.counts, std::vector{40});
  for (const Variant& variant : plan.variants) EXPECT_EQ(variant.settings.text("threads"), "1");
}

TEST_F(SweepBesideAWindow, RefusesWhatTheSystemDoesNotHave) {
  const Status present = shown.status();
  const std::vector<Variant> all =
      sweep_plan(backends(), {.kernels = {"all"}, .tunables = {}, .counts = {}}, present).variants;
  EXPECT_GT(all.size(), 2u);
  for (const Variant& variant : all) EXPECT_TRUE(backends().status(variant.kernel->backend).available);
  EXPECT_THROW((void)sweep_plan(backends(), {.kernels = {}, .tunables = {"warp"}, .counts = {}}, present), UsageError);
  EXPECT_THROW((void)sweep_plan(backends(), {.kernels = {"fast"}, .tunables = {}, .counts = {}}, present), UsageError);
  EXPECT_THROW((void)sweep_plan(backends(), {.kernels = {}, .tunables = {}, .counts = {0, -1}}, present), UsageError);
  Status file = present;
  file.scene.file = "a.bin";
  EXPECT_THROW((void)sweep_plan(backends(), {.kernels = {}, .tunables = {}, .counts = {8}}, file), UsageError);
  EXPECT_EQ(sweep_plan(backends(), {.kernels = {}, .tunables = {}, .counts = {}}, file).counts, std::vector{0});
}

}  // namespace
}  // namespace orrery::test
