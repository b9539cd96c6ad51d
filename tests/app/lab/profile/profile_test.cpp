// Profiles as values: counters to figures, stall reasons, differences, JSON and CSV.
#include "app/features/profile/kernel_profile.h"
#include "app/features/profile/measure_profile.h"
#include "compute/scenes/scene.h"
#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

KernelProfile some_profile() {
  KernelProfile profile{.kernel_id = "cuda-tiled", .settings = "block=256", .scene = "plummer", .count = 16384};
  profile.device = "a GPU";
  profile.on_gpu = true;
  profile.chip = "GH100";
  profile.passes = 11;
  profile.stalls = {{"wait", 1.5}, {"short_scoreboard", 0.5}, {"long_scoreboard", 4}, {"selected", 1}};
  profile.figures = {{"time_ms", 0.25}, {"fma", 68.5}};
  profile.missing = {"a__metric.sum"};
  return profile;
}

TEST(StallReasons, EveryReasonHasSentencesAndAName) {
  std::set<std::string> ids;
  for (const StallReason& reason : stall_reasons()) {
    EXPECT_TRUE(ids.insert(reason.id).second) << reason.id;
    EXPECT_EQ(find_stall_reason(reason.id), &reason);
    for (const std::string& sentence : {std::string{reason.meaning}, std::string{reason.remedy}}) {
      EXPECT_GT(sentence.size(), 20u) << reason.id;
      EXPECT_EQ(sentence.back(), '.') << reason.id;
    }
    EXPECT_FALSE(std::string{reason.title}.empty()) << reason.id;
  }
  EXPECT_EQ(ids.size(), 19u) << "as many as Hopper has";
  EXPECT_EQ(find_stall_reason("no-such"), nullptr);
}

TEST(StallReasons, TheGreatestComesFirstAndSharesAddUp) {
  const std::vector<StallShare> shares = stall_shares(some_profile());
  ASSERT_EQ(shares.size(), 4u);
  EXPECT_STREQ(shares[0].reason->id, "long_scoreboard");
  EXPECT_DOUBLE_EQ(shares[0].share, 4.0 / 7);
  double sum = 0;
  for (const StallShare& share : shares) sum += share.share;
  EXPECT_DOUBLE_EQ(sum, 1);
}

TEST(StallReasons, ASmallShareHasDigits) {
  EXPECT_EQ(share_text(0.571), "57.1 %");
  EXPECT_EQ(share_text(small_share), "0.5 %");
  EXPECT_EQ(share_text(0.0004), "0.04 %");
  EXPECT_EQ(share_text(0), "0.00 %");
}

TEST(StallReasons, WhatIsNotFiniteIsLeftOut) {
  KernelProfile profile = some_profile();
  profile.stalls["barrier"] = unknown;
  profile.stalls["drain"] = -1;
  profile.stalls["membar"] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(stall_shares(profile).size(), 4u);
  EXPECT_DOUBLE_EQ(waiting_warps(profile), 6) << "issuing is no stall";
  EXPECT_DOUBLE_EQ(waiting_warps(profile, "execution dependency"), 2);
  EXPECT_TRUE(std::isnan(waiting_warps(KernelProfile{}))) << "no counters are not zero stalls";
}

TEST(ProfileDifference, RelativeChanges) {
  EXPECT_DOUBLE_EQ(relative_change(2, 1), -0.5);
  EXPECT_DOUBLE_EQ(relative_change(0, 0), 0);
  EXPECT_TRUE(std::isnan(relative_change(0, 1)));
  EXPECT_TRUE(std::isnan(relative_change(unknown, 1)));
  EXPECT_TRUE(std::isnan(relative_change(1, unknown)));
  EXPECT_TRUE(std::isnan(relative_change(1, std::numeric_limits<double>::infinity())));
}

TEST(ProfileDifference, ReadsAsTheSourceStatesIt) {
  EXPECT_EQ(change_text(-0.3785), "\u221237.85 %");
  EXPECT_EQ(change_text(0.5), "+50.00 %");
  EXPECT_EQ(change_text(0), "0.00 %");
  EXPECT_EQ(change_text(-1e-9), "0.00 %");
  EXPECT_EQ(change_text(unknown), "-");
  KernelProfile after = some_profile();
  after.stalls["wait"] = 0.5;
  after.figures["time_ms"] = 0.5;
  EXPECT_EQ(difference_line(some_profile(), after),
            "all stalls \u221216.67 %, execution dependency \u221250.00 %, memory dependency 0.00 %, time of an "
            "evaluation +100.00 %");
  EXPECT_EQ(difference_line(KernelProfile{}, KernelProfile{}), "");
}

TEST(ProfileDifference, HasARowForWhateverOneOfTheTwoHas) {
  KernelProfile after = some_profile();
  after.stalls["barrier"] = 1;
  bool found = false;
  for (const ProfileChange& change : profile_changes(some_profile(), after)) {
    if (change.id != "stall.barrier") continue;
    found = true;
    EXPECT_TRUE(std::isnan(change.before));
    EXPECT_DOUBLE_EQ(change.after, 1);
    EXPECT_TRUE(std::isnan(change.change));
  }
  EXPECT_TRUE(found);
}

TEST(ProfileFigures, TakesCountersByTheirNamesWithUnits) {
  KernelProfile profile;
  const std::vector<std::string> metrics{stall_metric(*find_stall_reason("wait")), "gpu__time_duration.sum",
                                         "sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active",
                                         "dram__bytes.sum"};
  take_counters(profile, metrics, {"evaluation", {2.5, 1e6, 12.0, unknown}});
  EXPECT_DOUBLE_EQ(profile.stall("wait"), 2.5);
  EXPECT_DOUBLE_EQ(profile.figure("part_ms"), 1);
  EXPECT_DOUBLE_EQ(profile.figure("fp16"), 12) << "under the name that older chips have";
  EXPECT_FALSE(profile.figures.contains("dram_bytes"));
}

TEST(ProfileFigures, FollowsFromOthers) {
  KernelProfile profile;
  profile.figures = {{"time_ms", 2}, {"dram_bytes", 500}, {"ffma", 100}, {"fadd", 30}, {"fmul", 20}};
  derive_figures(profile, 1000);
  EXPECT_DOUBLE_EQ(profile.figure("interactions_per_s"), 5e5);
  EXPECT_DOUBLE_EQ(profile.figure("bytes_per_interaction"), 0.5);
  EXPECT_DOUBLE_EQ(profile.figure("flop_per_s"), 125e3);
  EXPECT_DOUBLE_EQ(profile.figure("flop_per_byte"), 0.5);
  KernelProfile without;
  without.figures = {{"time_ms", 2}, {"dram_bytes", 0}};
  derive_figures(without, 1000);
  EXPECT_FALSE(without.figures.contains("flop_per_byte")) << "no traffic gives no place in the plot";
}

TEST(ProfileFigures, HaveWordsAndText) {
  for (const ProfileFigure& figure : profile_figures()) {
    EXPECT_EQ(std::string{figure.sentence}.back(), '.') << figure.id;
    EXPECT_EQ(find_profile_figure(figure.id), &figure);
    EXPECT_EQ(figure_text(figure, unknown), "-");
  }
  EXPECT_EQ(figure_text(*find_profile_figure("issue"), 87.34), "87.3 %");
  EXPECT_EQ(figure_text(*find_profile_figure("time_ms"), 0.1444), "0.144 ms");
  EXPECT_EQ(figure_text(*find_profile_figure("time_ms"), 4139.0), "4.14 s");
  EXPECT_EQ(figure_text(*find_profile_figure("interactions_per_s"), 1.83e12), "1.83 T/s");
  EXPECT_EQ(figure_text(*find_profile_figure("dram_bytes"), 2.5e9), "2.5 GB");
  EXPECT_EQ(figure_text(*find_profile_figure("bytes_per_interaction"), 0.5), "0.5 B");
}

TEST(ProfileJson, RoundTrip) {
  const KernelProfile profile = some_profile();
  const KernelProfile read = profiles_of(Json{{"profiles", {profile_json(profile)}}}).at(0);
  EXPECT_EQ(profile_json(read), profile_json(profile));
  EXPECT_EQ(read.label(), "cuda-tiled block=256");
  EXPECT_EQ(read.missing, profile.missing);
}

TEST(ProfileJson, WhatIsNoProfileIsRefused) {
  for (const Json& json :
       {Json(), Json{{"profiles", 3}}, Json{{"profiles", {Json{{"n", 3}}}}}, Json{{"profiles", {Json{{"kernel", 3}}}}},
        Json{{"profiles", {Json{{"kernel", "a"}, {"stalls", 3}}}}}}) {
    EXPECT_THROW((void)profiles_of(json), std::runtime_error) << json.dump();
  }
  Json future = profile_json(some_profile());
  future["stalls"]["a_reason_of_2030"] = 3;
  future["stalls"]["wait"] = nullptr;
  EXPECT_EQ(profile_of(future).stalls.size(), 3u) << "what it does not know is left out";
}

TEST(ProfileCsv, HasARowForEachNumber) {
  const KernelProfile profile = some_profile();
  KernelProfile before = profile;
  before.figures["time_ms"] = 0.5;
  const auto rows = profile_csv(profile, &before);
  ASSERT_EQ(rows.size(), profile.stalls.size() + profile.figures.size());
  for (const auto& row : rows) EXPECT_EQ(row.size(), profile_columns.size());
  EXPECT_EQ(rows[0][7], "time_ms");
  EXPECT_EQ(rows[0][10], "-0.5");
  EXPECT_EQ(profile_csv(profile, nullptr)[0][10], "");
}

KernelProfile profile_of_kernel(const char* id, const Law& law = {}) {
  const KernelCatalog kernels;
  const Backends backends{kernels};
  const KernelPtr kernel = kernels.find(id);
  return ProfileMeasurement{backends}.measure({kernel, Settings{*kernel}},
                                              {"plummer", load_scene({.scene = "plummer", .count = 1000}).bodies, law});
}

TEST(ProfileOfACpuKernel, HasTheArithmeticOfItsLaw) {
  EXPECT_EQ(profile_of_kernel("cpu-simd").figure("arithmetic"), 16);
  EXPECT_EQ(profile_of_kernel("cpu-symmetric").figure("arithmetic"), 10);
  for (const char* id : {"cpu-serial", "cpu-simd", "cpu-symmetric", "cpu-tree", "cpu-fp64", "cpu-jerk"}) {
    const KernelProfile gravity = profile_of_kernel(id), other = profile_of_kernel(id, {.id = LawId::attract_repel});
    EXPECT_FALSE(other.figure("fma_share") <= 0 || other.figure("fma_share") > 100) << id;
    EXPECT_EQ(other.law.substr(0, 13), "attract-repel") << id;
    if (std::string_view{id} == "cpu-tree") continue;  // groups have expansions under gravity alone
    EXPECT_GT(other.figure("arithmetic"), gravity.figure("arithmetic")) << id;
  }
}

TEST(ProfileOfACpuKernel, SaysWhatItDoesNotCount) {
  KernelProfile profile;
  profile.figures = {{"time_ms", 1}, {"fma_limit_per_s", 1e9}};
  take_arithmetic(profile, unknown, 1000, false);
  EXPECT_TRUE(std::isnan(profile.figure("fma_share")));
  expect_holds(profile.problem, {"does not state its arithmetic"});
  take_arithmetic(profile, 2.5e6, 1000, false);
  EXPECT_EQ(profile.figures.count("fma_share") + profile.figures.count("fma_limit_per_s"), 0u)
      << "2.5 times a limit: no limit";
  expect_holds(profile.problem, {"FMA limit of this processor is not known"});
  profile.figures["fma_limit_per_s"] = 1e9;
  take_arithmetic(profile, 2e5, 1000, true);
  EXPECT_DOUBLE_EQ(profile.figure("arithmetic"), 200);
  EXPECT_DOUBLE_EQ(profile.figure("fma_share"), 20);
  expect_holds(profile.problem, {"neither its build"});
}

TEST(ProfileOfACpuKernel, StatesTheShareOfATreeAndTheWidthOfAScalarKernel) {
  const KernelProfile tree = profile_of_kernel("cpu-tree");
  EXPECT_GE(tree.figure("vector_bits"), 128);
  // Each interaction takes at least the 16 instructions of a pair of bodies; some are of other kinds.
  EXPECT_GT(tree.figure("arithmetic"), 16);
  for (const char* id : {"cpu-serial", "cpu-openmp"}) {
    const KernelProfile scalar = profile_of_kernel(id);
    EXPECT_EQ(scalar.figure("vector_bits"), 32) << id;
    EXPECT_FALSE(scalar.figure("fma_share") <= 0) << id;
  }
}

TEST(ProfileDifference, LeavesOutWhatIsTheMachines) {
  KernelProfile before = some_profile(), after = some_profile();
  before.figures["fma_limit_per_s"] = 1e11;
  after.figures["fma_limit_per_s"] = 1.1e11;
  for (const ProfileChange& change : profile_changes(before, after)) EXPECT_NE(change.id, "fma_limit_per_s");
  const auto rows = profile_csv(after, &before);
  const auto row = std::ranges::find(rows, "fma_limit_per_s", [](const auto& r) { return r[7]; });
  ASSERT_NE(row, rows.end());
  EXPECT_EQ((*row)[10], "");
}

TEST(ProfileOfACpuKernel, HasItsWidthItsThreadsAndItsShareOfTheLimit) {
  const KernelCatalog kernels;
  const Backends backends{kernels};
  const KernelPtr kernel = kernels.find("cpu-simd");
  Scene scene = load_scene({.scene = "plummer", .count = 1000});
  ProfileMeasurement measurement{backends};
  const Variant variant{kernel, Settings{*kernel, {{"threads", "1"}}}};
  const KernelProfile profile = measurement.measure(variant, {"plummer", scene.bodies, {}});
  EXPECT_FALSE(profile.on_gpu);
  EXPECT_TRUE(profile.stalls.empty());
  expect_holds(profile.problem, {"CPU"});
  EXPECT_EQ(profile.figure("threads"), 1);
  EXPECT_GE(profile.figure("vector_bits"), 128);
  EXPECT_GT(profile.figure("time_ms"), 0);
  const double limit = profile.figure("fma_limit_per_s"), share = profile.figure("fma_share");
  if (profile.problem.find("FMA limit of this processor is not known") != std::string::npos) {
    EXPECT_TRUE(std::isnan(limit) && std::isnan(share)) << "no limit is shown that was exceeded";
  } else {  // how large the share is depends on what else the machine does
    EXPECT_GT(limit, 0);
    EXPECT_GT(share, 0);
    EXPECT_LE(share, 100);
  }
  EXPECT_THROW(measurement.mark(variant, {"plummer", scene.bodies, {}}), UsageError);
}

TEST(ProfileDifference, NamesTheVersionsOfAKernelFile) {
  const KernelProfile before{.kernel_id = "mine", .settings = "block=64", .kernel_version = 2, .scene = "plummer"};
  KernelProfile after = before;
  after.kernel_version = 3;
  EXPECT_EQ(after.label(), "mine v3 block=64");
  EXPECT_EQ(label_against(before, after), "mine v2 block=64");
}

TEST(ProfileDifference, NamesTheSystemOfTheEarlierOneIfItIsAnother) {
  KernelProfile before{.kernel_id = "cuda-tiled", .scene = "plummer", .count = 4096, .law = "gravity, softening 0.05"};
  KernelProfile after = before;
  after.kernel_id = "cuda-naive";
  EXPECT_EQ(label_against(before, after), "cuda-tiled");
  before.law.clear();
  EXPECT_EQ(label_against(before, after), "cuda-tiled") << "of an older version";
  after.law = "attract-repel, softening 0.05, repulsion 0.002";
  before.law = "gravity, softening 0.05";
  EXPECT_EQ(label_against(before, after), "cuda-tiled (plummer, 4,096 bodies, gravity, softening 0.05)");
  after = before;
  after.count = 100;
  EXPECT_NE(label_against(before, after), "cuda-tiled");
}

}  // namespace
}  // namespace orrery::test
