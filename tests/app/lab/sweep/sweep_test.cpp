#include "app/lab/sweep/sweep.h"

#include "app/lab/baseline.h"
#include "app/lab/metadata.h"
#include "app/lab/roofline/roofline.h"
#include "app/lab/statistics.h"
#include "app/lab/sweep/result_rows.h"
#include "app/recording/result_files.h"
#include "tests/app/support/initial_variant.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

SweepPlan small_plan() {
  return {.scene = {.scene = "plummer"},
          .counts = {8, 33},
          .variants = {initial_variant("cpu-serial"), initial_variant("cpu-simd")},
          .sampling = {.warmup_steps = 2, .samples = 6}};
}

void run(Sweep& sweep) {
  while (!sweep.ended()) {
    if (sweep.tick()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

TEST(Sweep, MeasuresEveryVariantForEveryCount) {
  Sweep sweep{backends(), small_plan()};
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
  Sweep sweep{backends(), plan};
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
  Sweep sweep{backends(), plan};
  run(sweep);
  ASSERT_EQ(sweep.entries().size(), 4u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_FALSE(sweep.entries()[i].measured());
    expect_holds(sweep.entries()[i].problem.text, {"two-body"});
    EXPECT_TRUE(sweep.entries()[i].problem.refused);
    EXPECT_TRUE(sweep.entries()[i + 2].measured()) << sweep.entries()[i + 2].problem.text;
  }
}

TEST(Sweep, MakesAnEntryOfAFailure) {
  SweepPlan plan = small_plan();
  plan.scene = {.file = "/none/such.tipsy"};
  plan.counts = {0};
  Sweep sweep{backends(), plan};
  run(sweep);
  ASSERT_EQ(sweep.entries().size(), 2u);
  EXPECT_FALSE(sweep.first_status());
  for (const Measurement& entry : sweep.entries()) {
    expect_holds(entry.problem.text, {"such.tipsy"});
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
  plan.variants = {initial_variant("cpu-serial"), initial_variant("cpu-tree")};
  Sweep sweep{backends(), plan};
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
  plan.variants = {initial_variant("cpu-serial")};
  int looks = 0;
  Sweep sweep{backends(), plan, [&](const KernelInfo& kernel) {
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
  Sweep sweep{backends(), plan};
  sweep.tick();
  expect_holds(sweep.present(), {"cpu-serial", "1,000 bodies"});
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
  plan.variants = {initial_variant("cpu-serial")};
  Sweep sweep{backends(), plan};
  EXPECT_TRUE(sweep.tick());
  sweep.stop();  // or this test would take minutes
  EXPECT_TRUE(sweep.stopped());
  EXPECT_TRUE(sweep.entries().empty());
}

using SweepReportTest = InFolder;

TEST_F(SweepReportTest, WritesRowsAtOnceAndTheirRanksOnceTheyAreKnown) {
  const std::string csv = path("a.csv"), json = path("a.json");
  Sweep sweep{backends(), small_plan()};
  while (!sweep.first_status()) sweep.tick();
  SweepReport report{sweep, bench_format, {.csv = csv, .json = json}, {{"where", "test"}}};
  while (sweep.entries().empty()) sweep.tick();
  report.update();
  EXPECT_EQ(lines(contents(csv)).size(), 3u) << "two lines of head and one row";
  run(sweep);
  report.finish({});
  const std::vector<std::string> text = lines(contents(csv));
  ASSERT_EQ(text.size(), 6u);
  EXPECT_EQ(text[1].substr(0, 22), "kernel,backend,block,s");
  expect_holds(text[1], {",rank_first,rank_last,registers"});
  const Json whole = Json::parse(contents(json));
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
    Measurement row = planned(initial_variant(id), 8);
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
  expect_holds(table, {"runs"});
  EXPECT_EQ(table.find("Mean of 10 runs"), std::string::npos) << "there were two: " << table;
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();

Summary interval(double low, double high) {
  return {.median = (low + high) / 2, .min = low, .low = low, .high = high};
}

TEST(Ranking, CountsIntervalsThatLieApart) {
  const std::vector<Summary> times{interval(3, 4), interval(1, 2), interval(5, 6)};
  EXPECT_EQ(ranks(times), (std::vector<Rank>{{2, 2}, {1, 1}, {3, 3}}));
}

// The middle one overlaps both others, which lie apart.
TEST(Ranking, LeavesOpenWhatOverlaps) {
  const std::vector<Summary> times{interval(1, 2), interval(1.5, 3.5), interval(3, 4)};
  EXPECT_EQ(ranks(times), (std::vector<Rank>{{1, 2}, {1, 3}, {2, 3}}));
}

TEST(Ranking, TakesIntervalsThatTouchForOverlapping) {
  EXPECT_EQ(ranks(std::vector<Summary>{interval(1, 2), interval(2, 3)}), (std::vector<Rank>{{1, 2}, {1, 2}}));
}

TEST(Ranking, LeavesOutWhatHasNoInterval) {
  const Summary unknown{.median = 1, .min = 1, .low = none, .high = none};
  EXPECT_EQ(ranks(std::vector<Summary>{unknown, interval(1, 2), unknown, interval(3, 4)}),
            (std::vector<Rank>{{0, 0}, {1, 1}, {0, 0}, {2, 2}}));
  EXPECT_TRUE(ranks({}).empty());
}

TEST(Ranking, IsWrittenAsOnePlaceOrAsRange) {
  EXPECT_EQ(to_string(Rank{2, 2}), "2");
  EXPECT_EQ(to_string(Rank{2, 4}), "2-4");
  EXPECT_EQ(to_string(Rank{}), "-");
}

// The tables of results with rows as a GPU would leave them.

/// The kernel of this build whose id is the longest.
KernelPtr kernel() {
  const std::vector<KernelPtr> kernels = test::kernels();
  return *std::ranges::max_element(kernels, {}, [](const KernelPtr& k) { return std::string_view{k->id}.size(); });
}

/// 100 columns for an id as long as that of the longest CUDA kernel, cuda-tiled-count.
TextStyle style() {
  return {.columns = 100 - (16 - std::string_view{kernel()->id}.size())};
}

/// Every number is as wide as it gets, and no setting is initial.
Measurement entry(double median_ms) {
  const KernelPtr tree = find_kernel("cpu-tree");  // it has the most settings of those that every build has
  Settings settings{*tree};
  for (const Tunable& tunable : tree->tunables) settings.set(tunable.name, tunable.values.back());
  Measurement row = planned({tree, settings}, 1'048'576);
  row.kernel_id = kernel()->id;
  row.steps_per_sample = 1234;
  row.samples_ms = std::vector<double>(10, median_ms);
  row.step_ms = {.median = median_ms, .min = 0.1233, .low = 0.1234, .high = 1234.5};
  row.chosen = "split 16, 132 blocks of 1024 threads, AVX-512";
  row.interactions_per_s = 1.0995e12 / (median_ms / 1e3);
  row.error = {1.2e-7, 1.2e-7, 1.2e-6, 1.2e-5, 7};
  row.card = KernelCard{.name = "f",
                        .registers = 255,
                        .local_bytes = 123'456,
                        .shared_bytes = 232'448,
                        .block = 1024,
                        .blocks = 1'048'576,
                        .blocks_per_multiprocessor = 16,
                        .occupancy = 1,
                        .best_block = 1024,
                        .best_occupancy = 1,
                        .waves = 123.45};
  row.machine =
      std::make_shared<const MachineStates>(MachineStates{.before = {}, .during = {{"clock_mhz", 1980}}, .after = {}});
  return row;
}

std::vector<Measurement> ranked(std::vector<Measurement> rows) {
  rank(rows);
  return rows;
}

struct SweepTables : testing::Test {
  static void expect_fits(const std::string& text, std::size_t columns = style().columns) {
    for (const std::string& line : lines(text)) EXPECT_LE(columns_of(line), columns) << line;
    expect_holds(text, {"1,048,576"});
  }

  const std::vector<Measurement> entries = ranked({entry(1234.5), entry(0.1234), entry(12.34)});
  const std::vector<std::vector<Measurement>> counts{entries};
  const TextStyle wide{.columns = TextStyle::unlimited};
};

TEST_F(SweepTables, OfABenchmarkAndItsRanksFit) {
  const std::string text = bench_format.table(counts, style());
  expect_fits(text);
  expect_holds(text, {"ranking"});
  EXPECT_NE(text.find("--wide"), std::string::npos) << "columns are left out: " << text;
  expect_holds(bench_format.table(counts, wide), {"GFLOP/s", "error p99", "min ms", "0.1234 to 1234", "split 16"});
}

TEST_F(SweepTables, OfTheProtocolFit) {
  expect_fits(uth_format.table(counts, style()));
}

TEST_F(SweepTables, OfKernelCardsFit) {
  KernelLimits limits{
      {.device = 0, .peak_rates = PeakRates{.fma_per_s = 33e12, .rsqrt_per_s = 4e12, .clock_mhz = 1980}},
      [](const KernelCard&) { return InstructionCounts{.per_pair = 123.4, .mufu_per_pair = 12.34}; }};
  expect_fits(limits.text(entries, style()));
  expect_holds(limits.text(entries, wide), {"232,448", "1024: 100.0 %", "123.45", "of MUFU"});
}

TEST_F(SweepTables, OfAComparisonFit) {
  const auto whole = [](double seed, double median) {
    return Json{{"metadata", {{"law", "gravity"}, {"integrator", "leapfrog"}, {"scene", "collision"}, {"seed", seed}}},
                {"results",
                 {{{"kernel", "cuda-tiled-count"},
                   {"settings", {{"bodies-per-thread", "4"}, {"epilogue", "stored"}, {"layout", "float4"}}},
                   {"n", 1'048'576},
                   {"step_ms", {{"median", median}, {"min", median}, {"low", median}, {"high", median}}}}}}};
  };
  const std::vector<Baseline> before{{.file = "old.json", .whole = whole(1, 1234.5)}};
  for (const double seed : {1.0, 123456789.0}) {
    expect_fits(compare(before, whole(seed, 0.1234), 3).text(catalog(), {}), 100);
  }
}

}  // namespace
}  // namespace orrery::test
