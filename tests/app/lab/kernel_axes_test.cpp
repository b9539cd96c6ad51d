#include "app/lab/variants.h"
#include "compute/core/threads.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/sim/backends.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

TEST(KernelSelection, TakesAllOrIds) {
  EXPECT_EQ(parse_kernels(catalog(), "all").kernels.size(), kernels().size());
  EXPECT_TRUE(parse_kernels(catalog(), "all").all);
  const KernelSelection two = parse_kernels(catalog(), "cpu-simd,cpu-serial,cpu-simd");
  ASSERT_EQ(two.kernels.size(), 2u) << "a kernel asked for twice is measured once";
  EXPECT_STREQ(two.kernels[0]->id, "cpu-simd");
  EXPECT_FALSE(two.all);
  expect_usage_error({"fast", "cpu-serial"}, [] { parse_kernels(catalog(), "cpu-simd,fast"); });
  expect_usage_error({"'all' stands alone"}, [] { parse_kernels(catalog(), "all,cpu-simd"); });
}

TEST(KernelSelection, SaysWhatCanRunWhereAKernelCannot) {
  const std::vector<KernelPtr> kernels = test::kernels();
  const auto blocked = std::ranges::find_if(
      kernels, [](const KernelPtr& kernel) { return !backends().status(kernel->backend).available; });
  if (blocked == kernels.end()) GTEST_SKIP() << "every kernel can run here";
  expect_runtime_error({(*blocked)->id, "can run here: cpu-"},
                       [&] { expand(backends(), parse_kernels(catalog(), (*blocked)->id), {}); });
}

/// Stands for two ranks.
struct TwoRanks final : KernelSharing {
  int ranks() const override { return 2; }
  int open_devices(const RankDeviceSelection& /*which*/) override {
    throw std::runtime_error("there is no CUDA device");
  }
  std::unique_ptr<ForceKernel> make(const KernelInfo& kernel, const Settings& settings,
                                    const RankDeviceSelection& /*devices*/) override {
    return kernel.make(settings, nullptr);
  }
  std::string transport() const override { return {}; }
};

TEST(KernelSelection, OfAllLeavesOutWithAReasonWhatCannotBeShared) {
  TwoRanks two;
  const KernelCatalog kernels{&two};
  const Backends backends{kernels};
  const VariantPlan plan = expand(backends, parse_kernels(kernels, "all"), {});
  ASSERT_EQ(plan.variants.size() + plan.skipped.size(), kernels.all().size());
  for (const Variant& variant : plan.variants) EXPECT_TRUE(variant.kernel->takes_targets) << variant.kernel->id;
  const auto symmetric = std::ranges::find(plan.skipped, "cpu-symmetric", &Skipped::kernel_id);
  ASSERT_NE(symmetric, plan.skipped.end());
  EXPECT_EQ(symmetric->reason, "cpu-symmetric always evaluates every body, so 2 ranks cannot share it");
  EXPECT_EQ(expand(backends, parse_kernels(kernels, "cpu-symmetric"), {}).skipped.size(), 0u)
      << "one that was named is refused when it is made";
}

TEST(KernelAxes, MakeEveryCombination) {
  const KernelSelection simd = parse_kernels(catalog(), "cpu-simd");
  const std::vector<Axis> axes{parse_axis("--set", "threads=1,2"), parse_axis("--set", "rows=1,2,4")};
  check_axes(simd, axes);
  const VariantPlan plan = expand(backends(), simd, axes);
  ASSERT_EQ(plan.variants.size(), 6u);
  EXPECT_EQ(plan.variants.front().settings.to_string(), "rows=1 threads=1");
  EXPECT_EQ(plan.variants.back().settings.to_string(), "rows=4 threads=2");
  EXPECT_TRUE(plan.notes.empty());
}

TEST(KernelAxes, TakeEveryValueThatEachKernelHas) {
  const KernelSelection all = parse_kernels(catalog(), "cpu-serial,cpu-openmp,cpu-simd");
  const std::vector<Axis> axes{parse_axis("--set", "threads=all")};
  check_axes(all, axes);
  const VariantPlan plan = expand(backends(), all, axes);
  const auto values = [](const char* id) { return find_kernel(id)->tunable("threads")->values_to_measure().size(); };
  EXPECT_EQ(plan.variants.size(), 1 + values("cpu-openmp") + values("cpu-simd"));
  EXPECT_EQ(plan.notes.size(), 1u) << "cpu-serial has none";
  const KernelSelection simd = parse_kernels(catalog(), "cpu-simd");
  check_axes(simd, axes);
  EXPECT_EQ(expand(backends(), simd, axes).variants.size(), values("cpu-simd"));
  const std::vector<Axis> rows{parse_axis("--set", "rows=all")};
  EXPECT_EQ(expand(backends(), simd, rows).variants.size(), find_kernel("cpu-simd")->tunable("rows")->values.size());
}

TEST(KernelAxes, TakeNoMoreThreadsThanCanRunUnlessTheyAreNamed) {
  const auto threads = [](const char* values) {
    std::vector<int> threads;
    for (const Variant& variant :
         expand(backends(), parse_kernels(catalog(), "cpu-simd"), {parse_axis("--set", values)}).variants) {
      threads.push_back(variant.settings.integer("threads"));
    }
    return threads;
  };
  const std::vector<int> all = threads("threads=all");
  EXPECT_EQ(all.front(), 0) << "auto";
  EXPECT_LE(all.back(), usable_threads());
  EXPECT_GT(2 * all.back(), std::min(usable_threads(), 128)) << "and no fewer";
  EXPECT_EQ(threads("threads=1,128"), (std::vector{1, 128}));
}

TEST(KernelAxes, LeaveKernelsAloneThatLackThem) {
  const KernelSelection two = parse_kernels(catalog(), "cpu-serial,cpu-simd");
  const std::vector<Axis> axes{parse_axis("--set", "threads=1,2")};
  check_axes(two, axes);
  const VariantPlan plan = expand(backends(), two, axes);
  EXPECT_EQ(plan.variants.size(), 3u);
  ASSERT_EQ(plan.notes.size(), 1u);
  expect_holds(plan.notes[0], {"cpu-serial"});
}

TEST(KernelAxes, AreRefusedWhereNoKernelHasThem) {
  const auto check = [](const char* kernels, const char* axis) {
    check_axes(parse_kernels(catalog(), kernels), {parse_axis("--set", axis)});
  };
  expect_usage_error({"warp", "threads"}, [&] { check("cpu-simd", "warp=3"); });
  expect_usage_error({"threads", "'0'", "auto"}, [&] { check("cpu-simd", "threads=0"); });
  expect_usage_error({"warp", "threads"}, [&] { check("cpu-simd", "warp=all"); });
  expect_usage_error({"warp", "threads"}, [&] { check("all", "warp=all"); });
  expect_usage_error({"threads", "'all'", "auto"}, [&] { check("cpu-simd", "threads=1,all"); });
  expect_usage_error({"warp", "threads"}, [&] { check("all", "warp=3"); });
  expect_usage_error({"threads", "'0'", "auto"}, [&] { check("cpu-openmp,cpu-simd", "threads=2,0"); });
  expect_usage_error({"auto, 1, 2, 4, 8, 16, 32, 64, 128"}, [&] { check("cpu-openmp,cpu-simd", "threads=0"); });
  expect_usage_error({"threads, chunk, rows"}, [&] { check("cpu-openmp,cpu-simd", "warp=3"); });
  expect_usage_error({"NAME=VALUE"}, [] { parse_axis("--set", "threads"); });
  expect_usage_error({"NAME=VALUE"}, [] { parse_axis("--set", "=2"); });
  expect_usage_error({"'threads='", "NAME=VALUE"}, [] { parse_axis("--set", "threads="); });
  expect_usage_error({"--set threads", "'1,,2'"}, [] { parse_axis("--set", "threads=1,,2"); });
}

}  // namespace
}  // namespace orrery::test
