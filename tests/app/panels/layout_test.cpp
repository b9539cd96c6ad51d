// Where the panels are, and how much of the picture they leave free.
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/panels/kit/theme.h"
#include "app/ui_state/window_commands.h"
#include "tests/app/panels/panels_fixture.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

/// Covered parts of the display: windows of this frame, but for the side column and those that draw no background.
std::vector<UiRect> covered_parts() {
  std::vector<UiRect> parts;
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
    const bool shown = window->Active && !window->Hidden && !(window->Flags & ImGuiWindowFlags_ChildWindow);
    if (!shown || std::string_view{window->Name} == "Side column") continue;
    const ImRect rect = window->Rect();
    if (rect.GetWidth() < ImGui::GetIO().DisplaySize.x)
      parts.push_back({rect.Min.x, rect.Min.y, rect.Max.x, rect.Max.y});
  }
  return parts;
}

/// Share of `of` that the parts cover, by points on a grid.
double covered_share(const UiRect& of, const std::vector<UiRect>& parts) {
  constexpr int side = 200;
  int covered = 0;
  for (int i = 0; i < side * side; ++i) {
    const float x = of.x0 + (of.x1 - of.x0) * (static_cast<float>(i % side) + 0.5f) / side;
    const float y = of.y0 + (of.y1 - of.y0) * (static_cast<float>(i / side) + 0.5f) / side;
    covered += std::ranges::any_of(
        parts, [&](const UiRect& part) { return x >= part.x0 && x < part.x1 && y >= part.y0 && y < part.y1; });
  }
  return covered / static_cast<double>(side * side);
}

/// The area beside the side column.
UiRect stage(const ViewStatus& view) {
  return {side_column_width(view), 0, ImGui::GetIO().DisplaySize.x, ImGui::GetIO().DisplaySize.y};
}

/// The `share` of both its sides around its centre.
UiRect middle(const UiRect& of, float share) {
  const float x = (of.x1 - of.x0) * (1 - share) / 2, y = (of.y1 - of.y0) * (1 - share) / 2;
  return {of.x0 + x, of.y0 + y, of.x1 - x, of.y1 - y};
}

void show_legend(ViewStatus& view) {
  view.legend = {
      .quantity = "speed", .low = 0.1f, .high = 3.2f, .colours = {{0, 0, 0}, {1, 1, 1}}, .world_per_height = 4};
}

/// WCAG's relative luminance of a colour over a ground.
float luminance(ImVec4 colour, float ground) {
  const auto linear = [&](float value) {
    const float over = colour.w * value + (1 - colour.w) * ground;
    return over <= 0.04045f ? over / 12.92f : std::pow((over + 0.055f) / 1.055f, 2.4f);
  };
  return 0.2126f * linear(colour.x) + 0.7152f * linear(colour.y) + 0.0722f * linear(colour.z);
}

TEST_F(Panels, CanBeReadOverTheBrightestPicture) {
  for (const theme::Tone tone : {theme::Tone::dark, theme::Tone::light}) {
    apply_style(1, tone);
    const float ground = luminance(ImGui::GetStyle().Colors[ImGuiCol_WindowBg], tone == theme::Tone::dark ? 1 : 0);
    for (const theme::Colour colour : {theme::text, theme::dim}) {
      const float words = luminance(ImGui::ColorConvertU32ToFloat4(colour), 0);
      const float contrast = (std::max(words, ground) + 0.05f) / (std::min(words, ground) + 0.05f);
      EXPECT_GT(contrast, 4.5f) << "WCAG's least, tone " << static_cast<int>(tone);
    }
  }
  apply_style(1);
}

TEST_F(Panels, OrderSectionsFromSceneToRecord) {
  select(test::find_kernel("cpu-tree"));
  settle();
  float above = 0;
  for (const char* name : {"scene", "kernel", "tree", "physics", "appearance", "record"}) {
    const std::string mark = std::string{"section."} + name;
    ASSERT_TRUE(seen(mark)) << name;
    EXPECT_GT(ui_marked(mark).y0, above) << name;
    above = ui_marked(mark).y0;
  }
}

TEST_F(Panels, LeaveTheMiddleOfTheStageFree) {
  resize(1280, 720, 1);
  show_legend(view);
  view.results.assign(5, tried("some-kernel", "block=64"));
  settle();
  const std::vector<UiRect> parts = covered_parts();
  EXPECT_GE(parts.size(), 3u) << "info, laboratory and legend";
  EXPECT_EQ(covered_share(middle(stage(view), 0.6f), parts), 0);
  const double share = covered_share(stage(view), parts);
  RecordProperty("covered_percent", static_cast<int>(std::lround(100 * share)));
  EXPECT_LT(share, 0.12);
}

TEST_F(Panels, FoldTheLaboratoryOfALowWindowUntilItIsOpened) {
  view.results = {tried("some-kernel", "block=64")};
  settle();
  EXPECT_TRUE(seen("result.0")) << "1400 pixels are enough";
  resize(1280, 720, 1);
  settle();
  EXPECT_TRUE(seen("lab.results"));
  EXPECT_FALSE(seen("result.0"));
  open_tab("results");
  EXPECT_TRUE(seen("result.0"));
  resize(1280, 1400, 1);
  settle();
  click("lab.fold");
  settle();
  EXPECT_FALSE(seen("result.0")) << "as it was chosen";
}

TEST_F(Panels, LeaveAGapBetweenTwoHyphens) {
  settle();
  const ImFont* font = theme::font(theme::Font::body);
  const ImFontGlyph* hyphen = font->FindGlyphNoFallback('-');
  ASSERT_TRUE(hyphen);
  EXPECT_GE(hyphen->AdvanceX - (hyphen->X1 - hyphen->X0), 0.1f * font->FontSize);
  EXPECT_FLOAT_EQ(font->CalcTextSizeA(font->FontSize, 1e6f, 0, "--").x, 2 * hyphen->AdvanceX);
}

TEST_F(Panels, RememberWhichSectionsAreOpen) {
  settle();
  EXPECT_FALSE(state.folds.at("scene").chosen);
  click("section.scene");
  EXPECT_TRUE(state.folds.at("scene").open && state.folds.at("scene").chosen);
  EXPECT_FALSE(state.folds.at("physics").chosen);
  state.folds["physics"] = {false, true};
  settle();
  EXPECT_TRUE(seen("load"));
  EXPECT_FALSE(seen("dt"));
}

TEST_F(Panels, AskBesideTheSideColumnWhetherToContinue) {
  view.last_run_age_s = 3600;
  view.last_run_words = "plummer, 16,384 bodies, t = 1.25";
  for (const ImVec2 size : {ImVec2{800, 600}, ImVec2{1280, 720}}) {
    SCOPED_TRACE(size.x);
    resize(size.x, size.y, 1);
    settle();
    for (const char* mark : {"last-run", "last-run.continue", "last-run.decline"}) {
      ASSERT_TRUE(seen(mark)) << mark;
      EXPECT_GE(ui_marked(mark).x0, side_column_width(view)) << mark;
      EXPECT_LE(ui_marked(mark).x1, size.x) << mark;
    }
  }
  only<ContinueLastRun>(click("last-run.continue"));
}

/// As the viewer's list: 6 headings, 50 lines.
std::vector<KeyHelp> many_keys() {
  std::vector<KeyHelp> keys;
  for (int i = 0; i < 50; ++i) {
    keys.push_back({i == 1 ? "Right drag, Shift+drag" : "Shift+" + std::to_string(i),
                    "Pins or unpins this run as baseline.", i % 9 == 0 ? "Heading" : ""});
  }
  return keys;
}

TEST_F(Panels, GroupTheKeysInTwoColumnsWithoutScrolling) {
  view.help = true;
  view.keys = many_keys();
  struct Display {
    float width, height, scale;
  };
  for (const Display size : {Display{800, 600, 1}, Display{1280, 720, 1}, Display{1920, 1080, 1},
                             Display{2560, 1440, 2}, Display{3840, 2160, 1}, Display{3840, 2160, 2}}) {
    SCOPED_TRACE(testing::Message() << size.width << " x " << size.height << " at " << size.scale);
    resize(size.width, size.height, size.scale);
    settle();
    settle();
    const ImGuiWindow* const help = ImGui::FindWindowByName("Help");
    EXPECT_TRUE(seen("help.close"));
    EXPECT_GE(help->Pos.y, 0);
    EXPECT_EQ(help->ScrollMax.x, 0);
    EXPECT_GE(help->Pos.x, side_column_width(view)) << "the side column is free";
    if (size.width / size.scale < 1280) continue;
    EXPECT_EQ(help->ScrollMax.y, 0) << "all keys are seen";
    EXPECT_LE(help->Size.x * help->Size.y, size.width * size.height / 3 * 1.001f);
    if (size.width / size.scale < 1920) continue;
    EXPECT_GE(help->Pos.y, size.height / 2) << "the middle of the stage is free";
  }
}

TEST_F(Panels, PresentFewNumbersAndNoSideColumn) {
  constexpr std::array marks{"presentation.kernel", "presentation.bodies", "presentation.step", "presentation.rate",
                             "presentation.error"};
  show_legend(view);
  view.presentation = true;
  view.measured = 3;
  view.step_ms_median = 0.25;
  view.picked = PickedBody{.number = 12, .part = "halo", .place = {{0.5f, 0.5f}}, .acceleration = {{1, 2, 3}}};
  for (const ImVec2 size : {ImVec2{800, 600}, ImVec2{1280, 720}, ImVec2{1920, 1080}, ImVec2{3840, 2160}}) {
    SCOPED_TRACE(size.x);
    resize(size.x, size.y, presentation_scale(size.y));
    settle();
    settle();
    for (const char* mark : marks) {
      EXPECT_TRUE(seen(mark)) << mark;
      EXPECT_LE(ui_marked(mark).x1, size.x);
      EXPECT_GE(ui_marked(mark).y0, size.y - state.lab.covered) << "the picture keeps clear of it";
    }
    for (const std::string& name : ui_cut_off()) EXPECT_FALSE(name.starts_with("presentation")) << name;
    EXPECT_TRUE(seen("legend.quantity"));
    const auto place = [](const char* name) { return ImGui::FindWindowByName(name)->Rect(); };
    EXPECT_FALSE(place("Legend").Overlaps(place("Presentation")));
    for (const char* other : {"Legend", "Presentation"})
      EXPECT_FALSE(place("Picked body").Overlaps(place(other))) << other;
    EXPECT_GT(place("Presentation").GetHeight(), 0.09f * size.y) << "it can be read from afar";
    EXPECT_FALSE(seen("run") || seen("lab.results") || seen("help"));
    EXPECT_EQ(side_column_width(view), 0);
  }
  view.panel = false;
  settle();
  EXPECT_FALSE(seen(marks[0]));
  EXPECT_EQ(state.lab.covered, 0);
}

TEST_F(Panels, ShowALowLegendOverAnOpenLaboratory) {
  show_legend(view);
  view.legend.below = view.legend.above = 0.02f;
  view.results.assign(5, tried("some-kernel", "block=64"));
  const auto legend = [](const char* name) { return ImGui::FindWindowByName(name)->Rect(); };
  resize(800, 600, 1);
  state.lab.folded = true;
  settle();
  const float whole = legend("Legend").GetHeight();
  EXPECT_TRUE(seen("legend.scale"));
  open_tab("results");
  EXPECT_LT(legend("Legend").GetHeight(), 0.85f * whole);
  EXPECT_TRUE(seen("legend.quantity"));
  resize(1920, 1080, 1);
  settle();
  EXPECT_TRUE(seen("legend.scale"));
  EXPECT_GT(legend("Legend").Max.y, 1060) << "beside the laboratory, not over it";
  EXPECT_FALSE(legend("Legend").Overlaps(legend("Laboratory")));
}

TEST_F(Panels, HaveALaboratoryInASmallWindowAtAnyScale) {
  EXPECT_EQ(fitting_scale(1, 320, 200), 1) << "as asked";
  EXPECT_EQ(fitting_scale(0.75f, 320, 200), 0.75f);
  EXPECT_EQ(fitting_scale(2, 3840, 2160), 2);
  EXPECT_EQ(fitting_scale(2, 320, 200), 1);
  select(test::find_kernel("cpu-tree"));
  for (const float asked : {1.5f, 2.0f, 4.0f}) {
    for (const ImVec2 size : {ImVec2{800, 600}, ImVec2{1280, 720}, ImVec2{1920, 1080}}) {
      const float scale = fitting_scale(asked, size.x, size.y);
      EXPECT_TRUE(scale >= 1 && scale <= asked) << size.x;
      EXPECT_TRUE(scale > 1 || size.x < 1280) << size.x;
      resize(size.x, size.y, scale);
      settle();
      EXPECT_LE(side_column_width(view), size.x / 2) << size.x << " at " << asked;
      EXPECT_TRUE(seen("run") && seen("rate") && seen("section.kernel")) << size.x << " at " << asked;
      EXPECT_TRUE(seen("lab.fold")) << size.x << " at " << asked;
      EXPECT_TRUE(ui_cut_off().empty());
    }
  }
}

TEST_F(Panels, ShowAllTabsBesideTheSideColumn) {
  for (const float scale : {1.0f, 1.5f, 2.0f}) {
    resize(std::round(800 * scale), 600 * scale, scale);
    settle();
    ASSERT_TRUE(seen("lab.fold"));
    EXPECT_LE(ui_marked("lab.workshop").x1, ui_marked("lab.fold").x0) << scale;
  }
}

TEST_F(Panels, AlwaysShowWhatTheColoursMean) {
  show_legend(view);
  view.legend.unit = "length / time";
  for (const float scale : {1.0f, 1.5f, 2.0f}) {
    SCOPED_TRACE(scale);
    resize(800, 600, scale);
    settle();
    settle();
    ASSERT_TRUE(seen("legend.quantity"));
    const ImRect legend = ImGui::FindWindowByName("Legend")->Rect();
    EXPECT_GE(legend.Min.x, side_column_width(view) - theme::em(0.75f)) << "the column keeps a margin";
    EXPECT_LE(legend.Max.x, 800);
    for (const char* words : {"speed", "0.1", "3.2", "length / time"}) {
      std::string text = legend_text();
      std::ranges::replace(text, '\n', ' ');
      EXPECT_NE(text.find(words), std::string::npos) << words << " is not in:\n" << text;
    }
    for (const std::string& name : ui_cut_off()) EXPECT_FALSE(name.starts_with("legend")) << name;
  }
}

}  // namespace
}  // namespace orrery::test
