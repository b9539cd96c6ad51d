// The tab Compare, and the captions of two runs.
#include <algorithm>
#include <memory>
#include <string>

#include "app/features/compare/compare_status.h"
#include "app/features/workshop/workshop_status.h"
#include "app/panels/sections.h"
#include "tests/app/panels/panels_fixture.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

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
  EXPECT_NE(lab_text().find("e-folding time 2.31"), std::string::npos) << lab_text();
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

}  // namespace
}  // namespace orrery::test
