#include "app/lab/sweep/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "app/lab/metadata.h"
#include "app/lab/sweep/result_rows.h"
#include "app/recording/sweep_report.h"
#include "compute/core/temporary_folder.h"
#include "tests/app/support/initial_variant.h"
#include "tests/app/support/text_file.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

SweepPlan small_plan() {
  return {.scene = {.scene = "plummer"},
          .counts = {8, 33},
          .variants = {test::initial_variant("cpu-serial"), test::initial_variant("cpu-simd")},
          .sampling = {.warmup_steps = 2, .samples = 6}};
}

void run(Sweep& sweep) {
  while (!sweep.ended()) {
    if (sweep.tick()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

TEST(Sweep, MeasuresEveryVariantForEveryCount) {
  Sweep sweep{test::backends(), small_plan()};
  EXPECT_EQ(sweep.total(), 4u);
  EXPECT_GT(sweep.left_s(), 0);
  run(sweep);
  ASSERT_EQ(sweep.entries().size(), 4u);
  EXPECT_FALSE(sweep.stopped());
  EXPECT_EQ(sweep.present(), "");
  EXPECT_EQ(sweep.left_s(), 0);
  EXPECT_EQ(sweep.first_status()->count, 8);
  for (std::size_t i = 0; i < 4; ++i) {
    const Measurement& entry = sweep.entries()[i];
    ASSERT_TRUE(entry.measured()) << entry.problem.text;
    EXPECT_EQ(entry.count, i < 2 ? 8 : 33);
    EXPECT_EQ(entry.kernel_id, i % 2 == 0 ? "cpu-serial" : "cpu-simd");
    EXPECT_EQ(entry.samples_ms.size(), 6u);
    EXPECT_GE(entry.steps_per_sample, 1);
    EXPECT_LE(entry.step_ms.low, entry.step_ms.median);
    EXPECT_GE(entry.step_ms.high, entry.step_ms.median);
  }
}

TEST(Sweep, AppliesTheSetUpAndStartsFromTheFirstState) {
  SweepPlan plan = small_plan();
  plan.setup = {SelectIntegrator{"euler"}, SetTimeStep{0.25f}};
  plan.sampling = {.warmup_steps = 0, .samples = 3, .fresh_steps = 4};
  Sweep sweep{test::backends(), plan};
  run(sweep);
  ASSERT_EQ(sweep.entries().size(), 4u);
  for (const Measurement& entry : sweep.entries()) {
    ASSERT_TRUE(entry.measured()) << entry.problem.text;
    EXPECT_EQ(entry.integrator_id, "euler");
    EXPECT_EQ(entry.time_step, 0.25f);
    EXPECT_EQ(entry.steps_per_sample, 4);
    EXPECT_EQ(entry.samples_ms.size(), 3u);
    EXPECT_EQ(entry.end_time, 4 * 0.25) << "the last run began afresh";
  }
}

TEST(Sweep, MakesAnEntryOfWhatCannotBeRun) {
  SweepPlan plan = small_plan();
  plan.scene = {.scene = "two-body"};
  plan.counts = {3, 2};
  Sweep sweep{test::backends(), plan};
  run(sweep);
  ASSERT_EQ(sweep.entries().size(), 4u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_FALSE(sweep.entries()[i].measured());
    EXPECT_NE(sweep.entries()[i].problem.text.find("two-body"), std::string::npos) << sweep.entries()[i].problem.text;
    EXPECT_TRUE(sweep.entries()[i].problem.refused);
    EXPECT_TRUE(sweep.entries()[i + 2].measured()) << sweep.entries()[i + 2].problem.text;
  }
}

TEST(Sweep, MakesAnEntryOfAFailure) {
  SweepPlan plan = small_plan();
  plan.scene = {.file = "/none/such.tipsy"};
  plan.counts = {0};
  Sweep sweep{test::backends(), plan};
  run(sweep);
  ASSERT_EQ(sweep.entries().size(), 2u);
  EXPECT_FALSE(sweep.first_status());
  for (const Measurement& entry : sweep.entries()) {
    EXPECT_NE(entry.problem.text.find("such.tipsy"), std::string::npos) << entry.problem.text;
    EXPECT_FALSE(entry.problem.refused);
  }
}

/// Returns a field of the row that the benchmark writes. Counts from the end, because the settings, which come first,
/// may hold commas.
std::string csv_field(const Measurement& of, std::string_view name) {
  const auto names = csv_names(bench_format);
  std::string row = csv_row(bench_format, of, {&of, 1});
  std::erase(row, '\n');
  for (auto i = names.end() - std::ranges::find(names, name); i > 1; --i) row.erase(row.rfind(','));
  return row.substr(row.rfind(',') + 1);
}

TEST(Sweep, TellsNoFlopsOfATree) {
  SweepPlan plan = small_plan();
  plan.counts = {512};
  plan.variants = {test::initial_variant("cpu-serial"), test::initial_variant("cpu-tree")};
  Sweep sweep{test::backends(), plan};
  run(sweep);
  const std::vector<Measurement> rows = sweep.measured().at(0);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_GT(bench_format.json(rows[0], rows)["gflop_per_s"], 0);
  EXPECT_TRUE(bench_format.json(rows[1], rows)["gflop_per_s"].is_null());
  EXPECT_GT(bench_format.json(rows[1], rows)["interactions_per_s"], 0);
  EXPECT_NE(csv_field(rows[0], "gflop_per_s"), "");
  EXPECT_EQ(csv_field(rows[1], "gflop_per_s"), "");
  EXPECT_NE(csv_field(rows[1], "interactions_per_s"), "");
}

TEST(Sweep, LooksAtTheMachineWhileStepsRun) {
  SweepPlan plan = small_plan();
  plan.counts = {512};
  plan.variants = {test::initial_variant("cpu-serial")};
  int looks = 0;
  Sweep sweep{test::backends(), plan, [&](const KernelInfo& kernel) {
                return Json{{"clock_mhz", ++looks}, {"of", kernel.id}};
              }};
  run(sweep);
  ASSERT_TRUE(sweep.entries().at(0).machine);
  const MachineStates& machine = *sweep.entries()[0].machine;
  EXPECT_EQ(machine.before["clock_mhz"], 1);
  EXPECT_EQ(machine.during["clock_mhz"], 2);
  EXPECT_EQ(machine.during["of"], "cpu-serial");
  EXPECT_EQ(machine.after["clock_mhz"], 3);
  const std::vector<Measurement> rows = sweep.measured().at(0);
  EXPECT_EQ(bench_format.json(rows[0], rows)["machine"]["during"]["clock_mhz"], 2);
  EXPECT_EQ(csv_field(rows[0], "sm_clock_mhz_during"), "2");
  EXPECT_EQ(csv_field(rows[0], "sm_clock_mhz_after"), "3");
}

TEST(Sweep, KeepsWhatWasMeasuredWhenItIsStopped) {
  SweepPlan plan = small_plan();
  plan.sampling.samples = 1'000'000;
  plan.counts.front() = 1000;
  Sweep sweep{test::backends(), plan};
  sweep.tick();
  EXPECT_NE(sweep.present().find("cpu-serial"), std::string::npos);
  EXPECT_NE(sweep.present().find("1,000 bodies"), std::string::npos) << sweep.present();
  for (int ticks = 0; ticks < 1000; ++ticks) {
    if (sweep.tick()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  sweep.stop();
  EXPECT_TRUE(sweep.ended());
  EXPECT_TRUE(sweep.stopped());
  ASSERT_EQ(sweep.entries().size(), 1u);
  ASSERT_TRUE(sweep.entries().front().measured());
  EXPECT_LT(sweep.entries().front().samples_ms.size(), 1'000'000u);
  EXPECT_FALSE(sweep.tick());
  EXPECT_EQ(sweep.entries().size(), 1u);
}

TEST(Sweep, AbandonsALongStepWhenItIsStopped) {
  SweepPlan plan = small_plan();
  plan.counts = {200'000};
  plan.variants = {test::initial_variant("cpu-serial")};
  Sweep sweep{test::backends(), plan};
  EXPECT_TRUE(sweep.tick());
  sweep.stop();  // or this test would take minutes
  EXPECT_TRUE(sweep.stopped());
  EXPECT_TRUE(sweep.entries().empty());
}

TEST(SweepReport, WritesRowsAtOnceAndTheirRanksOnceTheyAreKnown) {
  const TemporaryFolder folder;
  const std::string csv = (folder / "a.csv").string(), json = (folder / "a.json").string();
  Sweep sweep{test::backends(), small_plan()};
  while (!sweep.first_status()) sweep.tick();
  SweepReport report{sweep, bench_format, {.csv = csv, .json = json}, {{"where", "test"}}};
  while (sweep.entries().empty()) sweep.tick();
  report.update();
  EXPECT_EQ(test::lines(test::contents(csv)).size(), 3u) << "two lines of head and one row";
  run(sweep);
  report.finish({});
  const std::vector<std::string> text = test::lines(test::contents(csv));
  ASSERT_EQ(text.size(), 6u);
  EXPECT_EQ(text[1].substr(0, 22), "kernel,backend,block,s");
  EXPECT_NE(text[1].find(",rank_first,rank_last,registers"), std::string::npos);
  const Json whole = Json::parse(test::contents(json));
  EXPECT_EQ(whole["metadata"]["where"], "test");
  EXPECT_EQ(whole["stopped"], false);
  ASSERT_EQ(whole["results"].size(), 4u);
  for (const Json& result : whole["results"]) {
    EXPECT_GE(result["rank"]["first"], 1);
    EXPECT_LE(result["rank"]["last"], 2) << "ranks are those among two of one count";
  }
}

TEST(ResultRows, RelateEveryRunToTheSerialOne) {
  const auto row = [](const char* id, std::vector<double> samples_ms) {
    Measurement row = planned(test::initial_variant(id), 8);
    row.steps_per_sample = 10;
    row.step_ms = summarize(samples_ms);
    row.samples_ms = std::move(samples_ms);
    return row;
  };
  const std::vector<Measurement> rows{row("cpu-simd", {1, 3}), row("cpu-serial", {4, 12})};
  const Json simd = uth_format.json(rows[0], rows);
  EXPECT_EQ(simd["runs"], 2);
  EXPECT_EQ(simd["mean_total_ms"], 20);
  EXPECT_EQ(simd["mean_step_ms"], 2);
  EXPECT_EQ(simd["steps_per_s"], 500);
  EXPECT_EQ(simd["speedup_over_serial"], 4);
  EXPECT_TRUE(uth_format.json(rows[0], std::span{rows}.first(1))["speedup_over_serial"].is_null());
  const std::vector<std::vector<Measurement>> counts{rows};
  const std::string table = uth_format.table(counts, {});
  EXPECT_NE(table.find("runs"), std::string::npos) << table;
  EXPECT_EQ(table.find("Mean of 10 runs"), std::string::npos) << "there were two: " << table;
}

}  // namespace
}  // namespace orrery
