#include <fmt/format.h>

#include <limits>

#include "app/features/sweep/sweep_commands.h"
#include "app/features/sweep/sweep_tab.h"
#include "app/panels/shown_words.h"
#include "app/ui_state/window_commands.h"
#include "tests/app/panels/panels_fixture.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

TEST_F(Panels, LetThePictureKeepClearOfTheLaboratory) {
  const auto visible = [this] { return ImGui::GetIO().DisplaySize.y - state.lab.covered; };
  settle();
  const float few = state.lab.covered;
  EXPECT_GT(few, 0);
  EXPECT_LE(visible(), ui_marked("lab.results").y0);
  view.results.assign(5, tried("some-kernel", "block=64"));
  settle();
  EXPECT_LE(visible(), ui_marked("result.0").y0);
  const float most = state.lab.covered;
  view.results.clear();
  settle();
  EXPECT_EQ(state.lab.covered, most) << "or the picture would move with every tab";
  click("lab.fold");
  settle();
  EXPECT_LT(state.lab.covered, few);
  EXPECT_LE(visible(), ui_marked("lab.results").y0);
  view.panel = false;
  settle();
  EXPECT_EQ(state.lab.covered, 0);
}

TEST_F(Panels, FoldTheLaboratory) {
  view.results = {tried("some-kernel", "block=64")};
  settle();
  EXPECT_TRUE(click("lab.fold").empty());
  settle();
  EXPECT_FALSE(seen("result.0"));
  EXPECT_TRUE(click("lab.results").empty());
  settle();
  EXPECT_TRUE(seen("result.0"));
}

/// `rate` is n^2 per step; fewer interactions than that, as a tree evaluates, are no less speed.
Result tried_with_error(const std::string& kernel_id, double error, double rate) {
  Result result = tried(kernel_id, "block=64");
  result.error = ForceError{.rms = error, .median = error, .p99 = error, .max = error};
  const double bodies = result.count;
  result.step_ms.median = 1e3 * bodies * bodies / rate;
  result.interactions_per_s = 1e15 / rate;
  return result;
}

TEST_F(Panels, NameSettingsThatWereChangedFirst) {
  EXPECT_EQ(changes_first(tried("cpu-tree", "group=32 leaf=16 order=monopole theta=0.5 threads=auto"), view.kernels),
            "order=monopole theta=0.5 group=32 leaf=16 threads=auto");
  EXPECT_EQ(changes_first(tried("of-another-build", "b=1 c=2"), view.kernels), "b=1 c=2");
  EXPECT_EQ(changes_first(tried("cpu-serial", ""), view.kernels), "");
}

TEST_F(Panels, ReturnToADotOfThePlot) {
  view.results = {tried_with_error("one", 1e-7, 1e9), tried_with_error("two", 1e-5, 1e10), tried("three", "")};
  view.results.push_back(tried_with_error("four", std::numeric_limits<double>::quiet_NaN(), 1e10));
  open_tab("speed-error");
  EXPECT_TRUE(seen("dot.0") && seen("dot.1"));
  EXPECT_FALSE(seen("dot.2") || seen("dot.3")) << "their errors are not known";
  EXPECT_LT(ui_marked("dot.0").x0, ui_marked("dot.1").x0);
  EXPECT_GT(ui_marked("dot.0").y0, ui_marked("dot.1").y0);
  EXPECT_EQ(only<ReturnToRun>(click("dot.1")).run.kernel_id, "two");
}

TEST_F(Panels, ChooseHowManyBodiesAreCompared) {
  open_tab("speed-error");
  EXPECT_EQ(only<SetDiagnostics>(pick("probe", "1024")).sample, 1024);
  EXPECT_EQ(only<SetDiagnostics>(pick("probe", "off")).probe, false);
  view.diagnostics.probe = false;
  EXPECT_EQ(only<SetDiagnostics>(pick("probe", "automatic")).probe, true);
}

TEST_F(Panels, LetResultsOfAnotherCountStandOut) {
  view.results = {tried_with_error("one", 1e-7, 1e9), tried_with_error("two", 1e-5, 1e10)};
  view.results[1].count = 4096;
  open_tab("speed-error");
  EXPECT_TRUE(pick("plotted", "4096").empty());
  EXPECT_EQ(state.lab.plotted_count, 4096);
  pick("plotted", "present");
  EXPECT_EQ(state.lab.plotted_count, 0);
}

Measurement swept(const char* block, double median_ms, int first, int last) {
  Measurement row;
  row.kernel_id = "tiled";
  row.values = {{"block", block}, {"split", "2"}};
  row.settings = std::string{"block="} + block + " split=2";
  row.count = 1000;
  row.step_ms.median = median_ms;
  row.step_ms.low = median_ms - 0.01;
  row.step_ms.high = median_ms + 0.01;
  row.interactions_per_s = 1e9;
  row.rank.first = first;
  row.rank.last = last;
  return row;
}

TEST_F(Panels, StartAndStopASweep) {
  KernelPtr tunable;
  for (const KernelPtr& kernel : test::kernels()) {
    if (!kernel->tunables.empty()) tunable = kernel;
  }
  ASSERT_NE(tunable, nullptr);
  select(tunable);
  open_tab("sweep");
  const auto close = [&] { click("lab.sweep"); };  // beside the list that is open
  std::vector<std::string> all, ticked{tunable->tunable("block") ? "block" : tunable->tunables.front().name};
  for (const Tunable& each : tunable->tunables) {
    all.emplace_back(each.name);
    if (each.name == ticked.front()) continue;
    EXPECT_TRUE(pick("sweep.what", each.name).empty());
    close();
  }
  auto sweep = only<StartSweep>(click("sweep.start"));
  EXPECT_EQ(sweep.tunables, all) << "every combination";
  EXPECT_TRUE(sweep.kernels.empty() && sweep.counts.empty());
  for (const Tunable& each : tunable->tunables) {
    if (each.name == ticked.front()) continue;
    pick("sweep.what", each.name);
    close();
  }
  EXPECT_EQ(only<StartSweep>(click("sweep.start")).tunables, ticked);

  select(test::find_kernel("cpu-openmp"));
  const std::size_t variants = test::find_kernel("cpu-openmp")->tunable("threads")->values_to_measure().size();
  EXPECT_NE(lab_text().find(fmt::format("Sweep threads: {} variants", variants)), std::string::npos) << lab_text();

  state.lab.drafts.of<SweepDraft>().counts = "4k, 16k,1000";
  pick("sweep.what", "kernels");
  sweep = only<StartSweep>(click("sweep.start"));
  EXPECT_EQ(sweep.counts, (std::vector{4096, 16384, 1000}));
  EXPECT_TRUE(sweep.tunables.empty());
  EXPECT_EQ(sweep.kernels, std::vector<std::string>{"all"});
  state.lab.drafts.of<SweepDraft>().counts = "4k,many";
  EXPECT_TRUE(click("sweep.start").empty());

  view.sweep = {.active = true,
                .present = "tiled block=64",
                .done = 2,
                .total = 6,
                .left_s = 12,
                .rows = {},
                .files = {},
                .error = {}};
  settle();
  EXPECT_FALSE(seen("sweep.start"));
  only<StopSweep>(click("sweep.stop"));
}

TEST_F(Panels, ApplyTheBestOfASweepAndSayWhatIsNotToldApart) {
  view.sweep.rows = {swept("128", 2, 3, 3), swept("256", 1.01, 1, 2), swept("512", 1, 1, 2)};
  view.sweep.rows.push_back(swept("32", 0.1, 1, 1));
  view.sweep.rows.back().count = 16;  // another number of bodies
  view.sweep.files = {"sweep.csv"};
  open_tab("sweep");
  EXPECT_EQ(only<SelectKernel>(click("sweep.apply")).settings, view.sweep.rows[1].values) << "the smaller of equals";
  for (const char* part : {"block 256", "block 512", "sweep.csv"}) {
    EXPECT_NE(lab_text().find(part), std::string::npos) << part << " in " << lab_text();
  }
  EXPECT_EQ(only<ReturnToRun>(click("sweep.row.0")).run.settings, view.sweep.rows[2].values) << "the fastest first";
  EXPECT_EQ(only<ReturnToRun>(click("sweep.row.2")).run.settings, view.sweep.rows[0].values);
  status.count = 5;
  settle();
  EXPECT_FALSE(seen("sweep.apply"));
}

TEST_F(Panels, ApplyTheDefaultOfASweepAmongEquals) {
  select(test::find_kernel("cpu-simd"));
  for (const char* threads : {"1", "auto", "32", "2"}) {
    Measurement row = swept("", 1, 1, 4);
    row.kernel_id = "cpu-simd";
    row.values = {{"rows", "auto"}, {"threads", threads}};
    row.step_ms.median -= 0.01 * static_cast<double>(view.sweep.rows.size());
    view.sweep.rows.push_back(row);
  }
  open_tab("sweep");
  EXPECT_EQ(only<SelectKernel>(click("sweep.apply")).settings.at("threads"), "auto");
  view.sweep.rows[1].rank.first = 2;
  settle();
  EXPECT_EQ(only<SelectKernel>(click("sweep.apply")).settings.at("threads"), "1");
  view.sweep.rows[0].problem.text = "it failed";
  settle();
  EXPECT_EQ(only<SelectKernel>(click("sweep.apply")).settings.at("threads"), "2");
  EXPECT_EQ(only<SelectKernel>(click("sweep.row.3")).settings.at("threads"), "1") << "failures come last";
}

TEST_F(Panels, SayWhyAVariantOfASweepWasNotMeasured) {
  view.sweep.rows = {swept("128", 2, 1, 1), swept("1024", 0, 0, 0)};
  view.sweep.rows[1].problem.text = "too many registers";
  view.sweep.error = "cannot write the file";
  open_tab("sweep");
  EXPECT_NE(lab_text().find("failed"), std::string::npos);
  EXPECT_NE(lab_text().find("cannot write the file"), std::string::npos);
}

/// A kernel of this build with a tunable `block`; null where there is none.
KernelPtr blocky_kernel() {
  for (const KernelPtr& kernel : test::kernels()) {
    if (kernel->tunable("block")) return kernel;
  }
  return nullptr;
}

TEST_F(Panels, ShowTheCardOfACpuKernelOnceItWasProfiled) {
  open_tab("card");
  settle();
  EXPECT_FALSE(seen("card.fma"));
  KernelProfile profile{.kernel_id = status.kernel_id, .settings = status.settings.changes(), .scene = "plummer"};
  profile.figures = {{"vector_bits", 256}, {"threads", 8}, {"fma_limit_per_s", 4e11}, {"fma_share", 62.5}};
  profile.count = 16384;
  KernelProfile other = profile;
  other.kernel_id = "another";
  view.profile.profiles = {profile, other};
  settle();
  EXPECT_TRUE(seen("card.fma"));
  const std::string words = lab_text();
  for (const char* part : {"256 bit", "62 %", "FMA limit"}) {
    EXPECT_NE(words.find(part), std::string::npos) << part << " is not in " << words;
  }
}

TEST_F(Panels, ShowTheKernelCardAndApplyItsBlock) {
  open_tab("card");
  EXPECT_TRUE(seen("card.none"));
  const KernelPtr kernel = blocky_kernel();
  if (!kernel) GTEST_SKIP() << "no kernel of this build has blocks";
  select(kernel);
  status.settings.set("block", "256");
  KernelCard card;
  card.registers = 47;
  card.occupancy = 0.375;
  card.best_block = 512;
  card.best_occupancy = 0.5;
  status.card = card;
  settle();
  EXPECT_NE(lab_text().find("47"), std::string::npos);
  const auto set = only<SetTunable>(click("card.block"));
  EXPECT_EQ(set.name, "block");
  EXPECT_EQ(set.value, "512");
}

/// A CUDA kernel that was measured at 1e12 interactions/s.
void run_with_card(Status& status, ViewStatus& view) {
  status.card = KernelCard{};
  status.interactions_per_step = 1e9;
  view.step_ms_median = 1;
  view.measured = 1;
}

TEST_F(Panels, ShowSharesOfLimitsOnlyWhereTheyAreKnown) {
  run_with_card(status, view);
  open_tab("card");
  EXPECT_EQ(lab_text().find("43 %"), std::string::npos);
  view.peak_rates = PeakRates{.fma_per_s = 30e12, .rsqrt_per_s = 4e12, .clock_mhz = 1755};
  EXPECT_EQ(lab_text().find("25 %"), std::string::npos);
  view.instructions_per_interaction = 13;
  view.mufu_per_interaction = 1;
  const std::string words = lab_text();
  EXPECT_NE(words.find("43 %"), std::string::npos) << words;
  EXPECT_NE(words.find("25 %"), std::string::npos) << words;
  EXPECT_NE(words.find("1755 MHz, as measured"), std::string::npos) << words;
  view.measured = 0;
  EXPECT_EQ(lab_text().find("25 %"), std::string::npos);
}

TEST_F(Panels, TakeTheLimitsAtTheClockInForce) {
  run_with_card(status, view);
  view.peak_rates = PeakRates{.fma_per_s = 30e12, .rsqrt_per_s = 4e12, .clock_mhz = 1500};
  view.instructions_per_interaction = 13;
  view.mufu_per_interaction = 1;
  view.clock_mhz = 1000;
  open_tab("card");
  const std::string words = lab_text();
  for (const char* number : {"65 %", "38 %", "1000 MHz"}) EXPECT_NE(words.find(number), std::string::npos) << words;
  EXPECT_EQ(words.find("as measured"), std::string::npos) << words;
}

TEST_F(Panels, ShowNoShareOfInstructionsThatIssueAtAnotherRate) {
  run_with_card(status, view);
  view.peak_rates = PeakRates{.fma_per_s = 30e12, .rsqrt_per_s = 4e12, .clock_mhz = 1755};
  view.instructions_per_interaction = 13;
  view.instructions_double = true;
  open_tab("card");
  EXPECT_EQ(lab_text().find("43 %"), std::string::npos);
  EXPECT_NE(lab_text().find("double precision"), std::string::npos);
}

TEST_F(Panels, PlotWhatIsConserved) {
  open_tab("conservation");
  EXPECT_EQ(only<SetDiagnostics>(pick("conserved", "2 s")).conserved_interval_s, 2);
  view.diagnostics.conserved_interval_s = 2;
  view.conserved_interval_s = 7;
  for (int i = 0; i < 3; ++i) {
    ConservedProbe probe{.step = i, .sim_time = 0.5 * i, .sums = {}, .ms = 700};
    probe.sums.kinetic = 1 + 0.01 * i;
    probe.sums.potential = -2;
    view.conserved_history.push_back(probe);
  }
  status.conserved = view.conserved_history.back();
  settle();
  const std::string words = lab_text();
  EXPECT_NE(words.find("700 ms"), std::string::npos) << words;
  EXPECT_NE(words.find("7 s"), std::string::npos) << words;
  for (const char* chart : {"energy", "energies", "momentum", "angular", "virial"}) {
    EXPECT_TRUE(seen(std::string{"chart."} + chart)) << chart;
  }
  view.conserved_gap_s = 14;
  for (const char* part : {"700 ms", "5.0 %", "14 s"}) {
    EXPECT_NE(lab_text().find(part), std::string::npos) << part << " in " << lab_text();
  }
}

TEST_F(Panels, OfferSumsThatTakeLongOnceAnyway) {
  view.diagnostics.conserved_interval_s = 2;
  open_tab("conservation");
  EXPECT_FALSE(seen("conserved.once"));
  view.conserved_withheld_s = 42;
  settle();
  EXPECT_NE(lab_text().find("42 s"), std::string::npos) << lab_text();
  only<MeasureConserved>(click("conserved.once"));
}

TEST_F(Panels, OfferTheWaysOnFromAFault) {
  status.non_finite = NonFinite{.step = 40, .body = 7};
  settle();
  EXPECT_TRUE(seen("non-finite") && seen("non-finite.keys"));
  EXPECT_FALSE(seen("non-finite.restore"));
  only<Reset>(click("non-finite.reset"));
  status.checkpoint_step = 30;
  settle();
  only<RestoreCheckpoint>(click("non-finite.restore"));
}

}  // namespace
}  // namespace orrery::test
