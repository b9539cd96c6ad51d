// The panels' explanations, and when their tooltips appear.
#include <imgui_internal.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/features/sweep/sweep_tab.h"
#include "app/panels/sections.h"
#include "app/ui_state/comparable.h"
#include "tests/app/panels/panels_fixture.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

class Explanations : public Panels {
 protected:
  void wait(int frames) {
    for (int i = 0; i < frames; ++i) frame();
  }
  /// Null while there is none.
  const ImGuiWindow* shown_tooltip() const {
    const ImGuiWindow* const window = ImGui::FindWindowByName("##Tooltip_00");
    return window && window->Active ? window : nullptr;
  }
};

TEST_F(Explanations, ATabIsExplainedAboveTheTabsAfterAWhile) {
  point_at("lab.speed-error");
  wait(12);  // 0.2 s
  EXPECT_EQ(shown_tooltip(), nullptr);
  wait(60);
  const ImGuiWindow* const tooltip = shown_tooltip();
  ASSERT_NE(tooltip, nullptr);
  EXPECT_LE(tooltip->Pos.y + tooltip->Size.y, ui_marked("lab.results").y0);
  point_at("lab.sweep");
  wait(12);
  EXPECT_EQ(shown_tooltip(), nullptr) << "of another tab";
}

TEST_F(Explanations, ATabIsNotExplainedAfterAClick) {
  click("lab.sweep");
  wait(120);
  EXPECT_EQ(shown_tooltip(), nullptr);
  point_at("lab.race");
  wait(60);
  EXPECT_NE(shown_tooltip(), nullptr);
}

TEST_F(Explanations, WhyARowHasNoSpeedUp) {
  const auto row = [](double median) {
    Result result = tried("cpu-simd", "");
    result.error = ForceError{.rms = median, .median = median, .p99 = median, .max = median};
    return result;
  };
  std::vector<Result> rows{row(4e-4), row(4e-5)};
  EXPECT_EQ(why_no_speedup(rows, 1), "") << "nothing is pinned";
  rows[0].pinned = true;
  EXPECT_EQ(why_no_speedup(rows, 1), "No speed-up over the pinned row: the median error is in another decade.");
  rows[1] = row(3e-4);
  rows[1].scene.scene = "disc";
  rows[1].count = 500;
  EXPECT_EQ(why_no_speedup(rows, 1),
            "No speed-up over the pinned row: the scene is another one, the number of bodies is another one.");
  rows[1] = row(3e-4);
  rows[1].error.reset();
  EXPECT_EQ(why_no_speedup(rows, 1), "No speed-up over the pinned row: its error is not known.");
  rows.push_back(rows[1]);
  rows[2].pinned = true;
  rows[2].scene.scene = "disc";
  EXPECT_EQ(why_no_speedup(rows, 1), "No speed-up over the pinned row: its error is not known.") << "of the nearest";
  rows[1].speedup = 2;
  EXPECT_EQ(why_no_speedup(rows, 1), "");
}

TEST_F(Explanations, TheRowOfTheResultsSaysWhyItHasNoSpeedUp) {
  view.results = {tried("cpu-simd", ""), tried("cpu-openmp", "")};
  view.results[0].pinned = true;
  view.results[0].error = ForceError{.rms = 1, .median = 1e-4, .p99 = 1, .max = 1};
  settle();
  point_at("result.1");
  settle();
  ImGui::NewFrame();
  ImGui::LogToClipboard();
  Requests out;
  lab_panel(status, view, state, out);
  ImGui::LogFinish();
  ImGui::Render();
  const std::string words = ImGui::GetClipboardText();
  EXPECT_NE(words.find("No speed-up"), std::string::npos) << words;
}

TEST_F(Explanations, StepsAreSlowerThanInBenchWhereOpenGlDrawsOnTheProcessor) {
  status.backend = Backend::cpu;
  view.interop = Interop::host;
  view.interop_reason = "A CPU kernel runs.";
  EXPECT_EQ(badge_text().find("bench"), std::string::npos);
  view.gl_on_processor = true;
  EXPECT_NE(badge_text().find("slower"), std::string::npos);
  status.backend = Backend::cuda;
  EXPECT_STREQ(slower_words(status, view), "");
}

TEST_F(Explanations, KernelsOfTheResultsAreWhole) {
  resize(1280, 720, 1);
  Result row = tried("cpu-symmetric", "rows=auto threads=auto tile=auto schedule=static colour=auto one=2 two=3");
  row.swept = true;
  view.results = {tried("cpu-simd", "threads=auto"), row};
  open_tab("results");
  settle();
  EXPECT_NE(lab_text().find("cpu-symmetric"), std::string::npos) << lab_text();
}

TEST_F(Explanations, TheButtonOfASweepNamesTheNumberOfVariants) {
  resize(1280, 720, 1);
  const KernelPtr tree = test::find_kernel("cpu-tree");
  select(tree);
  for (const Tunable& tunable : tree->tunables) state.lab.drafts.of<SweepDraft>().tunables.emplace_back(tunable.name);
  open_tab("sweep");
  settle();
  EXPECT_NE(lab_text().find(" variants"), std::string::npos) << lab_text();
  click("sweep.what");
  settle();
  EXPECT_TRUE(seen("sweep.what.leaf"));
}

}  // namespace
}  // namespace orrery::test
