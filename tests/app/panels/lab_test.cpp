#include <fmt/format.h>

#include "app/features/compare/compare.h"
#include "app/features/profile/profile.h"
#include "app/features/sweep/sweep.h"
#include "app/features/workshop/workshop.h"
#include "app/panels/sections.h"
#include "app/panels/shown_words.h"
#include "app/ui_state/window_commands.h"
#include "tests/app/panels/panels_fixture.h"
#include "tests/app/support/test.h"
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
  for (const KernelPtr& kernel : kernels()) {
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

  select(find_kernel("cpu-openmp"));
  const std::size_t variants = find_kernel("cpu-openmp")->tunable("threads")->values_to_measure().size();
  expect_holds(lab_text(), {fmt::format("Sweep threads: {} variants", variants)});

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
  expect_holds(lab_text(), {"block 256", "block 512", "sweep.csv"});
  EXPECT_EQ(only<ReturnToRun>(click("sweep.row.0")).run.settings, view.sweep.rows[2].values) << "the fastest first";
  EXPECT_EQ(only<ReturnToRun>(click("sweep.row.2")).run.settings, view.sweep.rows[0].values);
  status.count = 5;
  settle();
  EXPECT_FALSE(seen("sweep.apply"));
}

TEST_F(Panels, ApplyTheDefaultOfASweepAmongEquals) {
  select(find_kernel("cpu-simd"));
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
  expect_holds(lab_text(), {"failed", "cannot write the file"});
}

/// A kernel of this build with a tunable `block`; null where there is none.
KernelPtr blocky_kernel() {
  for (const KernelPtr& kernel : kernels()) {
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
  view.features.of<ProfileStatus>().profiles = {profile, other};
  settle();
  EXPECT_TRUE(seen("card.fma"));
  expect_holds(lab_text(), {"256 bit", "62 %", "FMA limit"});
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
  expect_holds(lab_text(), {"47"});
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
  expect_lacks(lab_text(), {"43 %"});
  view.peak_rates = PeakRates{.fma_per_s = 30e12, .rsqrt_per_s = 4e12, .clock_mhz = 1755};
  expect_lacks(lab_text(), {"25 %"});
  view.instructions_per_interaction = 13;
  view.mufu_per_interaction = 1;
  expect_holds(lab_text(), {"43 %", "25 %", "1755 MHz, as measured"});
  view.measured = 0;
  expect_lacks(lab_text(), {"25 %"});
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
  expect_lacks(words, {"as measured"});
}

TEST_F(Panels, ShowNoShareOfInstructionsThatIssueAtAnotherRate) {
  run_with_card(status, view);
  view.peak_rates = PeakRates{.fma_per_s = 30e12, .rsqrt_per_s = 4e12, .clock_mhz = 1755};
  view.instructions_per_interaction = 13;
  view.instructions_double = true;
  open_tab("card");
  expect_lacks(lab_text(), {"43 %"});
  expect_holds(lab_text(), {"double precision"});
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
  expect_holds(lab_text(), {"700 ms", "7 s"});
  for (const char* chart : {"energy", "energies", "momentum", "angular", "virial"}) {
    EXPECT_TRUE(seen(std::string{"chart."} + chart)) << chart;
  }
  view.conserved_gap_s = 14;
  expect_holds(lab_text(), {"700 ms", "5.0 %", "14 s"});
}

TEST_F(Panels, OfferSumsThatTakeLongOnceAnyway) {
  view.diagnostics.conserved_interval_s = 2;
  open_tab("conservation");
  EXPECT_FALSE(seen("conserved.once"));
  view.conserved_withheld_s = 42;
  settle();
  expect_holds(lab_text(), {"42 s"});
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

// The table of results.

TEST_F(Panels, ReturnToARowOfTheResults) {
  view.results = {tried(status.kernel_id, status.settings.to_string()), tried("some-kernel", "block=64 split=auto")};
  settle();
  EXPECT_TRUE(click("result.0").empty()) << "this is what runs now";
  const RunSetup run = only<ReturnToRun>(click("result.1")).run;
  EXPECT_EQ(run.kernel_id, "some-kernel");
  EXPECT_EQ(run.settings, (Settings::Values{{"block", "64"}, {"split", "auto"}}));
}

TEST_F(Panels, ShowTheVersionOfAKernelFileAndReturnToIt) {
  Result first = tried("mine", "");
  first.kernel_revision = first.kernel_version = 1;
  Result third = first;
  third.kernel_revision = 2;  // the second text did not compile
  third.kernel_version = 3;
  view.results = {first, third};
  settle();
  expect_holds(lab_text(), {"mine v1", "mine v3"});
  EXPECT_EQ(only<ReturnToRun>(click("result.0")).run.kernel_revision, 1);
}

TEST_F(Panels, ReturnToEverythingOfARow) {
  Result other = tried("some-kernel", "");
  other.law = {.id = LawId::attract_repel, .softening = 0.5f, .drag = 1e-3f};
  other.integrator_id = "euler";
  other.time_step = 0.0355f;
  other.scene = {.scene = "disc", .count = 500, .seed = 7};
  other.count = 500;
  other.error = ForceError{.rms = 1, .median = 1e-7, .p99 = 1, .max = 1};
  view.results = {other};
  const auto expect_all = [&](const RunSetup& run) {
    EXPECT_EQ(run.scene, other.scene);
    EXPECT_EQ(run.physics, (Physics{"euler", other.law, 0.0355f}));
    EXPECT_EQ(run.kernel_id, "some-kernel");
  };
  settle();
  expect_all(only<ReturnToRun>(click("result.0")).run);
  open_tab("speed-error");
  expect_all(only<ReturnToRun>(click("dot.0")).run);
  Measurement row;
  static_cast<Trial&>(row) = other;
  view.sweep.rows = {row};
  open_tab("sweep");
  expect_all(only<ReturnToRun>(click("sweep.row.0")).run);
}

TEST_F(Panels, AnotherTimeStepIsAnotherRun) {
  view.results = {tried(status.kernel_id, status.settings.to_string())};
  view.results[0].time_step *= 2;
  settle();
  EXPECT_EQ(only<ReturnToRun>(click("result.0")).run.physics.time_step, view.results[0].time_step);
}

TEST_F(Panels, PinTheBaselineOfSpeedUps) {
  view.results = {tried("one", ""), tried("two", "")};
  view.results[1].speedup = 2.5;
  settle();
  expect_holds(lab_text(), {"2.50"});
  PinResult pin = only<PinResult>(click("pin.1"));
  EXPECT_EQ(pin.row, 1);
  EXPECT_TRUE(pin.pinned);
  view.results[1].pinned = true;
  settle();
  pin = only<PinResult>(click("pin.1"));
  EXPECT_FALSE(pin.pinned);
}

TEST_F(Panels, ShowMedianP99AndMaximumOfErrorsWhereThereIsRoom) {
  view.results = {tried("some-kernel", "")};
  view.results[0].error = ForceError{1e-3, 3.1e-7, 4.2e-6, 5.3e-5};
  for (const float width : {1280.0f, 1920.0f}) {
    ImGui::GetIO().DisplaySize.x = width;
    settle();
    const std::string words = lab_text();
    for (const char* number : {"3.1e-7", "4.2e-6", "5.3e-5"}) EXPECT_NE(words.find(number), std::string::npos) << words;
  }
  ImGui::GetIO().DisplaySize.x = 1000;
  settle();
  expect_lacks(lab_text(), {"4.2e-6"});
  expect_holds(lab_text(), {"3.1e-7"});
}

TEST_F(Panels, NameLawAndIntegratorWhereRowsDifferInThem) {
  view.results = {tried("one", ""), tried("two", "")};
  settle();
  expect_lacks(lab_text(), {"leapfrog"});
  view.results[1].integrator_id = "euler";
  settle();
  expect_holds(lab_text(), {"leapfrog"});
  expect_lacks(lab_text(), {"gravity"});
}

TEST_F(Panels, NameTheSceneWhereRowsDifferInIt) {
  view.results = {tried("one", ""), tried("two", ""), tried("three", "")};
  settle();
  expect_lacks(lab_text(), {"collision"});
  view.results[1].scene.scene = "plummer";
  view.results[2].scene.file = "/data/sky.bin";
  settle();
  expect_holds(lab_text(), {"scene", "collision", "plummer", "| sky.bin"});
}

TEST_F(Panels, ShowSettingsWholeRatherThanEveryError) {
  view.results = {tried("one", "block=64")};
  settle();
  expect_holds(lab_text(), {"p99"});
  view.results.push_back(tried("two", "group=64 leaf=32 order=monopole theta=0.5 threads=auto"));
  settle();
  expect_holds(lab_text(), {"order=monopole theta=0.5 threads=auto"});
  expect_lacks(lab_text(), {"p99"});
}

TEST_F(Panels, ShortenSettingsThatTheirColumnDoesNotHold) {
  view.results = {tried("one", "block=64"), tried("two", "group=64 leaf=32 order=monopole theta=0.5 threads=auto")};
  resize(1000, 1400, 1);
  settle();
  expect_holds(lab_text(), {"block=64"});
  expect_lacks(lab_text(), {"threads=auto"});
  expect_holds(lab_text(), {"\u2026"});
}

TEST_F(Panels, ShowTheErrorBesideTheTime) {
  expect_lacks(side_column_text(), {"e-7"});
  status.force_probe = ForceProbe{.step = 3, .sample = 256, .error = {1e-3, 3.1e-7, 4.2e-6, 5.3e-5}, .ms = 0.1};
  const std::string text = side_column_text();
  for (const char* number : {"3.1e-7", "4.2e-6", "5.3e-5"}) EXPECT_NE(text.find(number), std::string::npos) << text;
  view.results = {tried("some-kernel", "")};
  expect_lacks(lab_text(), {"e-7"});
  view.results[0].error = status.force_probe->error;
  expect_holds(lab_text(), {"3.1e-7"});
}

/// The rows of the results from the top.
std::vector<int> shown_order(int count) {
  std::vector<int> rows;
  for (int i = 0; i < count; ++i) rows.push_back(i);
  std::ranges::sort(rows, {}, [](int row) { return ui_marked("result." + std::to_string(row)).y0; });
  return rows;
}

TEST_F(Panels, SortTheResultsByAClickOnAColumnsHead) {
  using Order = std::vector<int>;
  view.results = {tried("b", ""), tried("a", ""), tried("c", ""), tried("a", "")};
  const std::array times{3.0, 1.0, 2.0, 1.0};
  for (std::size_t i = 0; i < times.size(); ++i) view.results[i].step_ms.median = times[i];
  view.results[2].error = ForceError{1e-3, 3e-7, 4e-6, 5e-5};
  view.results[0].error = ForceError{1e-3, 2e-7, 4e-6, 5e-5};
  view.results[1].pinned = true;
  settle();
  const auto sort_by = [&](const char* head) {
    click(head);
    settle();
    return shown_order(4);
  };
  EXPECT_EQ(shown_order(4), (Order{0, 1, 2, 3}));
  EXPECT_EQ(sort_by("results.by.0"), (Order{1, 3, 0, 2})) << "kernel; equal ones in the order of the runs";
  EXPECT_EQ(sort_by("results.by.0"), (Order{2, 0, 1, 3}));
  EXPECT_EQ(sort_by("results.by.0"), (Order{0, 1, 2, 3})) << "the order of the runs again";
  EXPECT_EQ(sort_by("results.by.3"), (Order{1, 3, 2, 0})) << "time";
  EXPECT_EQ(only<PinResult>(click("pin.1")).row, 1) << "the row is itself wherever it is shown";
  EXPECT_EQ(only<ReturnToRun>(click("result.2")).run.kernel_id, "c");
  EXPECT_EQ(sort_by("results.by.5"), (Order{0, 2, 1, 3})) << "error; unknown ones last";
  EXPECT_EQ(sort_by("results.by.5"), (Order{2, 0, 1, 3})) << "and also in the other direction";
}

TEST_F(Panels, ExportAndClearTheResults) {
  view.results = {tried("some-kernel", "block=64")};
  settle();
  only<ExportResults>(click("results.export"));
  only<SaveReport>(click("results.report"));
  only<ClearResults>(click("results.clear"));
}

// The tab Compare, and the captions of two runs.

CompareStatus two_runs() {
  CompareStatus compare;
  compare.active = true;
  compare.with.kernel = "cpu-tree";
  compare.with.settings = {{"theta", "0.5"}};
  compare.runs = {ComparedRun{"cpu-simd", 1.5, 2e9}, ComparedRun{"cpu-tree", 0, 0}};
  for (int i = 0; i < 20; ++i) {
    const double time = 0.5 * i;
    compare.samples.push_back({.steps = {i, i},
                               .time = time,
                               .distances = {.rms = 2e-6 * i, .median = 1e-6 * i, .greatest = 1e-5 * i},
                               .energy_error = {1e-6, std::nullopt}});
  }
  compare.time = compare.samples.back().time;
  compare.growth = {.kind = Growth::Kind::exponential, .e_folding_time = 2.31, .at_zero = 1e-6, .begin = 1, .end = 9};
  return compare;
}

TEST_F(Panels, ShowThePickedBodyBelowTheCaptionsOfAComparison) {
  view.panel = true;
  view.picked = PickedBody{.number = 12, .place = {{0.5f, 0.5f}}};
  for (const CompareLayout layout : {CompareLayout::side, CompareLayout::over}) {
    view.features.of<CompareStatus>() = two_runs();
    view.features.of<CompareStatus>().layout = layout;
    settle();
    ASSERT_TRUE(seen("picked"));
    EXPECT_GT(ui_marked("picked").y0, ui_marked("compare.caption.A").y1);
    if (layout == CompareLayout::over) {
      EXPECT_GT(ui_marked("picked").y0, ui_marked("compare.caption.B").y1);
    }
  }
}

TEST_F(Panels, StartAComparisonFromHere) {
  open_tab("compare");
  settle();
  EXPECT_FALSE(seen("compare.end"));
  const auto as_it_is = only<CompareWith>(click("compare.start"));
  EXPECT_EQ(as_it_is.kernel, status.kernel_id);
  EXPECT_EQ(as_it_is.settings, status.settings.values()) << "as A";
  EXPECT_FALSE(as_it_is.time_step);
  EXPECT_TRUE(pick("compare.kernel", "cpu-tree").empty()) << "only the button starts it";
  (void)pick("compare.dt", "1/2");
  (void)pick("compare.integrator", "Semi-implicit Euler");
  (void)pick("compare.nudge", "1e-5");
  (void)click("compare.settings");
  (void)type("theta=0.5, leaf=8");
  const auto asked = only<CompareWith>(click("compare.start"));
  EXPECT_EQ(asked.kernel, "cpu-tree");
  EXPECT_EQ(asked.settings, (Settings::Values{{"leaf", "8"}, {"theta", "0.5"}}));
  EXPECT_FLOAT_EQ(asked.time_step.value(), 0.5f * status.time_step);
  EXPECT_EQ(asked.nudge, 1e-5);
}

TEST_F(Panels, CompareWithAnEarlierVersionOfAKernelFile) {
  KernelInfo latest = *status.kernel;
  latest.file_version = 3;
  status.kernel = std::make_shared<const KernelInfo>(latest);
  std::ranges::replace_if(
      view.kernels, [&](const KernelPtr& kernel) { return status.kernel_id == kernel->id; }, status.kernel);
  view.features.of<WorkshopStatus>().versions = {{.number = 2, .time = "12:00:00", .kernel = status.kernel_id + "@2"},
                                                 {.number = 3, .time = "12:01:00", .kernel = status.kernel_id + "@3"}};
  open_tab("compare");
  settle();
  const auto as_a = only<CompareWith>(click("compare.start"));
  EXPECT_EQ(as_a.kernel, status.kernel_id + "@3");
  EXPECT_EQ(as_a.nudge, 1e-6) << "nothing differs";
  (void)pick("compare.kernel", status.kernel_id + "@2");
  const auto asked = only<CompareWith>(click("compare.start"));
  EXPECT_EQ(asked.kernel, status.kernel_id + "@2");
  EXPECT_EQ(asked.nudge, 0);
}

TEST_F(Panels, CompareWithANudgeIfNothingElseDiffers) {
  open_tab("compare");
  settle();
  EXPECT_TRUE(seen("compare.as-a"));
  EXPECT_EQ(only<CompareWith>(click("compare.start")).nudge, 1e-6) << "or the plots would be empty";
  (void)pick("compare.dt", "1/2");
  EXPECT_FALSE(seen("compare.as-a"));
  EXPECT_EQ(only<CompareWith>(click("compare.start")).nudge, 0) << "the time step differs";
  (void)pick("compare.dt", "as A");
  (void)pick("compare.kernel", status.kernel_id);
  EXPECT_EQ(only<CompareWith>(click("compare.start")).nudge, 1e-6) << "it is the kernel of A";
  (void)pick("compare.kernel", "cpu-tree");
  const auto asked = only<CompareWith>(click("compare.start"));
  EXPECT_EQ(asked.nudge, 0);
  view.features.of<CompareStatus>().active = true;
  view.features.of<CompareStatus>().with = asked;
  settle();
  EXPECT_FALSE(state.lab.drafts.of<CompareDraft>().nudge) << "it was not chosen";
  view.features.of<CompareStatus>() = {};
  (void)pick("compare.kernel", status.kernel_id);
  (void)pick("compare.nudge", "none");
  EXPECT_EQ(only<CompareWith>(click("compare.start")).nudge, 0) << "as it was chosen";
}

TEST_F(Panels, ShowAComparisonAndEndIt) {
  view.features.of<CompareStatus>() = two_runs();
  open_tab("compare");
  settle();
  EXPECT_EQ(state.lab.drafts.of<CompareDraft>().kernel, "cpu-tree") << "what a script has asked for";
  EXPECT_TRUE(seen("compare.caption.A") && seen("compare.caption.B"));
  EXPECT_TRUE(seen("chart.compare.distance") && seen("chart.compare.energy"));
  expect_holds(lab_text(), {"e-folding time 2.31"});
  EXPECT_EQ(only<SetCompareLayout>(click("compare.layout.over")).layout, CompareLayout::over);
  EXPECT_FALSE(only<CompareWith>(click("compare.end")).kernel);
}

TEST_F(Panels, CaptionsHaveWholeNumbersOrNone) {
  view.features.of<CompareStatus>() = two_runs();
  view.features.of<CompareStatus>().runs[1] = {"cpu-tree group=64 leaf=32 order=monopole theta=0.5 euler dt=0.0025",
                                               12.25, 1e9};
  const auto caption = [this](float width) {
    resize(width, 700, 1);
    view.features.of<CompareStatus>().left = 0;
    view.features.of<CompareStatus>().split = 0.5f;
    settle();
    ImGui::NewFrame();
    ImGui::Begin("Around the captions");
    ImGui::LogToClipboard();  // until the end of the first window, which is the caption of B
    tab_captions(view, state);
    ImGui::LogFinish();
    ImGui::End();
    ImGui::Render();
    return std::string{ImGui::GetClipboardText()};
  };
  for (float width = 300; width < 2000; width += 50) {
    const std::string words = caption(width);
    const bool none = words.find("12") == std::string::npos;
    EXPECT_TRUE(none || words.find("12.2 ms per step") != std::string::npos) << width << ": " << words;
    EXPECT_FALSE(none && width >= 700) << words;
    EXPECT_TRUE(none || width >= 400) << words;
  }
}

TEST_F(Panels, ShowAComparisonInAnyWindow) {
  view.features.of<CompareStatus>() = two_runs();
  view.features.of<CompareStatus>().samples.back().distances = {.rms = NAN, .median = NAN, .greatest = NAN};
  for (const CompareLayout layout : {CompareLayout::side, CompareLayout::over}) {
    view.features.of<CompareStatus>().layout = layout;
    for (const auto& [width, height] :
         {std::pair{320.0f, 200.0f}, std::pair{700.0f, 500.0f}, std::pair{2500.0f, 900.0f}}) {
      resize(width, height, 1);
      state.lab.tab = "compare";
      state.lab.folded = false;
      settle();
    }
  }
  view.features.of<CompareStatus>().samples.clear();
  settle();
}

// Profiles in the laboratory.

KernelProfile profile_on_gpu(const std::string& kernel) {
  KernelProfile profile{.kernel_id = kernel, .settings = "block=256", .scene = "plummer", .count = 16384};
  profile.device = "a GPU";
  profile.on_gpu = true;
  profile.chip = "GH100";
  profile.passes = 11;
  profile.stalls = {{"wait", 1.5}, {"short_scoreboard", 0.5}, {"long_scoreboard", 4}, {"selected", 1}};
  profile.figures = {{"time_ms", 0.25},           {"issue", 82.5},
                     {"flop_per_s", 3e13},        {"flop_per_byte", 900},
                     {"peak_flop_per_s", 6.5e13}, {"peak_dram_per_s", 3.3e12}};
  return profile;
}

struct ProfilePanel : Panels {
  void SetUp() override {
    resize(1920, 1080, 1);
    settle();
    open_tab("profile");
  }
};

TEST_F(Panels, TheCardTakesAProfileAndShowsIt) {
  open_tab("card");
  const Requests requests = click("card.profile");
  ASSERT_EQ(requests.size(), 2u);
  (void)request<ProfileKernel>(requests, 0);
  EXPECT_EQ(request<ShowLab>(requests, 1).tab, "profile");
}

TEST_F(ProfilePanel, IsTakenOnceAtATime) {
  (void)only<ProfileKernel>(click("profile.start"));
  view.features.of<ProfileStatus>().active = true;
  view.features.of<ProfileStatus>().present = "cuda-tiled";
  EXPECT_TRUE(click("profile.start").empty());
  expect_holds(lab_text(), {"Profiling"});
}

TEST_F(ProfilePanel, ShowsTheGreatestReasonFirstWithItsSentences) {
  view.features.of<ProfileStatus>().profiles = {profile_on_gpu("cuda-tiled")};
  settle();
  const std::string text = lab_text();
  expect_holds(text, {"cuda-tiled block=256", "16,384 bodies of plummer", "82.5 %", "57.1 %", "global memory",
                      "The warp waits for a load from global or local memory.", "cuda-tiled in place of cuda-naive"});
  EXPECT_LT(ui_marked("profile.reason.long_scoreboard").y0, ui_marked("profile.reason.wait").y0);
  EXPECT_TRUE(seen("profile.bar"));
  EXPECT_FALSE(seen("profile.bar before"));
  EXPECT_TRUE(seen("profile.roofline"));
}

TEST_F(ProfilePanel, ShowsSmallReasonsTogetherUntilTheyAreAskedFor) {
  KernelProfile profile = profile_on_gpu("cuda-tiled");
  profile.stalls = {{"wait", 10}, {"barrier", 0.003}, {"membar", 0}};
  view.features.of<ProfileStatus>().profiles = {profile};
  settle();
  expect_holds(lab_text(), {"others, 2 reasons: 0.03 %"});
  EXPECT_FALSE(seen("profile.reason.barrier"));
  click("section.small stalls");
  settle();
  for (const char* mark : {"profile.reason.barrier", "profile.reason.membar"}) EXPECT_TRUE(seen(mark)) << mark;
}

TEST_F(ProfilePanel, StatesTheDifferenceToTheLastOneOrToAnother) {
  view.features.of<ProfileStatus>().profiles = {profile_on_gpu("cuda-branchy"), profile_on_gpu("cuda-naive"),
                                                profile_on_gpu("cuda-tiled")};
  view.features.of<ProfileStatus>().profiles[2].stalls["long_scoreboard"] = 1;
  settle();
  expect_holds(lab_text(), {"Against cuda-naive block=256: all stalls \u221250.00 %", "\u221275.00 %"});
  EXPECT_TRUE(seen("profile.bar before"));
  EXPECT_EQ(only<CompareProfile>(pick("profile.baseline", "1")).row, 0);
  view.features.of<ProfileStatus>().compared_with = 0;
  settle();
  expect_holds(lab_text(), {"Against cuda-branchy"});
}

TEST_F(ProfilePanel, SaysWhyThereAreNoCounters) {
  KernelProfile profile{.kernel_id = "cuda-tiled", .count = 16384};
  profile.on_gpu = true;
  profile.problem =
      "cuptiRangeProfilerEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: this user may not read the counters";
  view.features.of<ProfileStatus>().profiles = {profile};
  settle();
  expect_holds(lab_text(), {"this user may not read the counters"});
  EXPECT_TRUE(seen("profile.problem"));
  view.features.of<ProfileStatus>().error = "kernel cuda-tiled cannot run here";
  settle();
  expect_holds(lab_text(), {"cannot run here"});
}

TEST_F(ProfilePanel, ShowsTheCardOfACpuKernel) {
  KernelProfile profile{.kernel_id = "cpu-simd", .scene = "plummer", .count = 4096};
  profile.figures = {{"time_ms", 3}, {"vector_bits", 512}, {"threads", 16}, {"fma_share", 93.5}};
  profile.stalls = {{"wait", std::numeric_limits<double>::quiet_NaN()}};
  profile.problem = "a CPU kernel has no stall reasons: they are counters of a GPU";
  view.features.of<ProfileStatus>().profiles = {profile};
  settle();
  expect_holds(lab_text(), {"512 bit", "16", "93.5 %", "no stall reasons"});
  EXPECT_FALSE(seen("profile.bar"));
}

}  // namespace
}  // namespace orrery::test
