// Where the panels are, and how much of the picture they leave free.
#include <fmt/ranges.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <iterator>

#include "app/features/compare/compare.h"
#include "app/features/race/race.h"
#include "app/panels/kit/theme.h"
#include "app/panels/sections.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/picture_options.h"
#include "app/ui_state/window_commands.h"
#include "tests/app/panels/panels_fixture.h"
#include "tests/app/support/test.h"
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
  select(find_kernel("cpu-tree"));
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
  select(find_kernel("cpu-tree"));
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
      expect_holds(text, {words});
    }
    for (const std::string& name : ui_cut_off()) EXPECT_FALSE(name.starts_with("legend")) << name;
  }
}

// Parts over the picture have places of their own: the light of a recording, the legend, messages, the card of a body.

struct WindowAt {
  float width, height, scale;
};
constexpr WindowAt windows_at[] = {{400, 300, 1},  {640, 480, 1},  {800, 600, 1},  {800, 600, 2},
                                   {1280, 720, 1}, {1280, 720, 2}, {1920, 1080, 1}};

ImRect place_of(const char* name) {
  const ImGuiWindow* const window = ImGui::FindWindowByName(name);
  return window && window->Active ? window->Rect() : ImRect{};
}

struct Places : Panels {
  Places() {
    view.legend = {.quantity = "speed",
                   .low = 0.1f,
                   .high = 3.2f,
                   .colours = {{0, 0, 0}, {1, 1, 1}},
                   .world_per_height = 4,
                   .unit = "length / time"};
    for (int i = 0; i < 50; ++i) {
      view.keys.push_back({i == 1 ? "Right drag, Shift+drag" : "Shift+" + std::to_string(i),
                           "Pins or unpins this run as baseline.", i % 9 == 0 ? "Heading" : ""});
    }
  }
  void show_lessons() {
    view.lesson.shown = view.lesson.listed = true;
    for (int i = 1; i <= 12; ++i) view.lesson.titles.push_back({i, "A lesson"});
  }
  void size_to(const WindowAt& display) {
    resize(display.width, display.height, fitting_scale(display.scale, display.width, display.height));
    for (int i = 0; i < 3; ++i) settle();
  }
  /// Another window than the light's that lies over or below it; none: "".
  static std::string shares_the_place_of_the_light() {
    const ImRect light = place_of("Lights");
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
      const std::string_view name = window->Name;
      const bool drawn = window->Active && !window->Hidden && !(window->Flags & ImGuiWindowFlags_ChildWindow);
      if (drawn && name != "Lights" && !name.starts_with("Debug") && window->Rect().Overlaps(light))
        return window->Name;
    }
    return {};
  }
};

TEST_F(Places, TheLightOfARecordingHasAPlaceOfItsOwn) {
  view.recording = {.active = true, .file = "mine.csv", .rows = 1234, .error = {}};
  view.features.of<FilmStatus>().active = true;
  std::vector<WindowAt> displays{std::begin(windows_at), std::end(windows_at)};
  displays.push_back({340, 240, 1});  // the side column takes all of its width, and large type all of the picture
  enum class Shown { panels, lessons, help, both, presentation, nothing };
  show_lessons();
  for (const Shown shown :
       {Shown::panels, Shown::lessons, Shown::help, Shown::both, Shown::presentation, Shown::nothing}) {
    view.lesson.shown = shown == Shown::lessons || shown == Shown::both;
    view.help = shown == Shown::help || shown == Shown::both;
    view.presentation = shown == Shown::presentation;
    view.panel = shown != Shown::nothing;
    for (const WindowAt& display : displays) {
      SCOPED_TRACE(testing::Message() << display.width << " at " << display.scale << " with "
                                      << static_cast<int>(shown));
      size_to(display);
      EXPECT_TRUE(seen("recording") && seen("filming"));
      EXPECT_GE(place_of("Lights").Min.x, 0);
      EXPECT_LE(place_of("Lights").Max.x, display.width);
      EXPECT_EQ(ImGui::GetCurrentContext()->Windows.back(), ImGui::FindWindowByName("Lights")) << "in front";
      if (shown == Shown::presentation && display.width < 400) continue;
      EXPECT_EQ(shares_the_place_of_the_light(), "");
    }
  }
}

TEST_F(Places, TheLightStaysInFrontOfWhatIsClicked) {
  view.recording.active = true;
  show_lessons();
  size_to({1280, 720, 1});
  click("lesson.open.3");
  EXPECT_EQ(ImGui::GetCurrentContext()->Windows.back(), ImGui::FindWindowByName("Lights"));
}

TEST_F(Places, HelpAndLessonsLeaveTheLegendFree) {
  show_lessons();
  for (const bool help : {true, false}) {
    for (const bool lesson : {true, false}) {
      view.help = help;
      view.lesson.shown = lesson;
      for (const WindowAt& display : windows_at) {
        if (display.width < 640) continue;  // no room for both
        SCOPED_TRACE(testing::Message() << display.width << " at " << display.scale << (help ? " help" : "")
                                        << (lesson ? " lesson" : ""));
        size_to(display);
        ASSERT_TRUE(seen("legend.quantity"));
        for (const char* other : {"Help", "Lesson"})
          EXPECT_FALSE(place_of("Legend").Overlaps(place_of(other))) << other;
        EXPECT_TRUE(!help || seen("help.close"));
        EXPECT_TRUE(!lesson || help || seen("lesson.close"));
        expect_holds(legend_text(), {"speed", "0.1", "3.2", "length"});
      }
    }
  }
}

TEST_F(Places, TheLegendHasAScaleBarInEveryWindow) {
  for (const bool picked : {false, true}) {
    if (picked) view.picked = PickedBody{.number = 7, .part = "disc", .acceleration = {{1, 2, 3}}};
    for (const WindowAt& display : windows_at) {
      SCOPED_TRACE(testing::Message() << display.width << " at " << display.scale << (picked ? " picked" : ""));
      size_to(display);
      EXPECT_TRUE(seen("legend.scale"));
      expect_holds(legend_text(), {"length"});
      for (const std::string& name : ui_cut_off()) EXPECT_FALSE(name.starts_with("legend")) << name;
    }
  }
  view.panel = false;
  size_to({480, 270, 1});
  EXPECT_TRUE(seen("legend.scale"));
}

TEST_F(Places, TheLegendHasNoNumbersWithoutValues) {
  view.legend.colours.clear();
  view.legend.logarithmic = true;
  view.legend.known = 0;
  view.legend.note = "known while two runs are compared";
  for (const WindowAt& display : windows_at) {
    size_to(display);
    const std::string text = legend_text();
    expect_holds(text, {"speed", "compared"});
    expect_lacks(text, {"0.1", "3.2", "length / time", "%", "log"});
  }
}

TEST_F(Places, TheHeadOfTheHelpStaysAndItsListOpensAtTheTop) {
  view.help = true;
  size_to({800, 600, 1});
  const auto list = [] {
    const auto& windows = ImGui::GetCurrentContext()->Windows;
    const auto found = std::ranges::find_if(
        windows, [](const ImGuiWindow* window) { return std::string_view{window->Name}.starts_with("Help/Keys"); });
    return found == windows.end() ? nullptr : *found;
  };
  ASSERT_NE(list(), nullptr);
  ASSERT_GT(list()->ScrollMax.y, 0) << "longer than the window";
  const UiRect close = ui_marked("help.close");
  ImGui::SetScrollY(list(), list()->ScrollMax.y);
  settle();
  EXPECT_GT(list()->Scroll.y, 0);
  EXPECT_TRUE(seen("help.close") && seen("help.lessons"));
  EXPECT_EQ(ui_marked("help.close").y0, close.y0);
  view.help = false;
  settle();
  view.help = true;
  settle();
  EXPECT_EQ(list()->Scroll.y, 0);
}

TEST_F(Places, MessagesLeaveTheCardOfABodyWhereItIs) {
  view.picked = PickedBody{.number = 12, .place = {{0.95f, 0.9f}}};
  for (const WindowAt& display : windows_at) {
    if (display.width < 640) continue;
    SCOPED_TRACE(testing::Message() << display.width << " at " << display.scale);
    view.notice = status.last_error = "";
    size_to(display);
    if (!seen("picked")) continue;
    const ImRect card = place_of("Picked body");
    view.notice = "a picture was saved to a file with a rather long name, in a folder with a longer one";
    status.last_error = "short";
    for (int i = 0; i < 3; ++i) settle();
    EXPECT_EQ(place_of("Picked body").Min.x, card.Min.x);
    EXPECT_EQ(place_of("Picked body").Min.y, card.Min.y);
    ASSERT_TRUE(seen("notice") && seen("error"));
    for (const char* message : {"Notice", "Error"}) EXPECT_FALSE(place_of(message).Overlaps(card)) << message;
  }
}

TEST_F(Places, TheHeaderKeepsTheTime) {
  status.sim_time = 2.504;
  for (const WindowAt& display : windows_at) {
    SCOPED_TRACE(testing::Message() << display.width << " at " << display.scale);
    size_to(display);
    EXPECT_TRUE(!info_fits(view) || seen("info.time"));
  }
}

// The panels in windows of every size: nothing in them may end the program, and nothing may be cut off.

/// Everything that the panels can show at once.
struct FullPanels : Panels {
  FullPanels() {
    select(find_kernel("cpu-tree"));
    status.chosen = "AVX-512, leaf 32, group 64, threads 128";
    status.auto_choice = AutoChoice{"auto: cpu-tree theta=0.5", "One step with 1000 bodies"};
    status.tree = TreeReport{.interactions = 123'000'000, .cells = 456'789, .depth = 19, .phases = {}};
    for (const char* phase : {"keys", "sort", "build", "summarize", "walk", "update"}) {
      status.tree->phases.push_back({phase, 12.5});
    }
    status.card = KernelCard{};
    status.law.id = LawId::attract_repel;
    status.last_error = "a line that tells at some length what could not be done, and why";
    status.force_probe = ForceProbe{.step = 3, .sample = 256, .error = {1e-3, 3.1e-7, 4.2e-6, 5.3e-5}, .ms = 0.1};
    view.measured = 120;
    status.timing = {.steps = 1, .step_ms = 0.888, .force_ms = 0.823, .integrate_ms = 0.0659};
    view.step_ms_median = 12.25;
    view.step_ms_history.assign(240, 12.25f);
    view.times = {.map_ms = 0.588, .draw_ms = 0.299, .gui_ms = 0.0868, .swap_ms = 0.0998, .frame_ms = 15.75};
    view.recording = {.active = true, .file = "orrery-out/timings-12.csv", .rows = 123'456, .error = {}};
    view.notice = "wrote orrery-out/a-rather-long-name-of-a-picture.png";
    view.picked = PickedBody{.number = 9'999'999,
                             .part = "star",
                             .mass = 1.234e-7f,
                             .position = {-1.234e-5f, -1.234e-5f, -1.234e-5f},
                             .velocity = {-1.234e-5f, -1.234e-5f, -1.234e-5f},
                             .place = {{0.5f, 0.5f}}};
    view.followed = {Followed::body};
    view.parts = {"a part with a long name", "disc"};
    view.keys = {{"Space", "run or pause"}, {"Ctrl + left drag", "a long explanation of what the mouse does"}};
    for (int i = 0; i < 12; ++i) {
      Result result = tried("cpu-tree", "group=64 leaf=32 order=monopole theta=0.5 threads=auto");
      result.error = ForceError{1e-3, 3.1e-7, 4.2e-6, 5.3e-5};
      result.step_ms.median = i + 1;
      view.results.push_back(result);
      Measurement row;
      static_cast<Trial&>(row) = result;
      row.step_ms.median = row.step_ms.low = row.step_ms.high = result.step_ms.median;
      row.rank.first = row.rank.last = i + 1;
      view.sweep.rows.push_back(row);
      RaceRun raced;
      static_cast<Trial&>(raced) = result;
      raced.seconds = i + 1;
      raced.energy_error = 1e-4 / (i + 1);
      raced.on_front = true;
      view.features.of<RaceStatus>().rows.push_back(raced);
      view.features.of<RaceStatus>().best.push_back({1e-4, 0});
      view.conserved_history.push_back({.step = i, .sim_time = 0.1 * i, .sums = {}});
      view.conserved_history.back().sums.potential = -2.0 - i;
    }
    view.lesson.titles = {{1, "A lesson with a rather long title"}};
    view.lesson.title = "A lesson with a rather long title";
    view.lesson.introduction = {{.text = "Words, `code` and a_word_that_no_narrow_window_holds_in_one_of_its_lines"},
                                {.kind = TextBlock::Kind::code, .text = "for each body\n"},
                                {.kind = TextBlock::Kind::table, .rows = {{"what", "here"}, {"a word", "1"}}}};
    view.features.of<CompareStatus>().active = true;
    view.features.of<CompareStatus>().with.kernel = "cpu-tree";
    view.features.of<CompareStatus>().runs[1] = {"cpu-tree group=64 leaf=32 order=monopole theta=0.5 euler dt=0.0025",
                                                 12.25, 1e9};
    for (int i = 0; i < 12; ++i) {
      view.features.of<CompareStatus>().samples.push_back(
          {.time = 0.1 * i, .distances = {.rms = 1e-6 * i, .median = 1e-7 * i}, .energy_error = {1e-6, 1e-7}});
    }
    view.sweep.files = {"orrery-out/sweep.csv", "orrery-out/sweep.json"};
    view.features.of<RaceStatus>().files = {"orrery-out/race.csv", "orrery-out/race.json"};
  }

  /// Draws a frame with every section open.
  void draw() {
    state.lab.folded = false;
    for (auto& [id, fold] : state.folds) fold.open = true;
    frame();
  }

  /// With each part of the laboratory in turn, and what lies over the picture only sometimes.
  void draw_all() {
    for (const std::string_view tab : tab_ids()) {
      state.lab.tab = tab;
      view.help = view.sweep.active = tab == "sweep";
      view.lesson.shown = tab == "card" || tab == "conservation";
      view.lesson.listed = tab == "card";
      draw();
    }
  }
};

/// Small widths by `step`, and some of the larger ones. CutNothingOff draws at more of them.
int next_width(int width, int scale, int step) {
  return width < 400 * scale ? width + step : width + 7 * scale;
}

/// Widgets that are cut off. A row of a table is not one: it spans all cells, and each is clipped by itself.
std::vector<std::string> cut_off() {
  std::vector<std::string> names = ui_cut_off();
  std::erase_if(names, [](const std::string& name) {
    return name.starts_with("result.") || name.starts_with("sweep.row.") || name.starts_with("race.best.");
  });
  return names;
}

class AtScale : public FullPanels, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Panels, AtScale, testing::Values(1, 2, 4));

TEST_P(AtScale, DrawInAWindowOfAnyWidth) {
  const int scale = GetParam();
  for (int width = 1; width <= 3840; width = next_width(width, scale, 3 * scale)) {
    for (const int height : {least_window.height, 720}) {
      resize(static_cast<float>(width), static_cast<float>(height * scale), static_cast<float>(scale));
      draw_all();
    }
  }
}

TEST_P(AtScale, CutNothingOff) {
  const int scale = GetParam();
  for (int width = least_window.width * scale; width <= 3840; width = next_width(width, scale, scale)) {
    for (const int height : {least_window.height, 720}) {
      resize(static_cast<float>(width), static_cast<float>(height * scale), static_cast<float>(scale));
      for (const std::string_view tab : tab_ids()) {
        state.lab.tab = tab;
        draw();
        draw();  // windows that fit their content have found their size
        EXPECT_TRUE(cut_off().empty()) << fmt::format("{} x {}, {}: {}", width, height * scale, tab,
                                                      fmt::join(cut_off(), " "));
      }
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace orrery::test
