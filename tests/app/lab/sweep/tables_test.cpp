// The tables of results with rows as a GPU would leave them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "app/lab/baseline.h"
#include "app/lab/metadata.h"
#include "app/lab/roofline/roofline.h"
#include "app/lab/sweep/result_rows.h"
#include "tests/app/support/text_file.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

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
  const KernelPtr tree = test::find_kernel("cpu-tree");  // it has the most settings of those that every build has
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

class SweepTables : public testing::Test {
 protected:
  static void expect_fits(const std::string& text, std::size_t columns = style().columns) {
    for (const std::string& line : test::lines(text)) EXPECT_LE(columns_of(line), columns) << line;
    EXPECT_NE(text.find("1,048,576"), std::string::npos) << text;
  }

  const std::vector<Measurement> entries = ranked({entry(1234.5), entry(0.1234), entry(12.34)});
  const std::vector<std::vector<Measurement>> counts{entries};
  const TextStyle wide{.columns = TextStyle::unlimited};
};

TEST_F(SweepTables, OfABenchmarkAndItsRanksFit) {
  const std::string text = bench_format.table(counts, style());
  expect_fits(text);
  EXPECT_NE(text.find("ranking"), std::string::npos);
  EXPECT_NE(text.find("--wide"), std::string::npos) << "columns are left out: " << text;
  const std::string all = bench_format.table(counts, wide);
  for (const char* part : {"GFLOP/s", "error p99", "min ms", "0.1234 to 1234", "split 16"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << " is not in\n" << all;
  }
}

TEST_F(SweepTables, OfTheProtocolFit) {
  expect_fits(uth_format.table(counts, style()));
}

TEST_F(SweepTables, OfKernelCardsFit) {
  KernelLimits limits{
      {.device = 0, .peak_rates = PeakRates{.fma_per_s = 33e12, .rsqrt_per_s = 4e12, .clock_mhz = 1980}},
      [](const KernelCard&) { return InstructionCounts{.per_pair = 123.4, .mufu_per_pair = 12.34}; }};
  expect_fits(limits.text(entries, style()));
  const std::string all = limits.text(entries, wide);
  for (const char* part : {"232,448", "1024: 100.0 %", "123.45", "of MUFU"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << " is not in\n" << all;
  }
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
    expect_fits(compare(before, whole(seed, 0.1234), 3).text(test::catalog(), {}), 100);
  }
}

}  // namespace
}  // namespace orrery
